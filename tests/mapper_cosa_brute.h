/*
 * CoSA's program by looking at all of its points: every way to put the prime
 * factors of a convolution at levels, over time or on a mesh, and every order
 * of the loops at the permutation level.  It is written from
 * docs/algorithms/mapper-cosa.md and shares nothing with the room; relevance is
 * a table of letters.
 */
#ifndef CALM_TESTS_MAPPER_COSA_BRUTE_H
#define CALM_TESTS_MAPPER_COSA_BRUTE_H

#include "mapper/mapper_cosa.h"

typedef struct mapper_cosa_brute {
  uint64_t points;          /* tilings that are allowed */
  double weighted, traffic; /* the least of each */
  double balance;           /* over all orders */
  double best_balance;      /* of each tiling only the order of least traffic */
} mapper_cosa_brute;

/* The problem's layer is this convolution; equal shares, no constraints. */
void mapper_cosa_brute_search(mapper_cosa_brute *out, const mapper_problem *p,
                              const mapper_cosa_options *o,
                              const accel_convolution *c);

#endif
