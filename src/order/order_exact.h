/*
 * The exact method: an order with the least peak and the proof that there is no
 * better one, or, stopped by a limit, the best order so far and a bound below
 * which no order can be.
 */
#ifndef CALM_ORDER_EXACT_H
#define CALM_ORDER_EXACT_H

#include "order/order.h"

/* As order_solve.  Exponential in the worst case, bounded by the limits. */
calm_status order_exact(order_result *out, const order_problem *p,
                        const order_options *options, arena *a, limits *l);

#endif
