/*
 * Factors that need not divide their bounds, in parts: what no nest can do
 * without (mapper_imperfect_bound.c), the nests of one keep set
 * (mapper_imperfect.c), and which keep sets are looked at
 * (mapper_imperfect_keeps.c), which begins and answers.
 */
#ifndef CALM_MAPPER_MAPPER_IMPERFECT_H
#define CALM_MAPPER_MAPPER_IMPERFECT_H

#include "mapper/mapper_exact.h"

/* What is asked for. */
typedef struct mapper_remainders {
  const mapper_problem *whole; /* whatever may be kept */
  const mapper_rules *rules;
  limits *limits;
  arena *arena; /* of results */
} mapper_remainders;

/* No nest has less of the objective, whichever keep set between must_keep and
   may_keep it has; DELAY_ENERGY: less energy.  0 if the search was stopped. */
calm_status mapper_imperfect_bound(double *out, const mapper_problem *p,
                                   limits *l, arena *scratch);

/* Goes on from the nest that *out has, if any, to others that keep what `kept`
   says.  A nest has its cost. */
calm_status mapper_imperfect_search(mapper_result *out,
                                    const mapper_remainders *q,
                                    const uint32_t *kept);

#endif
