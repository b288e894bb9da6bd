#include "check_claims.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static calm_status warn(calm_verdict *v, tensor_id t, text *words) {
  char *composed;
  TRY(text_finish(words, &composed));
  const char *copy = arena_string(&v->arena, composed, strlen(composed));
  calm_text_free(v->context, composed);
  if (!copy) return context_no_memory(v->context);
  memory_fault found = {"claim", t, CALM_NONE, copy};
  VECTOR_PUSH(v->context, &v->verdict.warnings, found);
  return CALM_OK;
}

static calm_status compare_step(calm_verdict *v, tensor_id t, const char *which,
                                uint64_t claimed, uint32_t step) {
  text words;
  if (claimed == UINT64_MAX || claimed == step) return CALM_OK;
  text_init(&words, v->context);
  text_format(&words,
              "the plan says that tensor '%s' is %s alive at step %" PRIu64
              "; in its order that is step %" PRIu32,
              v->model->graphs.data[0].tensors.data[t].name, which, claimed,
              step);
  return warn(v, t, &words);
}

static calm_status compare_lives(calm_verdict *v, const memory_plan *plan,
                                 const memory_profile *profile) {
  const uint32_t count = v->model->graphs.data[0].tensors.count;
  for (tensor_id t = 0; t < count; t++) {
    const memory_life *life = &profile->lives[t];
    if (!life->counted) continue;
    TRY(compare_step(v, t, "first", plan->claims[t].first, life->first));
    TRY(compare_step(v, t, "last", plan->claims[t].last, life->last));
  }
  return CALM_OK;
}

/* Where the runtime's kernels ask for scratch that only a plan knows of, the
   peak does not follow from the graph. */
static calm_status compare_peak(calm_verdict *v, const memory_plan *plan,
                                const memory_profile *profile) {
  text words;
  if (plan->claimed_peak_bytes == UINT64_MAX ||
      plan->claimed_peak_bytes == profile->peak_bytes ||
      v->memory.subgraphs == SUBGRAPHS_TFLM)
    return CALM_OK;
  text_init(&words, v->context);
  text_format(&words,
              "the plan says that the peak of its order is %" PRIu64
              " bytes; it is %" PRIu64,
              plan->claimed_peak_bytes, profile->peak_bytes);
  return warn(v, CALM_NONE, &words);
}

static bool is_order(const memory_verdict *verdict) {
  for (uint32_t i = 0; i < verdict->faults.count; i++)
    if (!strcmp(verdict->faults.data[i].kind, "order")) return false;
  return true;
}

calm_status check_claims(calm_verdict *v, const memory_plan *plan,
                         const uint64_t *body_arenas) {
  memory_profile profile;
  if (!is_order(&v->verdict)) return CALM_OK;
  TRY(memory_simulate(&profile, &v->model->graphs.data[0], &v->memory,
                      body_arenas, plan->sequence, &v->arena));
  TRY(compare_lives(v, plan, &profile));
  return compare_peak(v, plan, &profile);
}
