/*
 * The parts of the memory pipeline: what plan.c strings together and the other
 * plan_*.c do.  Everything taken on the way lies in the planner's scratch and
 * is gone after the run; what the plan keeps lies in the plan's own arena.
 */
#ifndef CALM_PLANNER_H
#define CALM_PLANNER_H

#include "pipeline.h"

/* Everything one run of the pipeline works with. */
typedef struct planner {
  calm_plan *plan;
  const graph *g;
  const calm_options *options;
  const uint64_t *body_arenas;
  memory_problem problem;
  arena *scratch;
} planner;

/* An order of the order problem, with the arena it gets. */
typedef struct plan_candidate {
  uint32_t *order_sequence; /* of order operators */
  op_id *sequence;          /* of graph operators */
  memory_placement placement;
  layout_result layout;
} plan_candidate;

/* Is another order than the one that was found as good an answer?  Not where
   the user asked for the order of a certain method. */
bool plan_order_is_free(const planner *p);

/* Place what lives under an order.  Belongs to the planner's scratch. */
calm_status plan_place(plan_candidate *out, const planner *p,
                       const uint32_t *order_sequence,
                       const layout_options *options, limits *l);

/* Walk over orders whose peak is no higher than the plan's; `best` becomes the
   one with the least arena.  Ends at an arena of `target_bytes`. */
calm_status plan_try_orders(plan_candidate *best, const planner *p,
                            uint64_t target_bytes, limits *l);

/* Fill the plan: order, profile, offsets, outcomes, summary. */
calm_status plan_record(planner *p, const plan_candidate *c);

#endif
