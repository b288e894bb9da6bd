/*
 * Any nest can be judged, and what a valid one costs obeys the theorems of
 * tests/cost_theorems.c under `exact`; `timeloop` has an answer, too.  A small
 * one is walked by the referee, with the same result.  The first eight bytes
 * are the seed of a machine, a layer and a nest; each four that follow change
 * one loop, its bound, its last pass, its place or its level, or what a level
 * keeps, so that nests are bent until they break.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cost_check.h"
#include "cost_pieces.h"
#include "cost_theorems.h"
#include "demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEED_BYTES = 8, EDIT_BYTES = 4, MOST_EDITS = 64, MOST_WALKED = 2000 };

static void edit_loop(accel_loop *l, const cost_random_case *c, uint8_t what,
                      uint8_t value) {
  switch (what % 5) {
    case 0: l->bound = l->residual = 2 + value; break;
    case 1: l->residual = 1 + value % l->bound; break;
    case 2: l->level = value % c->nest.level_count; break;
    case 3: l->kind = (accel_loop_kind)(value % 3); break;
    default: l->dimension = value % c->layer.dimension_count; break;
  }
}

static void edit(cost_random_case *c, const uint8_t *bytes) {
  accel_nest *n = &c->nest;
  if (bytes[0] % 8 == 0) {
    const uint32_t all = (UINT32_C(1) << c->layer.tensor_count) - 1;
    n->kept[bytes[1] % n->level_count] = bytes[2] & all;
  } else if (n->loop_count) {
    edit_loop(&n->loops[bytes[1] % n->loop_count], c, bytes[2], bytes[3]);
  }
}

/* The layer that the loops make up, so that the nest is one of it; false if
   that is too much for any layer. */
static bool fit_layer(cost_random_case *c) {
  accel_layer *l = &c->layer;
  l->macs = 1;
  for (uint32_t d = 0; d < l->dimension_count; d++) {
    uint64_t made = 1;
    for (uint32_t k = c->nest.loop_count; k-- > 0;) {
      const accel_loop *loop = &c->nest.loops[k];
      if (loop->dimension != d) continue;
      if (made > ACCEL_MAX_COUNT / loop->bound) return false;
      made = (made - 1) * loop->bound + loop->residual;
    }
    if (l->macs > ACCEL_MAX_COUNT / made) return false;
    l->dimensions[d].bound = made;
    l->macs *= made;
  }
  return true;
}

/* Iterations and words that the referee would have to hold. */
static bool is_walkable(const cost_random_case *c) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS], iterations = 1;
  for (uint32_t d = 0; d < c->layer.dimension_count; d++) extents[d] = 1;
  for (uint32_t k = 0; k < c->nest.loop_count; k++) {
    extents[c->nest.loops[k].dimension] *= c->nest.loops[k].bound;
    iterations *= c->nest.loops[k].bound;
    if (iterations > MOST_WALKED) return false;
  }
  for (uint32_t t = 0; t < c->layer.tensor_count; t++)
    if (accel_tensor_words(&c->layer.tensors[t], extents) > 2 * MOST_WALKED)
      return false;
  return true;
}

static void try_case(const cost_random_case *c, random_state *r, arena *a) {
  demand(cost_theorems_broken(c, r, a) == NULL);
  if (!is_walkable(c)) return;
  demand(cost_check_exact(c, COST_FANOUT_CUMULATIVE, a) == NULL);
  const cost_options options = {.model = COST_TIMELOOP,
                                .fanout = COST_FANOUT_CUMULATIVE,
                                .networks = true};
  cost_check_evaluate(c, options, a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t seed = 0;
  if (size < SEED_BYTES) return 0;
  memcpy(&seed, data, SEED_BYTES);
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  arena a;
  arena_init(&a, context);
  random_state r = random_from_seed(seed);
  const cost_random_options options = {
      .most_macs = seed % 3 ? 500 : UINT64_C(1) << 30,
      .most_words = 4000,
      .imperfect = seed % 2};
  cost_random_case c;
  cost_random_make(&c, &r, &options, &a);
  size_t at = SEED_BYTES;
  for (; at + EDIT_BYTES <= size && at < SEED_BYTES + MOST_EDITS * EDIT_BYTES;
       at += EDIT_BYTES)
    edit(&c, data + at);
  cost_sort_loops(&c.nest);
  if (at == SEED_BYTES || fit_layer(&c)) try_case(&c, &r, &a);
  arena_free(&a);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
