/*
 * Searches of orders, measured: figure 13 and table 2.
 */
#ifndef CALM_BENCH_BENCH_SERENITY_SEARCH_H
#define CALM_BENCH_BENCH_SERENITY_SEARCH_H

#include "bench/bench_serenity.h"

typedef struct bench_search {
  bool solved; /* with a proof, within 400 million ticks and the memory limit */
  uint64_t peak_bytes, states, ticks;
  uint32_t segments; /* that dynamic programming cut the problem into */
  double seconds;    /* median of five runs; of one without timing, where it is
                        not told */
} bench_search;

calm_status bench_search_order(bench_search *out, bench *b,
                               const order_problem *p, const order_options *o);

/* The paper's dynamic programming with divide and conquer, with budgets. */
order_options bench_dp_options(bool cuts, bool budget);

#endif
