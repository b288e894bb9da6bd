/*
 * How good is an arbitrary order?  The exact distribution of peaks: over all
 * topological orders, each as likely as any other, and over orders drawn as
 * Kahn's algorithm draws them that picks any ready operator with the same
 * chance.  By dynamic programming over down-sets, each with a list of the peaks
 * that lead to it: exact where sampling would see nothing, and exponential.
 */
#ifndef CALM_ORDER_ORDER_SPECTRUM_H
#define CALM_ORDER_ORDER_SPECTRUM_H

#include "order/order.h"

typedef struct order_spectrum_line {
  uint64_t peak_bytes;
  uint64_t orders;   /* with exactly this peak */
  double kahn_share; /* of random runs of Kahn's algorithm; they sum to 1 */
} order_spectrum_line;

typedef struct order_spectrum {
  order_spectrum_line *lines; /* by rising peak */
  uint32_t count;
  uint64_t orders;   /* sum over the lines */
  uint64_t downsets; /* states of the dynamic programming */
} order_spectrum;

/* *out_outcome is CALM_OPTIMAL, or CALM_LIMIT where a limit stopped it or a
   count does not fit 64 bits; `out` is then empty. */
calm_status order_spectrum_find(order_spectrum *out, calm_outcome *out_outcome,
                                const order_problem *p, arena *a, limits *l);

#endif
