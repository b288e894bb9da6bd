/*
 * Whoever judges choices of sites of one graph: the least peak of a choice, the
 * arena that it gets, and the part of the graph that matters to both.  The
 * search among sites (rewrite_search) asks it.  Each question makes a graph of
 * its own, which is gone with the answer, and costs a search of its order.
 */
#ifndef CALM_PLAN_REWRITE_JUDGE_H
#define CALM_PLAN_REWRITE_JUDGE_H

#include "plan/plan_rewrite.h"
#include "rewrite/rewrite_search.h"

struct plan_judge {
  calm_context *context;
  const calm_model *model; /* whose entry has the sites */
  const rewrite_sites *sites;
  const plan_target *target;
  const calm_options *options;
  calm_options quick; /* the same, with less effort */
  memory_model memory;
  uint64_t *body_arenas;
  uint32_t *parts; /* per operator of the graph; see plan_rewrite_parts */
  /* Choices that differ from this one in one part only (CALM_NONE: none is
     known) need no more than that elsewhere. */
  uint32_t focus;
  bool *focus_taken;
  uint64_t elsewhere_bytes;
  limits *l;
};

/* Everything it needs but the target and `quick`; `a` outlives it. */
calm_status plan_judge_init(plan_judge *out, const calm_model *model,
                            const rewrite_sites *sites,
                            const plan_target *target,
                            const calm_options *options, limits *l, arena *a);
rewrite_judge plan_judge_of(plan_judge *j);

/* No choice of sites has a lower peak: the largest working set of an operator
   that is as it was when all sites are taken. */
calm_status plan_judge_floor(uint64_t *out, const plan_judge *j);

/* Per operator the part of the graph that it is in.  In any order, whatever is
   rewritten, the parts run one after the other, and what a part needs depends
   on the sites in it only. */
calm_status plan_rewrite_parts(uint32_t **out, const rewrite_sites *sites,
                               arena *a);

/* The order problem of one part; part_of per operator of `p`. */
calm_status plan_focus(order_problem *out, const order_problem *p,
                       const uint32_t *part_of, uint32_t part, arena *a);

/* The least peak of a choice, within the judge's effort. */
calm_status plan_judge_peak(rewrite_peak *out, const plan_judge *j,
                            const bool *taken, uint64_t ceiling);

/* The round that a choice makes, with its sums in a good order, which may take
   `patience` times the effort of a question. */
calm_status plan_judge_round(plan_round **out, const plan_judge *j,
                             const bool *taken, uint32_t patience);

/* What a plan comes to. */
rewrite_score plan_score_of(const calm_plan *plan);

/* Operators of the graph that a choice makes, as they are executed. */
calm_status plan_count_ops(uint32_t *out, const plan_judge *j,
                           const bool *taken);

#endif
