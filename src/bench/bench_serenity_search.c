/*
 * One search of an order: what it stored, how much it worked, how long it took.
 * Counts repeat; seconds are the median of several runs, and only measured if
 * they are to be told.
 */
#include "bench/bench_serenity_search.h"

enum { MOST_TICKS = 400000000, RUNS = 5 };
static const double ENOUGH_SECONDS = 1; /* for all runs of one search */

static calm_status run_once(order_result *out, double *out_seconds, bench *b,
                            const order_problem *p, const order_options *o,
                            arena *a) {
  limits l;
  bench_limits(&l, b, MOST_TICKS);
  const double start = limits_clock();
  TRY(order_solve(out, p, o, a, &l));
  *out_seconds = limits_clock() - start;
  bench_searched(b, l.reason);
  return CALM_OK;
}

static calm_status search(bench_search *out, bench *b, const order_problem *p,
                          const order_options *o, arena *a) {
  double seconds[RUNS], sum = 0;
  uint32_t runs = 0;
  order_result r;
  do {
    TRY(run_once(&r, &seconds[runs], b, p, o, a));
    sum += seconds[runs++];
  } while (b->timing && runs < RUNS && sum < ENOUGH_SECONDS);
  *out = (bench_search){.solved = r.outcome == CALM_OPTIMAL,
                        .peak_bytes = r.peak_bytes,
                        .states = r.states,
                        .ticks = r.ticks,
                        .segments = r.segments,
                        .seconds = bench_median(seconds, runs)};
  return CALM_OK;
}

calm_status bench_search_order(bench_search *out, bench *b,
                               const order_problem *p, const order_options *o) {
  arena scratch;
  arena_init(&scratch, b->context);
  calm_status status = search(out, b, p, o, &scratch);
  arena_free(&scratch);
  return status;
}

order_options bench_dp_options(bool cuts, bool budget) {
  order_options o = order_options_default();
  o.method = ORDER_DP;
  o.dp_cuts = cuts;
  o.dp_budget = budget;
  return o;
}
