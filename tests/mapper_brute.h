/*
 * The best nest by looking at all of them: every way to write each bound as a
 * product over the places a loop can have, every order of the temporal loops of
 * each level, columns or rows, each costed by cost_evaluate if it observes the
 * constraints.  For layers of a few prime factors.
 */
#ifndef CALM_TESTS_MAPPER_BRUTE_H
#define CALM_TESTS_MAPPER_BRUTE_H

#include "mapper/mapper.h"

typedef struct mapper_brute {
  uint64_t nests, valid;
  bool complete; /* all of them; false: there were more than `most` */
  double energy_pj, cycles, edp; /* the least of each */
  double energy_at_cycles;       /* among the nests of least cycles */
} mapper_brute;

/* Needs must_keep == may_keep. */
calm_status mapper_brute_search(mapper_brute *out, const mapper_problem *p,
                                uint64_t most, arena *a);

#endif
