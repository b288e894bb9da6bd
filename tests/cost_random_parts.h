/*
 * What the files of the random cases share: a case while it is drawn.
 */
#ifndef CALM_TESTS_COST_RANDOM_PARTS_H
#define CALM_TESTS_COST_RANDOM_PARTS_H

#include <stdlib.h>

#include "cost_random.h"

typedef struct draft {
  random_state *r;
  const cost_random_options *options;
  arena *arena;
  cost_random_case *out;
} draft;

static inline uint32_t draft_below(draft *d, uint32_t bound) {
  return random_below(d->r, bound);
}

static inline bool draft_chance(draft *d, uint32_t percent) {
  return draft_below(d, 100) < percent;
}

static inline void *draft_take(draft *d, size_t count, size_t size) {
  void *out = arena_calloc(d->arena, count, size);
  if (!out) abort();
  return out;
}

/* "T3" */
const char *draft_name(draft *d, const char *letter, uint32_t number);

/* The layer, whose bounds are all 1 (cost_random_layer.c). */
void draft_layer(draft *d);

/* The machine, given layer and nest (cost_random_machine.c). */
void draft_machine(draft *d);

#endif
