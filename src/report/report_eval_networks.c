/* What the network below each level carries, as tables. */
#include "report/report_eval.h"

/* In short only what is spread out; in full whatever flows. */
static bool is_shown(const cost_flow *f, bool complete) {
  return f->fanout > 1 || f->energy_pj > 0 || f->link_pj > 0 ||
         (complete && f->ingresses > 0);
}

/* What is to be shown of all networks: columns that hold nothing are left out.
 */
typedef struct network_needs {
  bool rows, links, energy;
} network_needs;

static void look_at(network_needs *needs, const eval_view *v,
                    const cost_flow *f) {
  if (!is_shown(f, v->complete)) return;
  needs->rows = true;
  if (f->links > 0) needs->links = true;
  if (v->evaluation->energy && f->energy_pj + f->link_pj > 0)
    needs->energy = true;
}

static network_needs find_needs(const eval_view *v) {
  const cost_result *r = &v->nest->result;
  network_needs needs = {false, false, false};
  for (uint32_t i = 0; i < v->levels.count; i++)
    for (uint32_t tensor = 0; tensor < r->tensor_count; tensor++)
      look_at(&needs, v, report_eval_flow(r, v->levels.ids[i], tensor));
  return needs;
}

enum { MOST_COLUMNS = 9 };

static uint32_t choose_columns(report_column *out, const network_needs *needs,
                               const eval_view *v) {
  const struct {
    report_column column;
    bool wanted;
  } all[MOST_COLUMNS] = {{{"below", COLUMN_NAME}, true},
                         {{"tensor", COLUMN_NAME}, true},
                         {{"fan-out", COLUMN_NUMBER}, true},
                         {{"words", COLUMN_NUMBER}, true},
                         {{"multicast", COLUMN_NUMBER}, true},
                         {{"hops", COLUMN_NUMBER}, true},
                         {{"links", COLUMN_NUMBER}, needs->links},
                         {{"sums", COLUMN_NUMBER}, true},
                         {{v->unit.title, COLUMN_NUMBER}, needs->energy}};
  uint32_t count = 0;
  for (uint32_t i = 0; i < MOST_COLUMNS; i++)
    if (all[i].wanted) out[count++] = all[i].column;
  return count;
}

static void add_flow(report_table *t, const network_needs *needs,
                     const cost_flow *f, report_unit unit) {
  report_table_number(t, f->fanout);
  report_table_cell(t, "%s", report_real(f->ingresses).text);
  report_table_cell(t, "%.4g", report_eval_multicast(f));
  report_table_cell(t, "%.4g", f->hops);
  if (needs->links) report_table_cell(t, "%s", report_real(f->links).text);
  report_table_number(t, f->spatial_reductions);
  if (needs->energy)
    report_table_cell(t, "%s",
                      report_energy(f->energy_pj + f->link_pj, unit).text);
}

static void add_network(report_table *t, const network_needs *needs,
                        const eval_view *v, uint32_t level) {
  const calm_evaluation *e = v->evaluation;
  bool first = true;
  for (uint32_t tensor = 0; tensor < e->layer.tensor_count; tensor++) {
    const cost_flow *f = report_eval_flow(&v->nest->result, level, tensor);
    if (!is_shown(f, v->complete)) continue;
    report_table_name(t, first ? report_eval_level_name(e, level) : "");
    report_table_name(t, e->layer.tensors[tensor].name);
    add_flow(t, needs, f, v->unit);
    first = false;
  }
}

/* Does the memory that the network below a level leads to keep nothing of a
   tensor whose hops cost energy?  Then these are of the way to it alone. */
static bool is_passed_by(const eval_view *v, uint32_t level, uint32_t tensor) {
  const calm_evaluation *e = v->evaluation;
  const cost_result *r = &v->nest->result;
  const cost_flow *f = report_eval_flow(r, level, tensor);
  if (f->energy_pj <= 0 || f->hops <= 0) return false;
  if (e->arch.levels[level].network.hop_pj <= 0) return false;
  while (level > 0 && e->arch.levels[level - 1].virtual_level) level--;
  return level > 0 && !report_eval_tensor(r, level - 1, tensor)->kept;
}

static bool add_passing(text *out, const eval_view *v, uint32_t level,
                        bool begun) {
  const calm_evaluation *e = v->evaluation;
  for (uint32_t t = 0; t < e->layer.tensor_count; t++) {
    if (!is_passed_by(v, level, t)) continue;
    text_format(out, "%s%s below %s", begun ? ", " : "hops of ",
                e->layer.tensors[t].name, report_eval_level_name(e, level));
    begun = true;
  }
  return begun;
}

/* As in Timeloop (docs/cost-model.md, Bypass); without a word, the figures
   would be taken for what the wires carry. */
static calm_status write_unscaled(text *out, const eval_view *v) {
  text words;
  bool any = false;
  text_init(&words, out->context);
  for (uint32_t i = 0; i < v->levels.count; i++)
    any = add_passing(&words, v, v->levels.ids[i], any);
  text_format(&words,
              ": not scaled to what passes the next level by, which may need "
              "more energy");
  if (any) return report_hanging_text(out, &words);
  text_free(&words);
  return CALM_OK;
}

calm_status report_eval_networks(text *out, const eval_view *v) {
  const network_needs needs = find_needs(v);
  report_column columns[MOST_COLUMNS];
  report_table t;
  if (!needs.rows) return CALM_OK;
  text_format(out,
              "\n  networks: words into each; instances that a word reaches, "
              "and hops, on average; %s\n",
              needs.energy ? "energy of all" : "sums on the way");
  report_table_init(&t, out->context, columns,
                    choose_columns(columns, &needs, v));
  for (uint32_t i = 0; i < v->levels.count; i++)
    add_network(&t, &needs, v, v->levels.ids[i]);
  TRY(report_table_finish(&t, out, v->color));
  return needs.energy ? write_unscaled(out, v) : CALM_OK;
}

/* ---- Patterns of delivery ------------------------------------------------ */

static void add_groups(report_table *t, const eval_view *v, uint32_t level,
                       uint32_t tensor) {
  const calm_evaluation *e = v->evaluation;
  const cost_flow *f = report_eval_flow(&v->nest->result, level, tensor);
  for (uint32_t g = 0; g < f->group_count; g++) {
    report_table_name(t, report_eval_level_name(e, level));
    report_table_name(t, e->layer.tensors[tensor].name);
    report_table_number(t, f->groups[g].multicast);
    report_table_number(t, f->groups[g].scatter);
    report_table_cell(t, "%s", report_real(f->groups[g].accesses).text);
  }
}

calm_status report_eval_groups(text *out, const eval_view *v) {
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
  for (uint32_t i = 0; i < v->levels.count; i++)
    for (uint32_t tensor = 0; tensor < v->nest->result.tensor_count; tensor++)
      add_groups(&t, v, v->levels.ids[i], tensor);
  return report_table_finish(&t, out, v->color);
}
