/*
 * From the candidate that was kept to the plan: what outlives the scratch is
 * copied, the peak is simulated afresh, and what is proved follows from the
 * bounds.
 */
#include <string.h>

#include "plan/planner.h"

/* A tensor that needs no bytes, or that lies in several buffers (the result of
   a concatenation that costs nothing), has no offset of its own. */
uint64_t plan_offset_of(const planner *p, const plan_candidate *c,
                        tensor_id t) {
  const memory_problem *m = &p->problem;
  const uint32_t first = m->buffer_begin[t];
  if (m->buffer_begin[t + 1] - first != 1) return UINT64_MAX;
  return c->layout.offsets[c->placement.body_of[m->buffers[first]]];
}

/* Where everything lies: offsets of tensors and of workspaces. */
static calm_status record_offsets(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  ARENA_ARRAY(&plan->arena, plan->offsets, p->g->tensors.count);
  ARENA_ARRAY(&plan->arena, plan->workspace_offsets, p->g->ops.count);
  TRY(memory_workspaces(&plan->workspace_bytes, p->g, p->body_arenas,
                        &plan->arena));
  for (tensor_id t = 0; t < p->g->tensors.count; t++)
    plan->offsets[t] = plan_offset_of(p, c, t);
  for (op_id op = 0; op < p->g->ops.count; op++) {
    const uint32_t body = c->placement.workspace_body[op];
    plan->workspace_offsets[op] =
        body == CALM_NONE ? UINT64_MAX : c->layout.offsets[body];
  }
  return CALM_OK;
}

static calm_status copy_places(plan_baseline *out, const plan_baseline *from,
                               arena *a) {
  const uint32_t count = from->graph->tensors.count;
  ARENA_ARRAY(a, out->lives, count);
  if (count) memcpy(out->lives, from->lives, count * sizeof *out->lives);
  if (!from->offsets) return CALM_OK;
  ARENA_ARRAY(a, out->offsets, count);
  if (count) memcpy(out->offsets, from->offsets, count * sizeof *out->offsets);
  return CALM_OK;
}

calm_status plan_copy_baseline(calm_plan *plan, const plan_baseline *from) {
  plan_baseline copy = *from;
  TRY(copy_places(&copy, from, &plan->arena));
  const uint32_t count = from->graph->ops.count;
  ARENA_ARRAY(&plan->arena, copy.sequence, count);
  ARENA_ARRAY(&plan->arena, copy.step_bytes, count);
  for (uint32_t step = 0; step < count; step++) {
    copy.sequence[step] = from->sequence[step];
    copy.step_bytes[step] = from->step_bytes[step];
  }
  plan->baseline = copy;
  return CALM_OK;
}

/* Graphs other than the entry run in file order, wherever the runtime likes. */
static calm_status record_graphs(calm_plan *plan) {
  const graph_vector *graphs = &plan->model->graphs;
  ARENA_ARRAY(&plan->arena, plan->graphs, graphs->count);
  plan->graphs[0] = (plan_graph){plan->sequence, plan->offsets};
  for (uint32_t i = 1; i < graphs->count; i++) {
    const graph *g = &graphs->data[i];
    plan_graph *out = &plan->graphs[i];
    ARENA_ARRAY(&plan->arena, out->sequence, g->ops.count);
    ARENA_ARRAY(&plan->arena, out->offsets, g->tensors.count);
    for (op_id op = 0; op < g->ops.count; op++)
      out->sequence[op] = g->order[op];
    for (tensor_id t = 0; t < g->tensors.count; t++)
      out->offsets[t] = UINT64_MAX;
  }
  return CALM_OK;
}

/*
 * The arena is optimal when it meets a bound that holds for every order; for an
 * order that was asked for, when it meets the bound of that order.
 */
static void record_layout(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  plan->layout = c->layout;
  plan->layout.offsets = NULL; /* by body, and gone with the scratch */
  plan->any_order = plan_order_is_free(p);
  if (plan->any_order && !(plan->layout.bound_bytes > plan_arena_bound(p) &&
                           plan_order_is_only(p)))
    plan->layout.bound_bytes = plan_arena_bound(p);
  plan->layout.outcome = plan->layout.arena_bytes == plan->layout.bound_bytes
                             ? CALM_OPTIMAL
                             : CALM_FEASIBLE;
}

calm_status plan_record(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  ARENA_ARRAY(&plan->arena, plan->sequence, p->g->ops.count);
  if (p->g->ops.count)
    memcpy(plan->sequence, c->sequence,
           p->g->ops.count * sizeof *plan->sequence);
  TRY(memory_simulate(&plan->profile, p->g, &plan->memory, p->body_arenas,
                      plan->sequence, &plan->arena));
  plan->order.peak_bytes = plan->profile.peak_bytes;
  plan->order.outcome = plan->order.peak_bytes == plan->order.bound_bytes
                            ? CALM_OPTIMAL
                            : CALM_FEASIBLE;
  record_layout(p, c);
  plan->summary.order_outcome = plan->order.outcome;
  plan->summary.peak_bytes = plan->order.peak_bytes;
  plan->summary.peak_bound_bytes = plan->order.bound_bytes;
  plan->summary.layout_outcome = plan->layout.outcome;
  plan->summary.arena_bytes = plan->layout.arena_bytes;
  plan->summary.arena_bound_bytes = plan->layout.bound_bytes;
  plan->budget_bytes = p->options->budget_bytes;
  plan->summary.budget_bytes = plan->budget_bytes;
  if (p->tflm) TRY(plan_tflm_record(p, c));
  plan->summary.needed_bytes = plan_needed_bytes(plan);
  plan->summary.within_budget =
      plan->summary.needed_bytes <= plan->budget_bytes;
  if (p->tflm) return CALM_OK;
  TRY(p->litert ? plan_litert_record(p, c) : record_offsets(p, c));
  TRY(record_graphs(plan));
  return p->ort ? plan_ort_record(p) : CALM_OK;
}
