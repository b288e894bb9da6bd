/* A plan for programs: schema calm/plan/1. */
#include "report/report_plan.h"

#include "report/report_graph.h"
#include "report/report_rewrite.h"
#include "report/report_runtime.h"
#include "report/report_tiling.h"
#include "report/report_traffic.h"

static json_t *list_sequence(arena *scratch, const graph *g,
                             const op_id *sequence) {
  json_t *list = json_array();
  for (uint32_t step = 0; step < g->ops.count; step++) {
    const graph_op *op = &g->ops.data[sequence[step]];
    list = report_json_append(list, report_json_name(scratch, op->name));
  }
  return list;
}

static json_t *list_step_bytes(const graph *g, const uint64_t *step_bytes) {
  json_t *list = json_array();
  for (uint32_t step = 0; step < g->ops.count; step++)
    list = report_json_append(list, report_json_number(step_bytes[step]));
  return list;
}

/* Tensors with a place of their own. */
static json_t *list_buffers(arena *scratch, const graph *g,
                            const memory_life *lives, const uint64_t *offsets) {
  json_t *list = json_array();
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    const memory_life *life = &lives[t];
    if (!life->counted || offsets[t] == UINT64_MAX) continue;
    list = report_json_append(
        list,
        json_pack("{s:o, s:I, s:o, s:o, s:I, s:I}", "name",
                  report_json_name(scratch, tensor->name), "index",
                  (json_int_t)tensor->file_index, "offset",
                  report_json_number(offsets[t]), "bytes",
                  report_json_number(life->bytes), "first",
                  (json_int_t)life->first, "last", (json_int_t)life->last));
  }
  return list;
}

/* Tensors that lie in the bytes of another one. */
static json_t *list_views(arena *scratch, const calm_plan *plan) {
  const graph *g = plan->graph;
  json_t *list = json_array();
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const tensor_id of = plan->profile.lives[t].storage;
    if (plan->profile.lives[t].counted || plan->offsets[t] == UINT64_MAX ||
        of == t || of >= g->tensors.count)
      continue;
    list = report_json_append(
        list,
        json_pack("{s:o, s:o, s:o}", "name",
                  report_json_name(scratch, g->tensors.data[t].name), "of",
                  report_json_name(scratch, g->tensors.data[of].name), "offset",
                  report_json_number(plan->offsets[t])));
  }
  return list;
}

static json_t *list_workspaces(arena *scratch, const calm_plan *plan) {
  json_t *list = json_array();
  for (uint32_t step = 0; step < plan->graph->ops.count; step++) {
    const op_id op = plan->sequence[step];
    if (!report_plan_places_workspace(plan, op)) continue;
    list = report_json_append(
        list,
        json_pack("{s:o, s:o, s:o, s:I}", "op",
                  report_json_name(scratch, plan->graph->ops.data[op].name),
                  "offset", report_json_number(plan->workspace_offsets[op]),
                  "bytes", report_json_number(plan->workspace_bytes[op]),
                  "step", (json_int_t)step));
  }
  return list;
}

static json_t *write_order(arena *scratch, const calm_plan *plan) {
  const plan_least_traffic *least = &plan->traffic.least;
  report_search search = report_plan_order(plan);
  search.bound = plan->summary.peak_bound_bytes; /* as the peak's, below */
  json_t *order = report_json_search(&search);
  order = report_json_member(order, "peak_bytes",
                             report_json_number(plan->summary.peak_bytes));
  order = report_json_member(order, "peak_step",
                             json_integer(plan->profile.peak_step));
  if (least->wanted) {
    order = report_json_member(order, "spill_bytes",
                               report_json_number(least->spill_bytes));
    order = report_json_member(order, "spill_bound_bytes",
                               report_json_number(least->bound_bytes));
  }
  if (plan->counted) {
    order = report_json_member(order, "downsets",
                               report_json_optional(plan->order.downsets));
    order = report_json_member(order, "orders",
                               report_json_optional(plan->order.orders));
  }
  order = report_json_member(
      order, "sequence", list_sequence(scratch, plan->graph, plan->sequence));
  return report_json_member(
      order, "step_bytes",
      list_step_bytes(plan->graph, plan->profile.step_bytes));
}

/* Other orders that were placed. */
static json_t *write_joint(const calm_plan *plan) {
  const plan_joint *j = &plan->joint;
  if (j->orders == 0) return json_null();
  return json_pack("{s:o, s:o, s:o, s:b}", "orders",
                   report_json_number(j->orders), "first_arena_bytes",
                   report_json_number(j->first_bytes), "least_peak_bytes",
                   report_json_number(j->least_peak_bytes), "all_orders",
                   j->all);
}

static json_t *write_layout(arena *scratch, const calm_plan *plan) {
  const report_search search = report_plan_layout(plan);
  json_t *layout = report_json_search(&search);
  layout = report_json_member(layout, "arena_bytes",
                              report_json_number(plan->summary.arena_bytes));
  layout = report_json_member(layout, "joint", write_joint(plan));
  layout = report_json_member(
      layout, "buffers",
      list_buffers(scratch, plan->graph, plan->profile.lives, plan->offsets));
  layout = report_json_member(layout, "views", list_views(scratch, plan));
  return report_json_member(layout, "workspaces",
                            list_workspaces(scratch, plan));
}

static json_t *write_baseline(arena *scratch, const calm_plan *plan) {
  const calm_plan_summary *s = &plan->summary;
  const plan_baseline *b = &plan->baseline;
  json_t *buffers = b->offsets
                        ? list_buffers(scratch, b->graph, b->lives, b->offsets)
                        : json_null();
  return json_pack(
      "{s:s, s:o, s:o, s:I, s:o, s:o, s:o}", "order", plan->baseline_order,
      "peak_bytes", report_json_number(s->baseline_peak_bytes), "arena_bytes",
      report_json_number(s->baseline_arena_bytes), "peak_step",
      (json_int_t)b->peak_step, "sequence",
      list_sequence(scratch, b->graph, b->sequence), "step_bytes",
      list_step_bytes(b->graph, b->step_bytes), "buffers", buffers);
}

/* The graph that is planned, and what it was before it was rewritten. */
static json_t *write_graphs(arena *scratch, const calm_plan *plan) {
  const graph *original = plan->baseline.graph;
  json_t *graphs = report_graph_json(scratch, plan->graph);
  return report_json_member(graphs, "original",
                            original == plan->graph
                                ? json_null()
                                : report_graph_json(scratch, original));
}

/* The only memory is the arena. */
static json_t *write_rest(arena *scratch, const calm_plan *plan) {
  return json_pack("{s:o, s:b, s:o}", "budget_bytes",
                   report_json_optional(plan->budget_bytes), "within_budget",
                   plan->summary.within_budget, "traffic",
                   report_traffic_json(scratch, &plan->traffic));
}

json_t *report_plan_json(arena *scratch, const calm_plan *plan) {
  json_t *root =
      report_json_head(scratch, "calm/plan/1", plan->model, &plan->memory);
  root = report_json_member(
      root, "graph", report_json_graph(scratch, plan->graph, &plan->facts));
  root = report_json_member(root, "excluded",
                            report_json_excluded(&plan->facts, &plan->memory));
  root = report_json_member(root, "baseline", write_baseline(scratch, plan));
  root =
      report_json_member(root, "rewrite", report_json_rewrite(scratch, plan));
  root = report_json_merge(root, report_json_tiling(scratch, plan));
  root = report_json_merge(root, write_rest(scratch, plan));
  root = report_json_member(root, "order", write_order(scratch, plan));
  root = report_json_member(root, "layout", write_layout(scratch, plan));
  root =
      report_json_member(root, "runtime", report_json_runtime(scratch, plan));
  root = report_json_merge(root, write_graphs(scratch, plan));
  return report_json_member(root, "provenance",
                            report_json_provenance(scratch, &plan->changed));
}
