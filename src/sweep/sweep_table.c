/* A sweep for people: how far it is, the designs on the front, what failed. */
#include <stdlib.h>
#include <string.h>

#include "report/report_quantity.h"
#include "report/report_table.h"
#include "sweep/sweep.h"

enum { MOST_FAILURES = 10, MOST_DESIGNS = 40 };

/* ---- How far ------------------------------------------------------------- */

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

static void add_title(text *out, const calm_sweep *s, bool color) {
  const calm_sweep_counts c = calm_sweep_counts_of(s);
  text_format(out, "%s%s%s\n", report_tone_begin(TONE_TITLE, color), s->name,
              report_tone_end(color));
  text_format(out, "  %u point%s: %u layer%s on %u design%s\n", c.points,
              plural(c.points), s->layer_count, plural(s->layer_count),
              s->design_count, plural(s->design_count));
  text_format(out, "  %u done, %u failed, %u left\n", c.done, c.failed, c.left);
}

/* ---- Designs ------------------------------------------------------------- */

static calm_status describe(const char **out, const calm_sweep *s,
                            const sweep_design *d, arena *a) {
  const sweep_machine *m = &s->machines[d->machine];
  text t;
  text_init(&t, s->context);
  text_format(&t, "%s", m->name);
  for (uint32_t i = 0; i < m->parameter_count; i++)
    if (m->parameters[i].count > 1)
      text_format(&t, " %s=%s", m->parameters[i].name, d->values[i]);
  if (s->mapper_count > 1) text_format(&t, " %s", d->mapper);
  if (s->objective_count > 1) text_format(&t, " %s", d->objective);
  return text_keep(&t, out, a);
}

static int compare_cycles(const void *a, const void *b) {
  const sweep_design *p = *(const sweep_design *const *)a;
  const sweep_design *q = *(const sweep_design *const *)b;
  if (p->cycles != q->cycles) return p->cycles < q->cycles ? -1 : 1;
  return (p > q) - (p < q);
}

static calm_status find_front(const sweep_design ***out, uint32_t *count,
                              const calm_sweep *s, arena *a) {
  const sweep_design **front;
  *count = 0;
  ARENA_ARRAY(a, front, s->design_count);
  for (uint32_t i = 0; i < s->design_count; i++)
    if (s->designs[i].pareto) front[(*count)++] = &s->designs[i];
  qsort(front, *count, sizeof *front, compare_cycles);
  *out = front;
  return CALM_OK;
}

static calm_status add_rows(report_table *t, const calm_sweep *s,
                            const sweep_design *const *front, uint32_t count,
                            arena *scratch) {
  double most = 0;
  for (uint32_t i = 0; i < count; i++)
    if (front[i]->energy_pj > most) most = front[i]->energy_pj;
  const report_unit unit = report_energy_unit(most);
  for (uint32_t i = 0; i < count; i++) {
    const char *words;
    TRY(describe(&words, s, front[i], scratch));
    report_table_name(t, words);
    report_table_number(t, front[i]->cycles);
    report_table_cell(t, "%s %s", report_energy(front[i]->energy_pj, unit).text,
                      unit.name);
    report_table_cell(t, "%.4g", front[i]->edp);
  }
  return CALM_OK;
}

static calm_status add_front(text *out, const calm_sweep *s, bool color,
                             arena *scratch) {
  static const report_column columns[] = {{"design", COLUMN_NAME},
                                          {"cycles", COLUMN_NUMBER},
                                          {"energy", COLUMN_NUMBER},
                                          {"edp pJ x cycles", COLUMN_NUMBER}};
  const sweep_design **front;
  uint32_t count;
  report_table t;
  TRY(find_front(&front, &count, s, scratch));
  if (count == 0) return CALM_OK;
  const uint32_t shown = count < MOST_DESIGNS ? count : MOST_DESIGNS;
  text_format(out,
              "\n%u design%s that no other beats in both cycles and energy:\n",
              count, plural(count));
  report_table_init(&t, s->context, columns, 4);
  TRY(add_rows(&t, s, front, shown, scratch));
  TRY(report_table_finish(&t, out, color));
  if (shown < count)
    text_format(out, "  and %u more (--export csv, json, html)\n",
                count - shown);
  return CALM_OK;
}

/* ---- Failures ------------------------------------------------------------ */

static calm_status add_failure(text *out, const calm_sweep *s,
                               const sweep_point *p, arena *scratch) {
  const char *words;
  text line;
  TRY(describe(&words, s, &s->designs[p->design], scratch));
  text_init(&line, s->context);
  text_format(&line, "%s on %s: %s", s->layers[p->layer].name, words,
              p->result.reason ? p->result.reason : "no reason is known");
  return report_hanging_text(out, &line);
}

static calm_status add_failures(text *out, const calm_sweep *s,
                                arena *scratch) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->point_count; i++) {
    if (s->points[i].result.status != SWEEP_FAILED) continue;
    if (count == 0) text_format(out, "\nfailed (--retry runs them again):\n");
    if (++count <= MOST_FAILURES)
      TRY(add_failure(out, s, &s->points[i], scratch));
  }
  if (count > MOST_FAILURES)
    text_format(out, "  and %u more\n", count - MOST_FAILURES);
  return CALM_OK;
}

calm_status sweep_table(char **out, const calm_sweep *s, bool color) {
  text t;
  arena scratch;
  text_init(&t, s->context);
  arena_init(&scratch, s->context);
  add_title(&t, s, color);
  calm_status status = add_front(&t, s, color, &scratch);
  if (status == CALM_OK) status = add_failures(&t, s, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
