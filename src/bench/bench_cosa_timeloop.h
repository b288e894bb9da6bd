/*
 * What Timeloop's own mapper found for CoSA's Simba: the file baselines.json of
 * the public cases, where they are ($CALM_CASES, else ../shared/cases).  Its
 * nests are costed by our evaluator, as everybody's are.
 */
#ifndef CALM_BENCH_BENCH_COSA_TIMELOOP_H
#define CALM_BENCH_BENCH_COSA_TIMELOOP_H

#include "bench/bench_cosa_compare.h"

/* `search` is "random" or "hybrid".  Layers that it did not map, or all if
   there is no such file, are NAN; `there` tells which.  `out` has its names. */
calm_status bench_timeloop_fill(bench_series *out, bool *there,
                                const char *search, mapper_objective objective,
                                const bench_layers *layers,
                                calm_context *context);

#endif
