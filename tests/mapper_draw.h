/*
 * Small layers and machines at random for tests of mappers: a few prime
 * factors, windows of all kinds, levels that share and levels that do not,
 * bandwidths and blocks that round.
 */
#ifndef CALM_TESTS_MAPPER_DRAW_H
#define CALM_TESTS_MAPPER_DRAW_H

#include "base/random.h"
#include "mapper/mapper.h"

enum { MAPPER_DRAW_LEVELS = 4 };

typedef struct mapper_draw {
  accel_layer layer;
  accel_arch arch;
  accel_level levels[MAPPER_DRAW_LEVELS];
  uint32_t kept[MAPPER_DRAW_LEVELS];
} mapper_draw;

/* False without memory.  `out` points to itself: do not move it. */
bool mapper_draw_make(mapper_draw *out, random_state *r, arena *a);

#endif
