/*
 * Levels that a tensor only passes through: their children's traffic comes from
 * the next outer level, times the fan-out unless it is multicast.
 */
#include "cost_case.h"

/* Four buffers that do not keep inputs: each would have been read 24 times; the
   global buffer serves all four at once. */
static void multicast_traffic_is_not_multiplied(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.kept[0] = ALL_KEPT & ~(1u << INPUTS);
  case_run(&c, COST_EXACT, "R3 | K4x P8 |");
  assert_false(case_tensor(&c, 0, INPUTS)->kept);
  assert_int_equal(case_tensor(&c, 0, INPUTS)->reads, 0);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 24);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->fills, 10);
  assert_close(case_flow(&c, 0, INPUTS)->ingresses, 24.0);
  case_close(&c);
}

/* Scattered traffic is. */
static void scattered_traffic_is_multiplied(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.kept[0] = ALL_KEPT & ~(1u << WEIGHTS);
  case_run(&c, COST_EXACT, "R3 | K4x P8 |");
  assert_int_equal(case_tensor(&c, 1, WEIGHTS)->reads, 96);
  c.kept[1] = c.kept[0];
  case_run(&c, COST_EXACT, "R3 | K4x P8 |");
  assert_int_equal(case_tensor(&c, 2, WEIGHTS)->reads, 96);
  assert_int_equal(case_tensor(&c, 2, WEIGHTS)->fills, 0);
  case_close(&c);
}

/* Halos: 10 words of inputs for tiles that hold 16 together.  Each of four
   instances would have been read 24 times; what is asked of the global buffer
   is 96 either way, in four equal shares. */
static void overlapping_tiles_are_all_fetched(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.kept[0] = ALL_KEPT & ~(1u << INPUTS);
  case_run(&c, COST_EXACT, "R3 P2 | P4x K4 |");
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 4 * 24);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->fills, 10);
  case_close(&c);
}

/* The innermost level that keeps a tensor nobody keeps further out starts with
   it: no fills, and no network above it. */
static void nothing_moves_above_the_outermost_keeper(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.kept[2] = ALL_KEPT & ~(1u << WEIGHTS);
  case_run(&c, COST_EXACT, "R3 | K4x P8 |");
  assert_int_equal(case_tensor(&c, 1, WEIGHTS)->fills, 0);
  assert_int_equal(case_tensor(&c, 1, WEIGHTS)->reads, 12);
  assert_int_equal(case_flow(&c, 2, WEIGHTS)->fanout, 0);
  assert_int_equal(case_flow(&c, 2, WEIGHTS)->group_count, 0);
  c.kept[1] = c.kept[2];
  case_run(&c, COST_EXACT, "R3 | K4x P8 |");
  assert_int_equal(case_tensor(&c, 0, WEIGHTS)->fills, 0);
  assert_int_equal(case_flow(&c, 1, WEIGHTS)->group_count, 0);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multicast_traffic_is_not_multiplied),
      cmocka_unit_test(scattered_traffic_is_multiplied),
      cmocka_unit_test(overlapping_tiles_are_all_fetched),
      cmocka_unit_test(nothing_moves_above_the_outermost_keeper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
