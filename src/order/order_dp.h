/*
 * The method of SERENITY (Ahn et al., Ordering Chaos: Memory-Aware Scheduling
 * of Irregularly Wired Neural Networks for Edge Devices, MLSys 2020): dynamic
 * programming over zero-indegree sets (order_dp_layers.c), divide and conquer
 * at cut points (order_dp_cuts.c), adaptive soft budgeting (order_dp_budget.c),
 * put together in order_dp.c.  Exact; as many states as there are down-sets in
 * the worst case.
 */
#ifndef CALM_ORDER_ORDER_DP_H
#define CALM_ORDER_ORDER_DP_H

#include "order/order_walk.h"

/* As order_solve. */
calm_status order_dp(order_result *out, const order_problem *p,
                     const order_options *options, arena *a, limits *l);

typedef enum order_dp_outcome {
  ORDER_DP_SOLUTION, /* an order within the budget, and no better one exists */
  ORDER_DP_NONE,     /* no order is within the budget */
  ORDER_DP_TIMEOUT,  /* a layer took more ticks than a layer may */
  ORDER_DP_STOPPED   /* by the limits */
} order_dp_outcome;

typedef struct order_dp_trial {
  order_dp_outcome outcome;
  uint64_t peak_bytes;  /* solution: the optimum */
  uint64_t bound_bytes; /* none: no order is below this, which is > budget */
  uint64_t states;      /* sets stored */
  uint64_t orders;      /* solution: orders within the budget, saturating */
} order_dp_trial;

/*
 * Algorithm 1 under a budget: look for the best order among those whose peak is
 * at most budget_bytes, giving up when one layer takes more than step_ticks.
 * UINT64_MAX for both is the algorithm without a budget; it then visits every
 * down-set.  out_sequence (NULL: not wanted) is written on a solution only.
 */
calm_status order_dp_try(order_dp_trial *out, uint32_t *out_sequence,
                         const order_problem *p, uint64_t budget_bytes,
                         uint64_t step_ticks, limits *l);

/*
 * Algorithm 2, made to end: try budgets until one yields a solution.  The first
 * trials may spend step_ticks per layer.  In `out` states is the sum of all
 * trials, bound_bytes is always valid, and the outcome is solution or stopped.
 */
calm_status order_dp_adapt(order_dp_trial *out, uint32_t *out_sequence,
                           const order_problem *p, uint64_t step_ticks,
                           limits *l);

/* Where every order of p can be cut: out_cuts[0] = 0 < ... < out_cuts[count] =
   op_count, and every order runs all operators below a cut before all others.
   Linear. */
calm_status order_dp_find_cuts(uint32_t **out_cuts, uint32_t *out_count,
                               const order_problem *p, arena *a);

/* Yields the parts between the cuts one after the other. */
typedef struct order_dp_parts {
  order_walk walk; /* stands before the next part */
  uint32_t next;   /* the first operator of the next part */
  uint32_t *local; /* scratch, per buffer */
} order_dp_parts;

calm_status order_dp_parts_begin(order_dp_parts *out, const order_problem *p,
                                 arena *a);

/* The operators from the last cut up to `end` as a problem of their own.  Its
   peak counts everything that is live meanwhile. */
calm_status order_dp_parts_next(order_problem *out, order_dp_parts *parts,
                                uint32_t end, arena *a);

#endif
