/*
 * The two baselines that sample nests (CoSA, section 5; Timeloop's mapper):
 * `random` draws prime factors and orders uniformly and takes the best of the
 * first valid nests; `hybrid` draws tilings and goes through their orders, one
 * of each kind that matters, until so many valid nests in a row were no better.
 */
#ifndef CALM_MAPPER_MAPPER_SAMPLE_H
#define CALM_MAPPER_MAPPER_SAMPLE_H

#include "mapper/mapper.h"

typedef struct mapper_sampling {
  uint64_t seed;
  uint64_t valid;   /* stop after so many valid nests; UINT64_MAX: never */
  uint64_t victory; /* hybrid: ... after so many in a row that are no better */
  uint64_t samples; /* ... after so many nests drawn; UINT64_MAX: never */
} mapper_sampling;

/* CALM_FEASIBLE with the best nest, CALM_LIMIT if none was valid. */
calm_status mapper_random(mapper_result *out, const mapper_problem *p,
                          const mapper_sampling *s, limits *l, arena *a);
calm_status mapper_hybrid(mapper_result *out, const mapper_problem *p,
                          const mapper_sampling *s, limits *l, arena *a);

#endif
