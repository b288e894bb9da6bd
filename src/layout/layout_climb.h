/*
 * A good placement soon: first fit in several orders, from below and from
 * above, and from the best of them uphill: what carries the highest body is
 * moved to another place in the order.
 */
#ifndef CALM_LAYOUT_LAYOUT_CLIMB_H
#define CALM_LAYOUT_LAYOUT_CLIMB_H

#include "base/random.h"
#include "layout/layout_fit.h"

/* What orders look at: places by first step and by last, and logarithms. */
typedef struct climb_facts {
  int64_t early, late, size, duration, burden;
} climb_facts;

/* From below or from above: the best order that was listed, then climbed. */
typedef struct climb_way {
  layout_fit fit;
  bool turned;
  int64_t *keys; /* of the order to climb from */
  int64_t least; /* its arena */
} climb_way;

typedef struct layout_climb {
  const layout_bars *bars;
  limits *l;
  layout_bars turned;
  climb_way ways[2];
  uint32_t way_count;
  climb_facts *facts;
  int64_t enough;         /* an arena of at most this many bytes ends it */
  int64_t *keys, *offset; /* scratch */
  int64_t *best;          /* offsets */
  int64_t best_arena;
  random_state random;
} layout_climb;

/* Places by first fit in descending size, from below. */
calm_status layout_climb_make(layout_climb *out, const layout_bars *bars,
                              uint64_t seed, arena *a, limits *l);

/* All other orders, from below and from above. */
void layout_climb_orders(layout_climb *c);

/* Climb for so many ticks, until `enough` is reached, or to the limits. */
void layout_climb_run(layout_climb *c, uint64_t ticks);

#endif
