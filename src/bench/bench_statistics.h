/*
 * What many figures come to.
 */
#ifndef CALM_BENCH_BENCH_STATISTICS_H
#define CALM_BENCH_BENCH_STATISTICS_H

#include "bench/bench.h"

/* All are NAN of nothing. */
double bench_geomean(const double *values, uint32_t count); /* of those > 0 */
double bench_mean(const double *values, uint32_t count);
double bench_median(double *values, uint32_t count); /* sorts them */

typedef struct bench_spread {
  double least, mean, most;
} bench_spread;
bench_spread bench_spread_of(const double *values, uint32_t count);

/* Three cells. */
void bench_add_spread(bench *b, bench_table *t, bench_spread s);

#endif
