#include "report/report_blocks.h"

#include "report/report_plan.h"

static report_block tensor_block(const calm_plan *plan, tensor_id t) {
  const memory_life *life = &plan->profile.lives[t];
  return (report_block){.id = t,
                        .name = plan->graph->tensors.data[t].name,
                        .offset = plan->offsets[t],
                        .bytes = life->bytes,
                        .first = life->first,
                        .last = life->last};
}

static report_block scratch_block(const calm_plan *plan, op_id op,
                                  uint32_t step, uint64_t offset,
                                  uint64_t bytes) {
  return (report_block){.scratch = true,
                        .id = op,
                        .name = plan->graph->ops.data[op].name,
                        .offset = offset,
                        .bytes = bytes,
                        .first = step,
                        .last = step};
}

/* Where the plan itself places workspaces. */
static void add_workspaces(report_blocks *out, const calm_plan *plan) {
  for (uint32_t step = 0; step < plan->graph->ops.count; step++) {
    const op_id op = plan->sequence[step];
    if (report_plan_places_workspace(plan, op))
      out->data[out->count++] =
          scratch_block(plan, op, step, plan->workspace_offsets[op],
                        plan->workspace_bytes[op]);
  }
}

/* What a runtime was predicted to ask for and to place by itself. */
static calm_status add_scratch(report_blocks *out, const calm_plan *plan,
                               arena *a) {
  uint32_t *begin;
  TRY(report_scratch_rows(&begin, plan, 0, a));
  for (uint32_t step = 0; step < plan->graph->ops.count; step++) {
    const op_id op = plan->sequence[step];
    for (uint32_t i = begin[op]; i < begin[op + 1]; i++) {
      const plan_scratch *s = &plan->runtime.scratch[i];
      if (s->bytes && s->offset != UINT64_MAX)
        out->data[out->count++] =
            scratch_block(plan, op, step, s->offset, s->bytes);
    }
  }
  return CALM_OK;
}

calm_status report_scratch_rows(uint32_t **out, const calm_plan *plan,
                                uint32_t graph, arena *a) {
  const plan_runtime *r = &plan->runtime;
  const uint32_t ops = plan->model->graphs.data[graph].ops.count;
  uint32_t *begin, next = 0;
  ARENA_ARRAY(a, begin, (size_t)ops + 1);
  while (next < r->scratch_count && r->scratch[next].graph < graph) next++;
  for (op_id op = 0; op < ops; op++) {
    begin[op] = next;
    while (next < r->scratch_count && r->scratch[next].graph == graph &&
           r->scratch[next].op == op)
      next++;
  }
  begin[ops] = next;
  *out = begin;
  return CALM_OK;
}

calm_status report_blocks_list(report_blocks *out, const calm_plan *plan,
                               arena *a) {
  const graph *g = plan->graph;
  report_blocks list = {0};
  ARENA_ARRAY(
      a, list.data,
      (size_t)g->tensors.count + g->ops.count + plan->runtime.scratch_count);
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (report_plan_places(plan, t) && plan->profile.lives[t].bytes)
      list.data[list.count++] = tensor_block(plan, t);
  add_workspaces(&list, plan);
  TRY(add_scratch(&list, plan, a));
  *out = list;
  return CALM_OK;
}

/* ---- What has none ------------------------------------------------------- */

static const char *absence_by_flags(const calm_plan *plan, unsigned flags) {
  const memory_model *m = &plan->memory;
  if (flags & CALM_TENSOR_CONST) return "a constant, not in the arena";
  if ((flags & CALM_TENSOR_VARIABLE) && m->variables == VARIABLES_EXTERNAL)
    return "state that the runtime keeps, not in the arena";
  if ((flags & CALM_TENSOR_INPUT) && m->inputs == INPUTS_EXTERNAL)
    return "an input that the caller owns, not in the arena";
  if ((flags & CALM_TENSOR_OUTPUT) && m->outputs == OUTPUTS_EXTERNAL)
    return "an output that the caller owns, not in the arena";
  return NULL;
}

/* The result of a concatenation that costs nothing lies wherever its operands
   do. */
static bool is_elided(const calm_plan *plan, tensor_id t) {
  const op_id producer = plan->graph->producer[t];
  return plan->memory.concat == CONCAT_ELIDE && producer != CALM_NONE &&
         plan->graph->ops.data[producer].kind == OP_concat;
}

const char *report_tensor_absence(const calm_plan *plan, tensor_id t) {
  const graph_tensor *tensor = &plan->graph->tensors.data[t];
  const memory_life *life = &plan->profile.lives[t];
  if (report_plan_places(plan, t) && life->bytes) return NULL;
  if (life->counted && life->bytes)
    return "placed by the runtime, wherever it likes";
  const char *reason = absence_by_flags(plan, tensor->flags);
  if (reason) return reason;
  if (tensor->bytes == 0) return "needs no bytes";
  if (life->storage != t && plan->offsets[t] != UINT64_MAX)
    return "lies in the bytes of another tensor";
  if (is_elided(plan, t))
    return "lies wherever the operands of its concatenation do";
  return life->storage != t ? "another name for what is not in the arena"
                            : "touched by no operator";
}
