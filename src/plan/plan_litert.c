/*
 * The pipeline for TensorFlow Lite (LiteRT).  It places tensors by itself and
 * takes no advice, so an order is judged by the arena that the runtime will
 * give it, and the layout of the plan is the runtime's own.  Behind its arena
 * stand what it keeps elsewhere: the arena of variables, and those of bodies.
 */
#include <string.h>

#include "base/number.h"
#include "memory/memory_litert.h"
#include "plan/planner.h"

/* It has no operators that add up in place, so it places no graph with any. */
bool plan_litert_applies(const planner *p) {
  return !strcmp(p->plan->memory.name, "litert") &&
         memory_model_is_preset(&p->plan->memory) && !graph_has_sums(p->g);
}

static uint64_t round_up(uint64_t bytes, const planner *p) {
  return number_round_up(bytes, p->plan->memory.align);
}

static uint64_t largest_workspace(const planner *p) {
  uint64_t most = 0;
  for (op_id op = 0; op < p->g->ops.count; op++)
    most = number_larger(most, p->problem.workspace_bytes[op]);
  return most;
}

/* Variables one after the other behind the arena, in the order of the file. */
static uint64_t place_variables(uint64_t *offsets, const planner *p,
                                uint64_t end) {
  for (tensor_id t = 0; t < p->g->tensors.count; t++) {
    const graph_tensor *tensor = &p->g->tensors.data[t];
    if (!(tensor->flags & CALM_TENSOR_VARIABLE)) continue;
    offsets[t] = round_up(end, p);
    end = offsets[t] + tensor->bytes;
  }
  return end;
}

calm_status plan_litert_place(plan_candidate *c, const planner *p) {
  const uint64_t workspace = largest_workspace(p);
  TRY(litert_predict(&c->litert, p->g, c->sequence, p->scratch));
  uint64_t end = place_variables(c->litert.offsets, p, c->litert.bytes);
  c->workspace_offset = round_up(end, p);
  if (workspace) end = c->workspace_offset + workspace;
  if (c->litert.corrupts != CALM_NONE) end += PLAN_UNSOUND_BYTES;
  c->layout = (layout_result){.outcome = CALM_FEASIBLE, .arena_bytes = end};
  return CALM_OK;
}

/* An order of a lower peak may have the larger arena: no model gets worse. */
static calm_status keep_file_order(plan_candidate *best, const planner *p) {
  plan_candidate file;
  limits l;
  uint32_t *file_order;
  limits_init(&l, p->plan->context);
  TRY(pipeline_identity(&file_order, p->problem.order.op_count, p->scratch));
  TRY(plan_place(&file, p, file_order, NULL, &l));
  if (file.layout.arena_bytes < best->layout.arena_bytes) *best = file;
  return CALM_OK;
}

calm_status plan_litert_settle(plan_candidate *best, const planner *p) {
  memory_profile profile;
  if (plan_order_is_free(p)) TRY(keep_file_order(best, p));
  best->layout.arena_bytes %= PLAN_UNSOUND_BYTES;
  TRY(memory_simulate(&profile, p->g, &p->plan->memory, p->body_arenas,
                      best->sequence, p->scratch));
  best->layout.bound_bytes =
      number_smaller(profile.peak_bytes, best->layout.arena_bytes);
  return CALM_OK;
}

calm_status plan_litert_record(planner *p, const plan_candidate *c) {
  calm_plan *plan = p->plan;
  litert_arena file;
  const uint32_t tensors = p->g->tensors.count;
  TRY(litert_predict(&file, p->g, p->g->order, p->scratch));
  ARENA_ARRAY(&plan->arena, plan->offsets, tensors);
  ARENA_ARRAY(&plan->arena, plan->workspace_offsets, p->g->ops.count);
  TRY(memory_workspaces(&plan->workspace_bytes, p->g, p->body_arenas,
                        &plan->arena));
  for (tensor_id t = 0; t < tensors; t++)
    plan->offsets[t] = c->litert.offsets[t];
  for (op_id op = 0; op < p->g->ops.count; op++)
    plan->workspace_offsets[op] =
        plan->workspace_bytes[op] ? c->workspace_offset : UINT64_MAX;
  plan->layout_method = "litert";
  plan->runtime = (plan_runtime){.name = "litert",
                                 .default_head_bytes = file.bytes,
                                 .carried_head_bytes = UINT64_MAX,
                                 .head_bytes = c->litert.bytes,
                                 .persistent_bytes = file.persistent_bytes,
                                 .source = PLAN_NONE};
  return CALM_OK;
}

/* See find_corruption in memory_litert.c.  Orders in which this happens are
   taken only if there is no other. */
void plan_litert_warn(const planner *p, const memory_verdict *verdict) {
  if (verdict->faults.count)
    context_log(p->plan->context, CALM_LOG_WARNING,
                "%s: as TensorFlow Lite places this model, it overwrites what "
                "is still needed: %s",
                p->plan->model->path, verdict->faults.data[0].text);
}

/* A file that was planned for another runtime may end up in this one. */
calm_status plan_litert_warn_others(const planner *p) {
  const calm_plan *plan = p->plan;
  litert_arena file, planned;
  if (p->litert || plan->model->format != MODEL_TFLITE) return CALM_OK;
  TRY(litert_predict(&file, p->g, p->g->order, p->scratch));
  TRY(litert_predict(&planned, p->g, plan->sequence, p->scratch));
  if (planned.corrupts != CALM_NONE && file.corrupts == CALM_NONE)
    context_log(plan->context, CALM_LOG_WARNING,
                "%s: in this order TensorFlow Lite, should it run the file, "
                "lets '%s' overwrite what is still needed; --memory litert "
                "avoids that",
                plan->model->path, p->g->ops.data[planned.corrupts].name);
  return CALM_OK;
}
