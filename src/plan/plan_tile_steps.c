/* What each part of planning bought. */
#include <assert.h>

#include "graph/graph_window.h"
#include "plan/plan_rewrite_judge.h"
#include "plan/plan_tile.h"

/* ONNX Runtime's arena is what it asks for at its peak. */
static uint64_t head_of(const calm_plan *plan) {
  return plan_is_for(plan, "ort") ? plan_score_of(plan).arena_bytes
                                  : plan->summary.arena_bytes;
}

plan_step plan_step_of(const char *name, const calm_plan *plan) {
  const bool tail = plan_is_for(plan, "tflm");
  return (plan_step){.name = name,
                     .head_bytes = head_of(plan),
                     .tail_bytes = tail ? plan->runtime.tail.bytes : UINT64_MAX,
                     .macs = graph_macs(plan->graph),
                     .op_count = plan->graph->ops.count};
}

plan_step plan_step_before(const calm_plan *plan) {
  plan_step step = plan_step_of("as it is", plan);
  step.head_bytes = plan->summary.baseline_arena_bytes;
  if (plan_is_for(plan, "tflm"))
    step.tail_bytes = plan->runtime.default_tail.bytes;
  return step;
}

void plan_step_add(plan_tiling *t, plan_step step) {
  assert(t->step_count < PLAN_MOST_STEPS);
  t->steps[t->step_count++] = step;
}
