#include "bench/bench_statistics.h"
#include "bench_fixture.h"

static void means_leave_out_what_has_none(void **state) {
  (void)state;
  assert_float_equal(bench_geomean((double[]){2, 8}, 2), 4, 1e-5);
  assert_float_equal(bench_geomean((double[]){2, 0, NAN, -1, 8}, 5), 4, 1e-5);
  assert_true(isnan(bench_geomean((double[]){0, NAN}, 2)));
  assert_true(isnan(bench_geomean(NULL, 0)));
  assert_true(bench_mean((double[]){1, 2, 6}, 3) == 3);
  assert_true(isnan(bench_mean(NULL, 0)));
}

static void medians(void **state) {
  (void)state;
  double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
  assert_true(bench_median(odd, 3) == 2);
  assert_true(bench_median(even, 4) == 2.5);
  assert_true(isnan(bench_median(odd, 0)));
}

static void spreads(void **state) {
  (void)state;
  const bench_spread s = bench_spread_of((double[]){4, 1, -2, 5}, 4);
  assert_true(s.least == -2 && s.mean == 2 && s.most == 5);
  const bench_spread none = bench_spread_of(NULL, 0);
  assert_true(isnan(none.least) && isnan(none.mean) && isnan(none.most));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_leave_out_what_has_none),
      cmocka_unit_test(medians), cmocka_unit_test(spreads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
