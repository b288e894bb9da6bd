/*
 * Series-parallel problems without a search.  Parts that stand beside each
 * other are merged by their hills and valleys: of an order of operators only
 * the stretches count in which memory climbs a hill and comes to rest in a
 * valley, and merging those of all parts by one rule is optimal (Liu 1987 for
 * trees; Abdel-Wahab and Kameda 1978 for series-parallel orders) where it is
 * settled which operator frees each buffer.  Where several might, settling it
 * by force yields a bound for every order, and choosing well yields an order.
 */
#ifndef CALM_ORDER_SERIES_H
#define CALM_ORDER_SERIES_H

#include "order/order.h"

/*
 * Lower *peak_bytes with a better order, which goes into `sequence`, and raise
 * *bound_bytes, which no order is below.  `sequence` begins with any order, and
 * *peak_bytes with its peak.  Nothing changes if the problem's precedence is
 * not series-parallel.  About n log n, with a factor for how deep parts are
 * nested.
 */
calm_status order_series(uint32_t *sequence, uint64_t *peak_bytes,
                         uint64_t *bound_bytes, const order_problem *p,
                         limits *l);

#endif
