/*
 * What the meshes below the levels make of a nest at least.  In the cost model
 * every word is where it is wanted in no time; on a mesh each transfer follows
 * a tree, along X and then along Y, and a link carries so many words a cycle
 * and direction.  The most loaded link bounds the cycles from below.  No
 * simulation: words per link follow from the counts of an evaluation, and from
 * which places of a fan-out want the same words.
 */
#ifndef CALM_COST_COST_LINKS_H
#define CALM_COST_COST_LINKS_H

#include "cost/cost.h"

/* The mesh that takes longest. */
typedef struct cost_links {
  uint64_t words;  /* over its most loaded link, in the whole run */
  uint32_t level;  /* the level from which it hangs; CALM_NONE: no link carries
                      anything */
  uint64_t cycles; /* that the link takes for them */
} cost_links;

/*
 * Words over the most loaded link, one way, of the mesh below each level:
 * words[level].  `r` is what cost_evaluate found for the valid nest `n`.  Where
 * there is nothing to go by, 0: imperfect nests, and tensors that neighbours
 * hand on.  docs/cost-model.md says what is assumed.  O(loops) for each tensor
 * and level, but O(places) where a window is spread over them.
 */
calm_status cost_links_count(uint64_t *words, const cost_problem *p,
                             const accel_nest *n, const cost_result *r);

/* Cycles that a link takes for them; at most ACCEL_MAX_COUNT. */
uint64_t cost_links_cycles(uint64_t words, double words_per_cycle);

/* Over all levels; a link of the mesh below level l carries rates[l] words a
   cycle, any number of them if that is 0.  Fan-outs within a processing element
   are meshes, too. */
cost_links cost_links_bound(const uint64_t *words, const double *rates,
                            uint32_t level_count);

#endif
