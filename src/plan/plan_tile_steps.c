/* What each part of planning bought, and the front for callers. */
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

/* ---- The front ----------------------------------------------------------- */

void plan_tiling_words(text *out, const tile_state *state) {
  if (state->count == 0) text_format(out, "none");
  for (uint32_t i = 0; i < state->count; i++) {
    if (i) text_format(out, ",");
    tile_print(out, &state->regions[i]);
  }
}

bool calm_plan_tiling(calm_tiling *out, const calm_plan *plan, uint32_t index) {
  const tile_choice *choice = &plan->tiling.choice;
  if (!plan->tiling.mode || index >= choice->front_count) return false;
  const tile_score *s = &choice->front[index].score;
  *out = (calm_tiling){.head_bytes = s->head_bytes,
                       .tail_bytes = s->tail_bytes,
                       .macs = s->macs,
                       .op_count = s->op_count,
                       .chosen = index == choice->chosen};
  return true;
}

calm_status calm_plan_tiles(char **out, const calm_plan *plan, uint32_t index) {
  text words;
  const tile_choice *choice = &plan->tiling.choice;
  if (!plan->tiling.mode || index >= choice->front_count)
    return context_fail(plan->context, CALM_MISUSE,
                        "the plan has no tiling number %u", index);
  text_init(&words, plan->context);
  plan_tiling_words(&words, &choice->front[index]);
  return text_finish(&words, out);
}
