/*
 * A window: some consecutive operators of an order, as an order problem of its
 * own.  What is before and after it stays as it is, so that a better order of
 * the window is a better one there of the whole.  Long orders have many peaks;
 * most of them are mended by a window of a few dozen operators, for a fraction
 * of what a pass through the whole takes.
 */
#ifndef CALM_ORDER_WINDOW_H
#define CALM_ORDER_WINDOW_H

#include "order/order.h"

/* The window of sequence[from .. to); its operator i is sequence[from + i].
   `out` lives in the arena and does not need `p`.  Linear in `p`. */
calm_status order_window_cut(order_problem *out, const order_problem *p,
                             const uint32_t *sequence, uint32_t from,
                             uint32_t to, arena *a);

/*
 * Search windows around the peaks of a sequence for orders below the peak, and
 * put those in that are found, until the peak is at the bound or so many ticks
 * are spent.  held_bytes count towards the memory limit; a window that exceeds
 * it is given up.
 */
calm_status order_windows_search(uint32_t *sequence, uint64_t bound_bytes,
                                 const order_problem *p,
                                 const order_options *options, uint64_t ticks,
                                 uint64_t held_bytes, limits *l);

#endif
