/*
 * The best nest by looking at all of them: every way to write each bound as a
 * product over the places a loop can have, every order of the temporal loops of
 * each level, columns or rows, each costed by cost_evaluate if it observes the
 * constraints.  For layers of a few prime factors.
 */
#ifndef CALM_TESTS_MAPPER_BRUTE_H
#define CALM_TESTS_MAPPER_BRUTE_H

#include "mapper/mapper.h"

enum { MAPPER_BRUTE_POINTS = 256 };

typedef struct mapper_brute_point {
  double cycles, energy_pj;
} mapper_brute_point;

typedef struct mapper_brute {
  uint64_t nests, valid;
  bool complete; /* all of them; false: there were more than `most` */
  double energy_pj, cycles, edp; /* the least of each */
  double energy_at_cycles;       /* among the nests of least cycles */
  /* All that nothing beats in both, by rising cycles. */
  mapper_brute_point front[MAPPER_BRUTE_POINTS];
  uint32_t front_count;
} mapper_brute;

/* Needs must_keep == may_keep. */
calm_status mapper_brute_search(mapper_brute *out, const mapper_problem *p,
                                uint64_t most, arena *a);

/* The least value of any nest; not of a front. */
double mapper_brute_best(const mapper_brute *b, mapper_objective o);

/* Enters a point into the front, unless another is no worse. */
void mapper_brute_enter(mapper_brute *b, double cycles, double energy_pj);

#endif
