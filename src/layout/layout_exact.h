/*
 * Improvement to proof: from a first placement to the best one, and to a bound
 * that shows it.
 */
#ifndef CALM_LAYOUT_LAYOUT_EXACT_H
#define CALM_LAYOUT_LAYOUT_EXACT_H

#include "layout/layout_greedy.h"

/* What is known about the least arena. */
typedef struct layout_knowledge {
  layout_placement best;
  uint64_t bound_bytes;
  uint64_t nodes; /* of all searches */
} layout_knowledge;

/*
 * Lower k->best and raise k->bound_bytes until they meet, the target is
 * reached, or the limits are spent.  `p` is tidy.
 */
calm_status layout_exact_improve(layout_knowledge *k, const layout_problem *p,
                                 const layout_options *options, limits *l);

#endif
