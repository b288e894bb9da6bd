/*
 * A good nest soon, without proof: from a start, factors move from loop to
 * loop, and loops past each other, as long as the nest becomes cheaper.  Some
 * microseconds a try.  It gives a stopped search its nest, and finds nests with
 * factors that do not divide their bounds.
 */
#ifndef CALM_MAPPER_MAPPER_CLIMB_H
#define CALM_MAPPER_MAPPER_CLIMB_H

#include "mapper/mapper.h"

typedef struct mapper_climbing {
  double most_cycles;     /* nests with more are of no use */
  uint64_t tries;         /* nests to be costed, at most */
  uint32_t starts;        /* besides the plain one, so many are drawn */
  bool imperfect;         /* factors need not divide */
  const accel_nest *from; /* a first start; NULL: none */
} mapper_climbing;

/* CALM_FEASIBLE with nest and value, or CALM_LIMIT if no nest was found.  With
   must_keep == may_keep, or else what `from` keeps. */
calm_status mapper_climb(mapper_result *out, const mapper_problem *p,
                         const mapper_climbing *how, limits *l, arena *a);

#endif
