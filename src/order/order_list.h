/*
 * One list schedule: always take the block (order_offers.h) that looks best
 * under a target.  Of those whose hill stays within the target the one that
 * leaves least live, and if none stays within it, the one with the lowest hill.
 * So target 0 fears the step, target UINT64_MAX fears what is left, and a
 * target just below the best peak known looks for a better one.
 */
#ifndef CALM_ORDER_ORDER_LIST_H
#define CALM_ORDER_ORDER_LIST_H

#include "order/order.h"

typedef struct order_rule {
  uint64_t target_bytes;
  uint64_t seed; /* shuffles ties; 0: the lower number first */
} order_rule;

/* Write an order; *out_finished is false if a limit stopped it midway, and then
   the order is incomplete.  About linear. */
calm_status order_list_schedule(uint32_t *out_sequence, bool *out_finished,
                                const order_problem *p, order_rule rule,
                                limits *l);

#endif
