/*
 * Finding loop nests: of all nests of a layer that fit an architecture and its
 * constraints, one that costs little.  Four mappers: the exact one (least cost
 * under model `exact`, with a proof), CoSA's one-shot mixed-integer program
 * (mapper_cosa.h), and the two baselines that sample (mapper_sample.h).  Every
 * nest that is handed out was costed by cost_evaluate.
 */
#ifndef CALM_MAPPER_MAPPER_H
#define CALM_MAPPER_MAPPER_H

#include "accel/accel_constraints.h"
#include "base/limits.h"
#include "cost/cost.h"

typedef enum mapper_objective {
  MAPPER_ENERGY,
  MAPPER_DELAY,        /* cycles */
  MAPPER_EDP,          /* energy times cycles */
  MAPPER_DELAY_ENERGY, /* least energy among those of least cycles */
  MAPPER_PARETO,       /* every energy and delay that nothing beats in both;
                          the exact mapper only */
  MAPPER_BALANCE       /* CoSA only: as much traffic as compute */
} mapper_objective;

/* What is minimised, of a nest's cost: cycles, pJ times cycles, or else pJ. */
static inline double mapper_value_of(mapper_objective objective,
                                     const cost_result *cost) {
  if (objective == MAPPER_DELAY) return (double)cost->cycles;
  return objective == MAPPER_EDP ? cost->edp : cost->energy_pj;
}

/* What nests there are: those that the constraints allow. */
typedef struct mapper_problem {
  const accel_arch *arch;
  const accel_layer *layer;
  const accel_constraints *constraints; /* NULL: none */
  /* Per level, bit t: tensor t has to be kept, may be kept.  A tensor that may
     but need not be kept is for the mapper to decide. */
  const uint32_t *must_keep, *may_keep;
  mapper_objective objective;
  cost_options cost; /* what samples are judged by; the exact mapper knows
                        model `exact` only */
  bool imperfect;    /* factors need not divide their bounds (exact only) */
} mapper_problem;

/* Each pruning rule of the exact search can be left out: it then takes longer
   and finds nests of the same value. */
typedef struct mapper_rules {
  bool no_bound;     /* prune nothing by what completions cost at least */
  bool no_dominance; /* only labels that equal another are dropped */
} mapper_rules;

/* A nest that nothing beats in both energy and cycles. */
typedef struct mapper_point {
  accel_nest nest;
  cost_result cost;
} mapper_point;

typedef struct mapper_result {
  calm_outcome outcome;
  accel_nest nest; /* unless infeasible, or nothing was found */
  cost_result cost;
  const accel_layer *padded; /* the nest is of this layer; NULL: as given */
  double value;              /* of the objective: pJ, cycles, pJ times cycles;
                                PARETO: pJ of `nest` */
  double bound;              /* no nest has less; 0: none is known */
  uint64_t states;           /* exact: labels */
  uint64_t rounds;           /* exact: thresholds that were tried */
  uint64_t samples;          /* random, hybrid: nests drawn */
  uint64_t valid;            /* ... that were valid, and so evaluated */
  mapper_point *front; /* PARETO: by rising cycles; the first is also `nest` */
  uint32_t front_count;
  const char *reason; /* why there is none, or no proof; NULL otherwise */
} mapper_result;

/*
 * A nest of least cost, with proof: dynamic programming over tiles, innermost
 * loop first (mapper_exact.c); what may but need not be kept is tried both ways
 * (mapper_bypass.c).  CALM_FEASIBLE, with the bound that was reached, if the
 * search was stopped, or if too many nests differ only by rounding.  For
 * DELAY_ENERGY value and bound are of the energy.  For PARETO they are of the
 * energy of `nest`; of every nest there is, a point of the front has at most
 * value / bound times the energy and the cycles. With imperfect factors
 * (mapper_imperfect.c) the nest is never worse than the best perfect one, and
 * rarely proved; the bound is that of all keep sets. CALM_UNSUPPORTED: a front
 * of imperfect nests; several tensors that are written or have windows; windows
 * of three dimensions.  The result is in `a`; all else is freed.
 */
calm_status mapper_exact(mapper_result *out, const mapper_problem *p,
                         const mapper_rules *rules, limits *l, arena *a);

#endif
