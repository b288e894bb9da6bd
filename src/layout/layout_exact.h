/*
 * Improvement to proof: from a first placement to the best one, and to a bound
 * that shows it.
 */
#ifndef CALM_LAYOUT_LAYOUT_EXACT_H
#define CALM_LAYOUT_LAYOUT_EXACT_H

#include "layout/layout_greedy.h"

/*
 * Lower best->arena_bytes (with its offsets) and raise *bound until they meet,
 * the target is reached, or the limits are spent.  `p` is tidy; *nodes counts
 * search nodes.
 */
calm_status layout_exact_improve(layout_placement *best, uint64_t *bound,
                                 uint64_t *nodes, const layout_problem *p,
                                 const layout_options *options, limits *l);

#endif
