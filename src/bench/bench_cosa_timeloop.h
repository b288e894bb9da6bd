/*
 * What Timeloop's own mapper found for CoSA's Simba: the file baselines.json of
 * the public cases, where they are ($CALM_CASES, else ../shared/cases).  Its
 * nests are costed by our evaluator, as everybody's are.
 */
#ifndef CALM_BENCH_BENCH_COSA_TIMELOOP_H
#define CALM_BENCH_BENCH_COSA_TIMELOOP_H

#include "bench/bench_cosa_compare.h"

/* Two series of the comparison, from Timeloop's `random` and its `hybrid`, for
   the layers that these have mapped; `there`: the file is. */
calm_status bench_timeloop_add(bench_comparison *c, bool *there, bench *b,
                               mapper_objective objective);
void bench_timeloop_note(bench *b, bench_table *t, bool there);

#endif
