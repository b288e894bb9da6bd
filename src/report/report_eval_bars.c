/*
 * Bars: which level and tensor takes the energy, and which level the time.
 *
 *     DRAM          63.2 %  IIIIIIIIIWWWWWWWWWWWWWWWOOO
 *     GlobalBuffer   8.1 %  IWW
 */
#include <math.h>
#include <string.h>

#include "report/report_eval.h"

enum { BAR_COLUMNS = 56 };

/* What a part of a bar is drawn with beside the letters of tensors. */
static const char OWN = '#', LEAK = '.';

/* ---- Letters ------------------------------------------------------------- */

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/* The first letter of `name` that is not among the letters of those before, or
   0 if all are. */
static char free_letter(const char *name, const char *taken, uint32_t count) {
  for (; *name; name++)
    if (strchr(alphabet, *name) && !memchr(taken, *name, count)) return *name;
  return 0;
}

static void choose_letters(char *letters, const accel_layer *layer) {
  for (uint32_t t = 0; t < layer->tensor_count; t++) {
    letters[t] = free_letter(layer->tensors[t].name, letters, t);
    if (!letters[t]) letters[t] = free_letter(alphabet, letters, t);
  }
}

/* "W Weights,"; a name that is its own letter needs no explanation. */
static calm_status add_letter(report_paragraph *p, char letter,
                              const char *name) {
  text item;
  text_init(&item, p->out->context);
  text_format(&item, "%c", letter);
  if (letter != name[0] || name[1]) text_format(&item, " %s", name);
  text_format(&item, ",");
  return report_paragraph_add(p, &item);
}

/* What is no tensor's. */
static calm_status add_meaning(report_paragraph *p, char letter,
                               const char *meaning) {
  text item;
  text_init(&item, p->out->context);
  text_format(&item, "%c %s", letter, meaning);
  return report_paragraph_add(p, &item);
}

/* Enough to be seen in a bar? */
static bool leaks(const cost_result *r) {
  for (uint32_t level = 0; level < r->level_count; level++)
    if (r->levels[level].leak_pj > 0.005 * r->energy_pj) return true;
  return false;
}

static calm_status write_legend(text *out, const eval_view *v,
                                const char *letters) {
  const accel_layer *layer = &v->evaluation->layer;
  const bool leak = leaks(&v->nest->result);
  report_paragraph p = {out, 4, 9, true};
  text_format(out, "  energy:");
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    TRY(add_letter(&p, letters[t], layer->tensors[t].name));
  TRY(add_meaning(&p, OWN, leak ? "the multipliers," : "the multipliers"));
  if (leak) TRY(add_meaning(&p, LEAK, "leakage"));
  text_format(out, "\n");
  return CALM_OK;
}

/* ---- A bar --------------------------------------------------------------- */

/* A bar of several parts, each as long as its share of `whole`: the end of each
   is rounded, so that the length of all is that of their sum. */
typedef struct bar {
  char drawn[BAR_COLUMNS + 1];
  uint32_t length;
  double sum, whole;
} bar;

static void draw(bar *b, char with, double part) {
  b->sum += part;
  const double end = b->whole > 0 ? b->sum / b->whole * BAR_COLUMNS : 0;
  while (b->length < BAR_COLUMNS && (double)b->length + 0.5 <= end)
    b->drawn[b->length++] = with;
}

static void add_bar(report_table *t, const char *name, const bar *b,
                    double all) {
  report_table_name(t, name);
  report_table_cell(t, "%s", report_share(b->sum, all).text);
  report_table_cell(t, "%.*s", (int)b->length, b->drawn);
}

/* ---- Energy -------------------------------------------------------------- */

static bar bar_of_level(const cost_result *r, uint32_t level,
                        const char *letters, double longest) {
  bar b = {.whole = longest};
  for (uint32_t t = 0; t < r->tensor_count; t++)
    draw(&b, letters[t], report_eval_tensor(r, level, t)->energy_pj);
  draw(&b, LEAK, r->levels[level].leak_pj);
  return b;
}

static bar bar_of_networks(const cost_result *r, const char *letters,
                           double longest) {
  bar b = {.whole = longest};
  for (uint32_t t = 0; t < r->tensor_count; t++) {
    double sum = 0;
    for (uint32_t level = 0; level < r->level_count; level++) {
      const cost_flow *f = report_eval_flow(r, level, t);
      sum += f->energy_pj + f->link_pj;
    }
    draw(&b, letters[t], sum);
  }
  return b;
}

static double longest_energy(const cost_result *r) {
  double longest = fmax(r->compute_pj, r->network_pj);
  for (uint32_t level = 0; level < r->level_count; level++)
    longest = fmax(longest, r->levels[level].energy_pj);
  return longest;
}

static void add_level_energies(report_table *t, const eval_view *v,
                               const char *letters, double longest) {
  const cost_result *r = &v->nest->result;
  for (uint32_t i = 0; i < v->levels.count; i++) {
    const uint32_t level = v->levels.ids[i];
    if (v->evaluation->arch.levels[level].virtual_level) continue;
    const bar b = bar_of_level(r, level, letters, longest);
    add_bar(t, report_eval_level_name(v->evaluation, level), &b, r->energy_pj);
  }
}

static const report_column columns[] = {
    {NULL, COLUMN_NAME}, {NULL, COLUMN_NUMBER}, {NULL, COLUMN_WORDS}};

static calm_status write_energy(text *out, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  const double longest = longest_energy(r);
  char letters[ACCEL_MAX_TENSORS];
  report_table t;
  choose_letters(letters, &v->evaluation->layer);
  text_format(out, "\n");
  TRY(write_legend(out, v, letters));
  report_table_init(&t, out->context, columns, 3);
  add_level_energies(&t, v, letters, longest);
  if (r->network_pj > 0) {
    const bar b = bar_of_networks(r, letters, longest);
    add_bar(&t, "networks", &b, r->energy_pj);
  }
  bar own = {.whole = longest};
  draw(&own, OWN, r->compute_pj);
  add_bar(&t, v->evaluation->arch.compute.name, &own, r->energy_pj);
  return report_table_finish(&t, out, v->color);
}

/* ---- Cycles -------------------------------------------------------------- */

static void add_cycles(report_table *t, const char *name, double cycles,
                       uint64_t longest, bool limits) {
  bar b = {.whole = (double)longest};
  draw(&b, OWN, cycles);
  report_table_name(t, name);
  report_table_cell(t, "%s", report_real(cycles).text);
  report_table_cell(t, "%.*s%s", (int)b.length, b.drawn,
                    limits ? "  <- limits" : "");
}

static void add_level_cycles(report_table *t, const eval_view *v,
                             uint32_t level) {
  const cost_result *r = &v->nest->result;
  const double cycles = r->levels[level].busy_cycles;
  const char *name = report_eval_level_name(v->evaluation, level);
  if (cycles >= 0) {
    add_cycles(t, name, cycles, r->cycles, level == r->limiting_level);
    return;
  }
  report_table_name(t, name);
  report_table_cell(t, "-");
  report_table_cell(t, "%s", "");
}

static calm_status write_cycles(text *out, const eval_view *v) {
  const accel_arch *arch = &v->evaluation->arch;
  const cost_result *r = &v->nest->result;
  report_table t;
  text_format(
      out,
      "\n  cycles that each level needs at its bandwidth (-: no limit), "
      "and the multipliers\n");
  report_table_init(&t, out->context, columns, 3);
  for (uint32_t i = 0; i < v->levels.count; i++)
    if (!arch->levels[v->levels.ids[i]].virtual_level)
      add_level_cycles(&t, v, v->levels.ids[i]);
  add_cycles(&t, arch->compute.name, (double)r->compute_cycles, r->cycles,
             r->limiting_level == CALM_NONE);
  return report_table_finish(&t, out, v->color);
}

calm_status report_eval_bars(text *out, const eval_view *v) {
  if (v->evaluation->energy) TRY(write_energy(out, v));
  return write_cycles(out, v);
}
