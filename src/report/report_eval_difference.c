/* Two nests side by side: the headline figures, then where they differ. */
#include "report/report_eval.h"

enum { SHOWN_CHANGES = 12 };

/* In short, what a network passes on is of interest where it costs something.
 */
static bool is_shown(const eval_change *c, bool complete) {
  return complete || !c->below || c->before_pj != c->after_pj;
}

/* Entries move up over those that are not shown. */
static uint32_t count_shown(eval_changes *list, bool complete) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (is_shown(&list->data[i], complete)) list->data[shown++] = list->data[i];
  const bool all = complete || shown <= SHOWN_CHANGES + 1;
  return all ? shown : SHOWN_CHANGES;
}

/* ---- Headline ------------------------------------------------------------ */

static void add_energies(report_table *t, const char *title, double before,
                         double after) {
  const report_unit unit = report_energy_unit(before > after ? before : after);
  report_table_cell(t, "%s", title);
  report_table_cell(t, "%s %s", report_energy(before, unit).text, unit.name);
  report_table_cell(t, "%s %s", report_energy(after, unit).text, unit.name);
  report_table_cell(t, "%s", report_change(before, after).text);
}

static void add_cycles(report_table *t, uint64_t before, uint64_t after) {
  report_table_cell(t, "cycles");
  report_table_number(t, before);
  report_table_number(t, after);
  report_table_cell(t, "%s", report_change((double)before, (double)after).text);
}

static void add_limits(report_table *t, const calm_evaluation *e) {
  report_table_cell(t, "limited by");
  for (int i = 0; i < 2; i++)
    report_table_name(
        t, report_eval_level_name(e, e->nests[i].result.limiting_level));
  report_table_cell(t, "%s", "");
}

static void add_edp(report_table *t, double before, double after) {
  report_table_cell(t, "J x cycles");
  report_table_cell(t, "%s", report_four(before * 1e-12).text);
  report_table_cell(t, "%s", report_four(after * 1e-12).text);
  report_table_cell(t, "%s", report_change(before, after).text);
}

static void add_utilization(report_table *t, double before, double after) {
  report_table_cell(t, "utilization");
  report_table_cell(t, "%s", report_share(before, 1).text);
  report_table_cell(t, "%s", report_share(after, 1).text);
  report_table_cell(t, "%s", report_change(before, after).text);
}

static calm_status write_headline(text *out, const calm_evaluation *e,
                                  bool color) {
  const calm_evaluation_summary *a = &e->nests[0].summary;
  const calm_evaluation_summary *b = &e->nests[1].summary;
  const report_column columns[] = {{"", COLUMN_WORDS},
                                   {"first", COLUMN_NUMBER},
                                   {"second", COLUMN_NUMBER},
                                   {"", COLUMN_NUMBER}};
  report_table t;
  text_format(out, "\n");
  report_table_init(&t, out->context, columns, 4);
  add_cycles(&t, a->cycles, b->cycles);
  add_limits(&t, e);
  if (e->energy) {
    add_energies(&t, "energy", a->energy_pj, b->energy_pj);
    add_edp(&t, a->edp, b->edp);
  }
  add_utilization(&t, a->utilization, b->utilization);
  return report_table_finish(&t, out, color);
}

/* ---- Changes ------------------------------------------------------------- */

static void add_change(report_table *t, const calm_evaluation *e,
                       const eval_change *c, report_unit unit) {
  report_table_name(t, c->level);
  if (c->below)
    report_table_cell(t, "> %s", c->below);
  else
    report_table_cell(t, "%s", "");
  report_table_name(t, c->tensor ? c->tensor : "");
  report_table_cell(t, "%s", report_signed(c->reads).text);
  report_table_cell(t, "%s", report_signed(c->fills).text);
  report_table_cell(t, "%s", report_signed(c->updates).text);
  if (!e->energy) return;
  report_table_cell(
      t, "%s", report_energy_change(c->after_pj - c->before_pj, unit).text);
  report_table_cell(t, "%s", report_change(c->before_pj, c->after_pj).text);
}

static calm_status write_changes(text *out, const calm_evaluation *e,
                                 eval_changes *list, bool complete,
                                 bool color) {
  const double a = e->nests[0].summary.energy_pj;
  const double b = e->nests[1].summary.energy_pj;
  const report_unit unit = report_energy_unit(a > b ? a : b);
  const report_column columns[] = {
      {"level", COLUMN_NAME},      {"", COLUMN_NAME},
      {"tensor", COLUMN_NAME},     {"reads", COLUMN_NUMBER},
      {"fills", COLUMN_NUMBER},    {"updates", COLUMN_NUMBER},
      {unit.title, COLUMN_NUMBER}, {"", COLUMN_NUMBER}};
  const uint32_t shown = count_shown(list, complete);
  report_table t;
  text_format(out,
              "\n  second less first, over all instances, the largest first; "
              "of a network (>): words into it\n");
  report_table_init(&t, out->context, columns, e->energy ? 8 : 6);
  for (uint32_t i = 0; i < shown; i++) add_change(&t, e, &list->data[i], unit);
  TRY(report_table_finish(&t, out, color));
  if (shown < list->count)
    text_format(out, "  -v shows all %s\n", report_number(list->count).text);
  return CALM_OK;
}

calm_status report_eval_difference(text *out, const calm_evaluation *e,
                                   bool complete, bool color, arena *scratch) {
  eval_changes list;
  TRY(report_eval_changes(&list, e, scratch));
  TRY(write_headline(out, e, color));
  if (list.count) return write_changes(out, e, &list, complete, color);
  text_format(out, "\n  they cost the same everywhere\n");
  return CALM_OK;
}
