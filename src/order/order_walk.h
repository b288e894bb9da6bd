/*
 * A walk through an order problem, operator by operator: which bytes are live
 * now, and how many while the next operator runs.  It can be taken back step by
 * step, so that look-ahead may try a few operators and undo them.  A step costs
 * the operator's buffers and reuses.
 */
#ifndef CALM_ORDER_ORDER_WALK_H
#define CALM_ORDER_ORDER_WALK_H

#include "order/order.h"

typedef struct order_walk {
  const order_problem *p;
  uint32_t *touchers_left; /* per buffer */
  uint64_t live_bytes;     /* between the last operator and the next */
} order_walk;

/* Stand before the first operator. */
calm_status order_walk_begin(order_walk *out, const order_problem *p, arena *a);

/* Run operator u, whose predecessors have run; the bytes while it runs. */
uint64_t order_walk_run(order_walk *w, uint32_t u);

/* Take back u, the operator run last. */
void order_walk_undo(order_walk *w, uint32_t u);

#endif
