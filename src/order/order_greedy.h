/*
 * Orders without a proof, in about linear time: the file's own, by depth, depth
 * first, and a list scheduler that looks ahead.  They are the first incumbents
 * of the exact methods and the baselines people compare with.  Each writes
 * op_count operators to out_sequence.
 */
#ifndef CALM_ORDER_ORDER_GREEDY_H
#define CALM_ORDER_ORDER_GREEDY_H

#include "order/order.h"

/* 0, 1, 2, ... */
void order_file(uint32_t *out_sequence, const order_problem *p);

/* Kahn's order by longest-path depth, ties by number. */
calm_status order_level(uint32_t *out_sequence, const order_problem *p,
                        calm_context *context);

/* Depth first from the sinks, the operand that needs most memory first (Sethi
   and Ullman 1970, in bytes). */
calm_status order_dfs(uint32_t *out_sequence, const order_problem *p,
                      calm_context *context);

/* The best of the three above: what a search begins with that will soon find
   better ones itself. */
calm_status order_fixed_best(uint32_t *out_sequence, const order_problem *p,
                             limits *l);

/*
 * The best of the above and of several list schedules, forwards and backwards;
 * fewer of them unless options->method is ORDER_GREEDY, for then a search goes
 * on from here.  Never fails for lack of ticks or time: it then yields the best
 * so far.
 */
calm_status order_greedy(uint32_t *out_sequence, const order_problem *p,
                         const order_options *options, limits *l);

#endif
