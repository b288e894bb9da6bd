/*
 * The result of evaluating loop nests on an accelerator, as the pipeline
 * (eval.c) fills it and the report room prints it.  It owns an arena, in which
 * machine, layer and nests lie.
 */
#ifndef CALM_EVAL_H
#define CALM_EVAL_H

#include "accel/accel_constraints.h"
#include "base/options.h"
#include "cost/cost_links.h"

enum { EVAL_MOST_NESTS = 2 };

/* The choices of --fanout: by the cost model, or a cost_fanout_rule, which
   follow in their order. */
enum { EVAL_FANOUT_AUTO, EVAL_FANOUT_RULES };

/* A nest and what it costs; figures mean something if `reason` is NULL. */
typedef struct eval_nest {
  const char *path; /* as given */
  accel_nest nest;
  cost_result result;
  const char *reason;   /* why it is not valid */
  bool breaks_rule;     /* the machine could run it, but a constraint forbids */
  uint64_t *link_words; /* per level, over its busiest link; NULL: not asked */
  cost_links links;     /* the level that takes longest for them */
  calm_evaluation_summary summary;
} eval_nest;

/* Was it too much for calm? */
static inline bool eval_nest_limited(const eval_nest *n) {
  return cost_fault_is_limit(n->result.verdict.fault);
}

struct calm_evaluation {
  calm_context *context;
  arena arena;
  accel_arch arch;
  accel_layer layer;
  cost_problem problem; /* its options hold the cost model */
  bool energy;          /* energies are known and wanted */
  options_changed changed;
  double *link_rates; /* per level: words a link of the mesh below carries per
                         cycle, 0 if any number; NULL: not asked */
  eval_nest nests[EVAL_MOST_NESTS];
  uint32_t nest_count;
};

#endif
