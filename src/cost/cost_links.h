/*
 * What the array's network makes of a nest at least.  Timeloop lets every word
 * arrive wherever it is wanted in no time; in a mesh each transfer follows a
 * tree, along X and then along Y, and a link carries one word per cycle or so.
 * The most loaded link bounds the cycles from below.  No simulation: words per
 * link, counted from the nest's groups of multicast and reduction.
 */
#ifndef CALM_COST_COST_LINKS_H
#define CALM_COST_COST_LINKS_H

#include "cost/cost.h"

typedef struct cost_links {
  uint64_t words;  /* over the most loaded link, in the whole run */
  uint32_t level;  /* the level from which that mesh hangs */
  uint64_t cycles; /* no fewer, and not fewer than the result has */
} cost_links;

/* `r` is what cost_evaluate found for the valid nest `n`.  `words_per_cycle` of
   each link and direction.  docs/cost-model.md says what is assumed. */
calm_status cost_links_bound(cost_links *out, const cost_problem *p,
                             const accel_nest *n, const cost_result *r,
                             double words_per_cycle, arena *a);

#endif
