/* What each level and each network did, as tables. */
#include "report/report_eval.h"
#include "report/report_quantity.h"

static void add_blank(report_table *t) { report_table_cell(t, "%s", ""); }

/* "WeightBuffer x 128" before the first of a level's tensors. */
static void add_place(report_table *t, bool first, const char *name,
                      uint64_t instances) {
  const char *place = report_eval_times(&t->scratch, name, instances);
  if (place)
    report_table_name(t, first ? place : "");
  else
    t->failed = true;
}

static void add_energy(report_table *t, const calm_evaluation *e, double pj,
                       const cost_result *r, report_unit unit) {
  if (!e->energy) return;
  report_table_cell(t, "%s", report_energy(pj, unit).text);
  report_table_cell(t, "%s", report_share(pj, r->energy_pj).text);
}

/* ---- Levels -------------------------------------------------------------- */

static void add_accesses(report_table *t, const cost_tensor *c) {
  report_table_number(t, c->tile_words);
  report_table_number(t, c->reads);
  report_table_number(t, c->fills);
  report_table_number(t, c->updates);
}

/* In short only where its share can be seen. */
static void add_leak(report_table *t, const calm_evaluation *e,
                     const cost_result *r, uint32_t level, bool complete,
                     report_unit unit) {
  const double least = complete ? 0 : 0.0005 * r->energy_pj;
  if (!e->energy || r->levels[level].leak_pj <= least) return;
  add_blank(t);
  report_table_cell(t, "leakage");
  for (int i = 0; i < 4; i++) add_blank(t);
  add_energy(t, e, r->levels[level].leak_pj, r, unit);
}

static void add_level(report_table *t, const calm_evaluation *e,
                      const cost_result *r, uint32_t level, bool complete,
                      report_unit unit) {
  bool first = true;
  for (uint32_t tensor = 0; tensor < r->tensor_count; tensor++) {
    const cost_tensor *c = report_eval_tensor(r, level, tensor);
    if (!c->kept) continue;
    add_place(t, first, report_eval_level_name(e, level),
              r->levels[level].instances);
    report_table_name(t, e->layer.tensors[tensor].name);
    add_accesses(t, c);
    add_energy(t, e, c->energy_pj, r, unit);
    first = false;
  }
  if (!first) add_leak(t, e, r, level, complete, unit);
}

static void add_network_energy(report_table *t, const calm_evaluation *e,
                               const cost_result *r, report_unit unit) {
  if (!e->energy || r->network_pj <= 0) return;
  report_table_cell(t, "networks");
  for (int i = 0; i < 5; i++) add_blank(t);
  add_energy(t, e, r->network_pj, r, unit);
}

static void add_multipliers(report_table *t, const calm_evaluation *e,
                            const cost_result *r, report_unit unit) {
  add_place(t, true, e->arch.compute.name, r->multipliers);
  for (int i = 0; i < 5; i++) add_blank(t);
  add_energy(t, e, r->compute_pj, r, unit);
}

static report_column energy_column(report_unit unit) {
  static const struct {
    double pj;
    const char *title;
  } titles[] = {{1, "energy pJ"},
                {1e3, "energy nJ"},
                {1e6, "energy uJ"},
                {1e9, "energy mJ"},
                {1e12, "energy J"}};
  size_t i = 0;
  while (titles[i].pj < unit.pj) i++;
  return (report_column){titles[i].title, COLUMN_NUMBER};
}

calm_status report_eval_table(text *out, const calm_evaluation *e,
                              const eval_nest *n, const eval_levels *levels,
                              bool complete, bool color) {
  const cost_result *r = &n->result;
  const report_unit unit = report_energy_unit(r->energy_pj);
  const report_column columns[] = {
      {"level", COLUMN_NAME},   {"tensor", COLUMN_NAME},
      {"tile", COLUMN_NUMBER},  {"reads", COLUMN_NUMBER},
      {"fills", COLUMN_NUMBER}, {"updates", COLUMN_NUMBER},
      energy_column(unit),      {"share", COLUMN_NUMBER}};
  report_table t;
  text_format(out, "\n  words of each instance%s\n",
              e->energy ? "; energy of all of them" : "");
  report_table_init(&t, out->context, columns, e->energy ? 8 : 6);
  for (uint32_t i = 0; i < levels->count; i++)
    add_level(&t, e, r, levels->ids[i], complete, unit);
  add_network_energy(&t, e, r, unit);
  add_multipliers(&t, e, r, unit);
  return report_table_finish(&t, out, color);
}

/* What few ask for: the rest that is known of each tensor at each level. */
calm_status report_eval_details(text *out, const calm_evaluation *e,
                                const eval_nest *n, const eval_levels *levels,
                                bool color) {
  static const report_column columns[] = {
      {"level", COLUMN_NAME},       {"tensor", COLUMN_NAME},
      {"partition", COLUMN_NUMBER}, {"temporal reductions", COLUMN_NUMBER},
      {"addresses", COLUMN_NUMBER}, {"clusters", COLUMN_NUMBER}};
  report_table t;
  text_format(out,
              "\n  also counted of each instance; addresses of a cluster\n");
  report_table_init(&t, out->context, columns, 6);
  for (uint32_t i = 0; i < levels->count; i++) {
    bool first = true;
    for (uint32_t tensor = 0; tensor < n->result.tensor_count; tensor++) {
      const cost_tensor *c =
          report_eval_tensor(&n->result, levels->ids[i], tensor);
      if (!c->kept) continue;
      add_place(&t, first, report_eval_level_name(e, levels->ids[i]), 1);
      report_table_name(&t, e->layer.tensors[tensor].name);
      report_table_number(&t, c->partition_words);
      report_table_number(&t, c->temporal_reductions);
      report_table_number(&t, c->address_generations);
      report_table_number(&t, c->clusters);
      first = false;
    }
  }
  return report_table_finish(&t, out, color);
}

static void add_use(report_table *t, uint64_t used, uint64_t capacity) {
  report_table_number(t, used);
  if (capacity == ACCEL_UNLIMITED) {
    report_table_cell(t, "unlimited");
    add_blank(t);
    return;
  }
  report_table_number(t, capacity);
  report_table_cell(t, "%s", report_share((double)used, (double)capacity).text);
}

/* How full each level is, and how much it holds up the multipliers. */
calm_status report_eval_capacity(text *out, const calm_evaluation *e,
                                 const eval_nest *n, const eval_levels *levels,
                                 bool color) {
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
  for (uint32_t i = 0; i < levels->count; i++) {
    const accel_level *a = &e->arch.levels[levels->ids[i]];
    const cost_level *l = &n->result.levels[levels->ids[i]];
    report_table_name(&t, a->name);
    report_table_number(&t, l->instances);
    report_table_number(&t, a->instances);
    add_use(&t, l->used_words, a->capacity_words);
    report_table_cell(&t, "%.6g", l->slowdown);
    report_table_number(&t, l->cycles);
  }
  return report_table_finish(&t, out, color);
}

/* ---- Networks ------------------------------------------------------------ */

/* In short only what is spread out; in full whatever flows. */
static bool is_shown(const cost_flow *f, bool complete) {
  return f->fanout > 1 || f->energy_pj > 0 || f->link_pj > 0 ||
         (complete && f->ingresses > 0);
}

/* What the columns of a table of networks are; those that hold nothing are left
   out of it. */
typedef struct network_view {
  const calm_evaluation *e;
  const cost_result *r;
  const eval_levels *levels;
  report_unit unit;
  bool complete, any, links, energy;
} network_view;

static void look_at(network_view *v, const cost_flow *f) {
  if (!is_shown(f, v->complete)) return;
  v->any = true;
  if (f->links > 0) v->links = true;
  if (v->e->energy && f->energy_pj + f->link_pj > 0) v->energy = true;
}

static void add_flow(report_table *t, const network_view *v,
                     const cost_flow *f) {
  report_table_number(t, f->fanout);
  report_table_cell(t, "%s", report_real(f->ingresses).text);
  report_table_cell(t, "%.4g", report_eval_multicast(f));
  report_table_cell(t, "%.4g", f->hops);
  if (v->links) report_table_cell(t, "%s", report_real(f->links).text);
  report_table_number(t, f->spatial_reductions);
  if (v->energy)
    report_table_cell(t, "%s",
                      report_energy(f->energy_pj + f->link_pj, v->unit).text);
}

static void add_network(report_table *t, const network_view *v, uint32_t i) {
  const uint32_t level = v->levels->ids[i];
  bool first = true;
  for (uint32_t tensor = 0; tensor < v->r->tensor_count; tensor++) {
    const cost_flow *f = report_eval_flow(v->r, level, tensor);
    if (!is_shown(f, v->complete)) continue;
    report_table_name(t, first ? report_eval_level_name(v->e, level) : "");
    report_table_name(t, v->e->layer.tensors[tensor].name);
    add_flow(t, v, f);
    first = false;
  }
}

static uint32_t choose_columns(report_column *out, const network_view *v) {
  const struct {
    report_column column;
    bool wanted;
  } all[] = {
      {{"below", COLUMN_NAME}, true},       {{"tensor", COLUMN_NAME}, true},
      {{"fan-out", COLUMN_NUMBER}, true},   {{"words", COLUMN_NUMBER}, true},
      {{"multicast", COLUMN_NUMBER}, true}, {{"hops", COLUMN_NUMBER}, true},
      {{"links", COLUMN_NUMBER}, v->links}, {{"sums", COLUMN_NUMBER}, true},
      {energy_column(v->unit), v->energy}};
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].wanted) out[count++] = all[i].column;
  return count;
}

calm_status report_eval_networks(text *out, const calm_evaluation *e,
                                 const eval_nest *n, const eval_levels *levels,
                                 bool complete, bool color) {
  const cost_result *r = &n->result;
  network_view v = {.e = e,
                    .r = r,
                    .levels = levels,
                    .unit = report_energy_unit(r->energy_pj),
                    .complete = complete};
  report_column columns[9];
  report_table t;
  for (uint32_t i = 0; i < levels->count; i++)
    for (uint32_t tensor = 0; tensor < r->tensor_count; tensor++)
      look_at(&v, report_eval_flow(r, levels->ids[i], tensor));
  if (!v.any) return CALM_OK;
  text_format(out,
              "\n  networks: words into each; instances that a word reaches, "
              "and hops, on average; %s\n",
              v.energy ? "energy of all" : "sums on the way");
  report_table_init(&t, out->context, columns, choose_columns(columns, &v));
  for (uint32_t i = 0; i < levels->count; i++) add_network(&t, &v, i);
  return report_table_finish(&t, out, color);
}

static void add_groups(report_table *t, const calm_evaluation *e,
                       const cost_flow *f, uint32_t level, uint32_t tensor) {
  for (uint32_t g = 0; g < f->group_count; g++) {
    report_table_name(t, report_eval_level_name(e, level));
    report_table_name(t, e->layer.tensors[tensor].name);
    report_table_number(t, f->groups[g].multicast);
    report_table_number(t, f->groups[g].scatter);
    report_table_cell(t, "%s", report_real(f->groups[g].accesses).text);
  }
}

/* Each pattern of delivery. */
calm_status report_eval_groups(text *out, const calm_evaluation *e,
                               const eval_nest *n, const eval_levels *levels,
                               bool color) {
  static const report_column columns[] = {{"below", COLUMN_NAME},
                                          {"tensor", COLUMN_NAME},
                                          {"multicast", COLUMN_NUMBER},
                                          {"scatter", COLUMN_NUMBER},
                                          {"words", COLUMN_NUMBER}};
  report_table t;
  text_format(out,
              "\n  deliveries: each word to so many instances, so many words "
              "at once\n");
  report_table_init(&t, out->context, columns, 5);
  for (uint32_t i = 0; i < levels->count; i++)
    for (uint32_t tensor = 0; tensor < n->result.tensor_count; tensor++)
      add_groups(&t, e, report_eval_flow(&n->result, levels->ids[i], tensor),
                 levels->ids[i], tensor);
  return report_table_finish(&t, out, color);
}
