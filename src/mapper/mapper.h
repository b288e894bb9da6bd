/*
 * Finding loop nests: of all nests of a layer that fit an architecture and its
 * constraints, one that costs least, with a proof.  Perfect factors.  The cost
 * is that of model `exact` (cost.h), and every nest that is handed out was
 * costed by cost_evaluate.  No command asks for it yet.
 */
#ifndef CALM_MAPPER_MAPPER_H
#define CALM_MAPPER_MAPPER_H

#include "accel/accel_constraints.h"
#include "base/limits.h"
#include "cost/cost.h"

typedef enum mapper_objective {
  MAPPER_ENERGY,
  MAPPER_DELAY,       /* cycles */
  MAPPER_EDP,         /* energy times cycles */
  MAPPER_DELAY_ENERGY /* least energy among those of least cycles */
} mapper_objective;

/* What nests there are: those that the constraints allow. */
typedef struct mapper_problem {
  const accel_arch *arch;
  const accel_layer *layer;
  const accel_constraints *constraints; /* NULL: none */
  /* Per level, bit t: tensor t has to be kept, may be kept.  A tensor that may
     but need not be kept is for the mapper to decide. */
  const uint32_t *must_keep, *may_keep;
  mapper_objective objective;
} mapper_problem;

/* Each pruning rule of the exact search can be left out: it then takes longer
   and finds nests of the same value. */
typedef struct mapper_rules {
  bool no_bound;     /* prune nothing by what completions cost at least */
  bool no_dominance; /* only labels that equal another are dropped */
} mapper_rules;

typedef struct mapper_result {
  calm_outcome outcome;
  accel_nest nest; /* unless infeasible, or nothing was found */
  cost_result cost;
  double value, bound; /* of the objective: pJ, cycles or pJ times cycles */
  uint64_t states;     /* labels */
  uint64_t rounds;     /* thresholds that were tried */
  const char *reason;  /* why there is none; NULL otherwise */
} mapper_result;

/*
 * A nest of least cost, with proof: dynamic programming over tiles, innermost
 * loop first (mapper_exact.c); what may but need not be kept is tried both ways
 * (mapper_bypass.c, up to twelve such places).  CALM_FEASIBLE, with the bound
 * that was reached, if the search was stopped, or if costs of hops, routers or
 * leakage, of which it only knows a bound, leave a gap.  For DELAY_ENERGY value
 * and bound are of the energy.  CALM_UNSUPPORTED: constraints other than keep
 * sets; several tensors that are written or have windows; windows of three
 * dimensions.  The result is in `a`; all else is freed.
 */
calm_status mapper_exact(mapper_result *out, const mapper_problem *p,
                         const mapper_rules *rules, limits *l, arena *a);

#endif
