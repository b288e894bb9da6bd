/* A model's file under a patch, put together in memory, for tests of writers.
 */
#ifndef CALM_TESTS_WRITTEN_MODEL_H
#define CALM_TESTS_WRITTEN_MODEL_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/model.h"

typedef struct written {
  calm_status status;
  uint8_t *bytes; /* to be freed with free; NULL after a failure */
  size_t length;
} written;

static inline written written_model(const calm_model *model,
                                    const model_patch *patch) {
  file_pieces pieces = {0};
  written w = {CALM_OK, NULL, 0};
  arena a;
  arena_init(&a, model->context);
  w.status = model_pieces(&pieces, model, patch, &a);
  for (uint32_t i = 0; i < pieces.count; i++) w.length += pieces.data[i].length;
  if (w.status == CALM_OK) {
    w.bytes = malloc(w.length + 1);
    assert(w.bytes);
    w.length = 0;
    for (uint32_t i = 0; i < pieces.count; i++) {
      memcpy(w.bytes + w.length, pieces.data[i].bytes, pieces.data[i].length);
      w.length += pieces.data[i].length;
    }
  }
  VECTOR_FREE(model->context, &pieces);
  arena_free(&a);
  return w;
}

/* A patch of a model whose arrays live in `a`: every graph in its own order,
   nothing placed. */
static inline model_patch identity_patch(const calm_model *model, arena *a,
                                         model_plan_action plan) {
  const uint32_t count = model->graphs.count;
  const op_id **sequences = arena_calloc(a, count, sizeof *sequences);
  const uint64_t **offsets = arena_calloc(a, count, sizeof *offsets);
  assert(sequences && offsets);
  for (uint32_t i = 0; i < count; i++) {
    const graph *g = &model->graphs.data[i];
    op_id *sequence = arena_calloc(a, g->ops.count, sizeof *sequence);
    uint64_t *offset = arena_calloc(a, g->tensors.count, sizeof *offset);
    assert(sequence && offset);
    for (op_id u = 0; u < g->ops.count; u++) sequence[u] = g->order[u];
    for (tensor_id t = 0; t < g->tensors.count; t++) offset[t] = UINT64_MAX;
    sequences[i] = sequence;
    offsets[i] = offset;
  }
  return (model_patch){sequences, offsets, plan};
}

/* A random order of a graph that its edges allow. */
static inline void shuffle_order(op_id *out, const graph *g, random_state *r) {
  uint32_t *waiting = calloc((size_t)g->ops.count + 1, sizeof *waiting);
  op_id *ready = calloc((size_t)g->ops.count + 1, sizeof *ready);
  uint32_t count = 0, done = 0;
  assert(waiting && ready);
  for (op_id u = 0; u < g->ops.count; u++) {
    waiting[u] = g->pred_begin[u + 1] - g->pred_begin[u];
    if (waiting[u] == 0) ready[count++] = u;
  }
  while (count) {
    const uint32_t pick = random_below(r, count);
    const op_id u = ready[pick];
    ready[pick] = ready[--count];
    out[done++] = u;
    for (uint32_t i = g->succ_begin[u]; i < g->succ_begin[u + 1]; i++)
      if (--waiting[g->succs[i]] == 0) ready[count++] = g->succs[i];
  }
  assert(done == g->ops.count);
  free(waiting);
  free(ready);
}

/* Every graph in a random order, every tensor somewhere. */
static inline model_patch random_patch(const calm_model *model, arena *a,
                                       model_plan_action plan,
                                       random_state *r) {
  model_patch patch = identity_patch(model, a, plan);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    shuffle_order((op_id *)(uintptr_t)patch.sequences[i], g, r);
    for (tensor_id t = 0; t < g->tensors.count; t++)
      ((uint64_t *)(uintptr_t)patch.offsets[i])[t] =
          16 * (uint64_t)random_below(r, 1000);
  }
  return patch;
}

#endif
