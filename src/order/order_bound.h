/*
 * A lower bound on the peak of every order.  Where order_working_set looks at
 * what one operator touches, this one adds what else must be live when it runs:
 * the cheapest cut through the problem just before it.
 */
#ifndef CALM_ORDER_BOUND_H
#define CALM_ORDER_BOUND_H

#include "order/order_core.h"

/*
 * Raise *bound (scaled) by minimum cuts.  step_bytes[u], scaled, is what u
 * costs in some order with peak `peak`: no bound of u can be above it, so
 * operators at or below *bound are left out.  Ends early when *bound reaches
 * `peak`, or at a limit.  One maximum flow per operator; of large problems only
 * the hundred most expensive operators are tried.
 */
calm_status order_bound_flow(uint64_t *bound, const order_core *core,
                             const uint64_t *step_bytes, uint64_t peak,
                             limits *l, calm_context *context);

/* An order, what each operator costs in it, scaled, and its peak or less. */
typedef struct order_known {
  const uint32_t *sequence;
  const uint64_t *op_bytes; /* by operator */
  uint64_t peak;
} order_known;

/*
 * Raise *bound (scaled) by the cuts before whoever is the last, or the first,
 * of several operators.  Ends early when *bound reaches the known peak, at a
 * limit, or after about so many ticks.  One maximum flow per member.
 */
calm_status order_bound_groups(uint64_t *bound, const order_core *core,
                               const order_known *known, uint64_t ticks,
                               limits *l);

#endif
