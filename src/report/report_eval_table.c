/* What each level did, as tables: accesses and energy, what else is counted of
   each tensor, how full and how slow a level is. */
#include "report/report_eval.h"

static void add_blanks(report_table *t, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) report_table_cell(t, "%s", "");
}

/* "WeightBuffer x 128" before the first of a level's tensors. */
static void add_place(report_table *t, bool first, const char *name,
                      uint64_t instances) {
  const char *place = report_eval_times(&t->scratch, name, instances);
  if (place)
    report_table_name(t, first ? place : "");
  else
    t->failed = true;
}

/* ---- Accesses and energy ------------------------------------------------- */

static void add_energy(report_table *t, const eval_view *v, double pj) {
  if (!v->evaluation->energy) return;
  report_table_cell(t, "%s", report_energy(pj, v->unit).text);
  report_table_cell(t, "%s", report_share(pj, v->nest->result.energy_pj).text);
}

static void add_accesses(report_table *t, const cost_tensor *c) {
  report_table_number(t, c->tile_words);
  report_table_number(t, c->reads);
  report_table_number(t, c->fills);
  report_table_number(t, c->updates);
}

/* In short only where its share can be seen. */
static void add_leak(report_table *t, const eval_view *v, uint32_t level) {
  const double leak_pj = v->nest->result.levels[level].leak_pj;
  const double least = v->complete ? 0 : 0.0005 * v->nest->result.energy_pj;
  if (!v->evaluation->energy || leak_pj <= least) return;
  add_blanks(t, 1);
  report_table_cell(t, "leakage");
  add_blanks(t, 4);
  add_energy(t, v, leak_pj);
}

static void add_level(report_table *t, const eval_view *v, uint32_t level) {
  const cost_result *r = &v->nest->result;
  bool first = true;
  for (uint32_t tensor = 0; tensor < r->tensor_count; tensor++) {
    const cost_tensor *c = report_eval_tensor(r, level, tensor);
    if (!c->kept) continue;
    add_place(t, first, report_eval_level_name(v->evaluation, level),
              r->levels[level].instances);
    report_table_name(t, v->evaluation->layer.tensors[tensor].name);
    add_accesses(t, c);
    add_energy(t, v, c->energy_pj);
    first = false;
  }
  if (!first) add_leak(t, v, level);
}

static void add_network_energy(report_table *t, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  if (!v->evaluation->energy || r->network_pj <= 0) return;
  report_table_cell(t, "networks");
  add_blanks(t, 5);
  add_energy(t, v, r->network_pj);
}

static void add_multipliers(report_table *t, const eval_view *v) {
  const cost_result *r = &v->nest->result;
  add_place(t, true, v->evaluation->arch.compute.name, r->multipliers);
  add_blanks(t, 5);
  add_energy(t, v, r->compute_pj);
}

calm_status report_eval_table(text *out, const eval_view *v) {
  const report_column columns[] = {
      {"level", COLUMN_NAME},         {"tensor", COLUMN_NAME},
      {"tile", COLUMN_NUMBER},        {"reads", COLUMN_NUMBER},
      {"fills", COLUMN_NUMBER},       {"updates", COLUMN_NUMBER},
      {v->unit.title, COLUMN_NUMBER}, {"share", COLUMN_NUMBER}};
  const bool energy = v->evaluation->energy;
  report_table t;
  text_format(out, "\n  words of each instance%s\n",
              energy ? "; energy of all of them" : "");
  report_table_init(&t, out->context, columns, energy ? 8 : 6);
  for (uint32_t i = 0; i < v->levels.count; i++)
    add_level(&t, v, v->levels.ids[i]);
  add_network_energy(&t, v);
  add_multipliers(&t, v);
  return report_table_finish(&t, out, v->color);
}

/* ---- Details ------------------------------------------------------------- */

static void add_details(report_table *t, const eval_view *v, uint32_t level) {
  const cost_result *r = &v->nest->result;
  bool first = true;
  for (uint32_t tensor = 0; tensor < r->tensor_count; tensor++) {
    const cost_tensor *c = report_eval_tensor(r, level, tensor);
    if (!c->kept) continue;
    add_place(t, first, report_eval_level_name(v->evaluation, level), 1);
    report_table_name(t, v->evaluation->layer.tensors[tensor].name);
    report_table_number(t, c->partition_words);
    report_table_number(t, c->temporal_reductions);
    report_table_number(t, c->address_generations);
    report_table_number(t, c->clusters);
    first = false;
  }
}

calm_status report_eval_details(text *out, const eval_view *v) {
  static const report_column columns[] = {
      {"level", COLUMN_NAME},       {"tensor", COLUMN_NAME},
      {"partition", COLUMN_NUMBER}, {"temporal reductions", COLUMN_NUMBER},
      {"addresses", COLUMN_NUMBER}, {"clusters", COLUMN_NUMBER}};
  report_table t;
  text_format(out,
              "\n  also counted of each instance; addresses of a cluster\n");
  report_table_init(&t, out->context, columns, 6);
  for (uint32_t i = 0; i < v->levels.count; i++)
    add_details(&t, v, v->levels.ids[i]);
  return report_table_finish(&t, out, v->color);
}

/* ---- Capacity and time --------------------------------------------------- */

static void add_use(report_table *t, uint64_t used, uint64_t capacity) {
  report_table_number(t, used);
  if (capacity == ACCEL_UNLIMITED) {
    report_table_cell(t, "unlimited");
    add_blanks(t, 1);
    return;
  }
  report_table_number(t, capacity);
  report_table_cell(t, "%s", report_share((double)used, (double)capacity).text);
}

calm_status report_eval_capacity(text *out, const eval_view *v) {
  static const report_column columns[] = {
      {"level", COLUMN_NAME},      {"instances", COLUMN_NUMBER},
      {"of", COLUMN_NUMBER},       {"words used", COLUMN_NUMBER},
      {"of", COLUMN_NUMBER},       {"", COLUMN_NUMBER},
      {"slowdown", COLUMN_NUMBER}, {"cycles", COLUMN_NUMBER}};
  report_table t;
  text_format(
      out,
      "\n  how full each level is; how fast it lets the multipliers be, "
      "and the cycles of that\n");
  report_table_init(&t, out->context, columns, 8);
  for (uint32_t i = 0; i < v->levels.count; i++) {
    const accel_level *a = &v->evaluation->arch.levels[v->levels.ids[i]];
    const cost_level *l = &v->nest->result.levels[v->levels.ids[i]];
    report_table_name(&t, a->name);
    report_table_number(&t, l->instances);
    report_table_number(&t, a->instances);
    add_use(&t, l->used_words, a->capacity_words);
    report_table_cell(&t, "%.6g", l->slowdown);
    report_table_number(&t, l->cycles);
  }
  return report_table_finish(&t, out, v->color);
}
