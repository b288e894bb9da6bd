/*
 * CoSA (Huang et al., ISCA 2021): one mixed-integer program per layer, in
 * logarithms of prime factors, solved by HiGHS.  Its optimum is that of its own
 * objective, not of the cost model; the nest it yields is costed, and repaired
 * or refused if it does not fit.  docs/algorithms/mapper-cosa.md says how every
 * choice that two readers of the paper would make differently is settled.
 */
#ifndef CALM_MAPPER_MAPPER_COSA_H
#define CALM_MAPPER_MAPPER_COSA_H

#include "mapper/mapper.h"

typedef enum mapper_cosa_form {
  MAPPER_COSA_RELEASED, /* as the authors' code has it */
  MAPPER_COSA_PAPER     /* equations 1 to 12 */
} mapper_cosa_form;

/* minimise  traffic * T + compute * C - utilization * U */
typedef struct mapper_cosa_weights {
  double compute, traffic, utilization;
} mapper_cosa_weights;
extern const mapper_cosa_weights mapper_cosa_released; /* 10, 1, 0.1 */

typedef struct mapper_cosa_options {
  mapper_cosa_form form;
  bool literal; /* one binary per prime factor, level and kind; else equal
                   primes are one integer */
  mapper_cosa_weights weights;
  uint64_t pad;     /* larger prime factors are padded away; 0: none is */
  const char *dump; /* write the program to this MPS file; NULL: do not */
  /* Per level and tensor, [level * tensors + tensor]; NULL: as the form says */
  const double *shares;        /* of the level that the tensor may fill */
  const double *level_weights; /* in the utilization */
} mapper_cosa_options;

/* What the solution is worth in the program's own terms (logarithms to base 2,
   as in Figure 8 of the paper). */
typedef struct mapper_cosa_terms {
  double utilization, compute, traffic;
  double objective, bound; /* what was minimised, and the solver's bound */
  bool allowed;            /* is the nest one that the program could yield? */
} mapper_cosa_terms;

/* Objectives: ENERGY minimises traffic alone, BALANCE |traffic - compute|, each
   weighted; DELAY, EDP and DELAY_ENERGY the weighted sum.  CALM_INTERNAL if the
   solver is missing or fails. */
calm_status mapper_cosa(mapper_result *out, mapper_cosa_terms *terms,
                        const mapper_problem *p, const mapper_cosa_options *o,
                        limits *l, arena *a);

/* The terms of any nest: what the program would say of it. */
calm_status mapper_cosa_measure(mapper_cosa_terms *out, const mapper_problem *p,
                                const mapper_cosa_options *o,
                                const accel_nest *n, arena *a);

/* Weights that predict the delay on this machine: fitted to sampled nests of
   eight synthetic layers.  The problem's layer gives the names. */
calm_status mapper_cosa_calibrate(mapper_cosa_weights *out,
                                  const mapper_problem *p,
                                  const mapper_cosa_options *o, uint64_t seed,
                                  limits *l, arena *a);

#endif
