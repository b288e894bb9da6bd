#include "bench/bench_statistics.h"

#include <math.h>
#include <stdlib.h>

double bench_geomean(const double *values, uint32_t count) {
  double sum = 0;
  uint32_t counted = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!(values[i] > 0)) continue;
    sum += log(values[i]);
    counted++;
  }
  return counted ? exp(sum / counted) : NAN;
}

double bench_mean(const double *values, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += values[i];
  return count ? sum / count : NAN;
}

static int by_value(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

double bench_median(double *values, uint32_t count) {
  if (!count) return NAN;
  qsort(values, count, sizeof *values, by_value);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

bench_spread bench_spread_of(const double *values, uint32_t count) {
  bench_spread s = {NAN, bench_mean(values, count), NAN};
  for (uint32_t i = 0; i < count; i++) {
    s.least = fmin(s.least, values[i]);
    s.most = fmax(s.most, values[i]);
  }
  return s;
}

void bench_add_spread(bench *b, bench_table *t, bench_spread s) {
  bench_number(b, t, s.least);
  bench_number(b, t, s.mean);
  bench_number(b, t, s.most);
}
