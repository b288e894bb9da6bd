/*
 * The pieces that counts are made of, as a mapper would use them: words of
 * tiles, deliveries, energies of accesses, cycles.
 */
#include "cost_case.h"

#include "cost/cost_count.h"
#include "cost/cost_stream.h"

static void accesses_are_rounded_up_to_vectors(void **state) {
  (void)state;
  cost_store s = {.read_pj = 1, .write_pj = 10, .update_pj = 100};
  s.block = 8, s.block_shift = 3;
  assert_close(cost_access_energy(&s, 17, 16, 1), 3 + 20 + 100);
  s.block = 6, s.block_shift = CALM_NONE;
  assert_close(cost_access_energy(&s, 13, 12, 1), 3 + 20 + 100);
  s.block = 1, s.block_shift = 0;
  assert_close(cost_access_energy(&s, 3, 2, 1), 3 + 20 + 100);
}

static void the_tightest_bandwidth_decides(void **state) {
  (void)state;
  static const double ones[] = {1, 1};
  cost_store s = {.scales = ones};
  const cost_tensor tensors[] = {{.reads = 60, .fills = 30},
                                 {.reads = 40, .fills = 5, .updates = 5}};
  assert_true(cost_slowdown(&s, tensors, 2, 100, 1) == 1);
  s.throttles = true;
  s.read_bandwidth = 0.5;
  assert_close(cost_slowdown(&s, tensors, 2, 100, 1), 0.5);
  s.write_bandwidth = 0.1;
  assert_close(cost_slowdown(&s, tensors, 2, 100, 1), 0.25);
  s.shared_bandwidth = 0.14;
  assert_close(cost_slowdown(&s, tensors, 2, 100, 1), 0.1);
  /* Three instances named for each one in use: 20 + 14 and 10 + 4 words. */
  assert_close(cost_slowdown(&s, tensors, 2, 100, 3), 0.14 / 0.48);
  assert_true(cost_stretch(100, 1) == 100);
  assert_true(cost_stretch(100, 0.3) == 334);
}

static void deliveries_from_a_tile_and_the_loops_above(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  case_run(&c, COST_EXACT, "R3 | P8 K4 |");
  const cost_shape *inputs = &c.problem.scratch->tables.shapes[INPUTS];
  const uint32_t p = accel_layer_dimension(&c.layer, "P");
  const uint32_t r = accel_layer_dimension(&c.layer, "R");
  const uint32_t k = accel_layer_dimension(&c.layer, "K");
  double extents[7] = {1, 1, 1, 1, 1, 1, 1};
  extents[r] = 3;
  const double words = cost_words(inputs, extents);
  assert_true(words == 3);
  const cost_step steps[] = {{2, 1, 16, p}, {4, 1, 4, k}, {4, 2, 1, p}};
  assert_true(
      cost_delivered(inputs, extents, words, steps, 0, COST_VISIT_ALL) == 3);
  assert_true(cost_delivered(inputs, extents, words, steps, 1,
                             COST_VISIT_ALL) == 16 * 4);
  /* Once P has gone back, the next P2 K4 is no continuation. */
  assert_true(cost_delivered(inputs, extents, words, steps, 3,
                             COST_VISIT_ALL) == 16 * 4 - 2 * 3);
  case_close(&c);
}

/* The share of a tensor whose words, times those of a tile, pass 2^64. */
static void partitions_of_large_tensors(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  const accel_convolution shape = {1, 1, 1 << 20, 1 << 20, 1, 1 << 10,
                                   1, 1, 1,       1,       1, 1};
  assert_int_equal(accel_layer_convolution(&c.layer, "large", &shape, &c.arena),
                   CALM_OK);
  c.levels[0].capacity_words = c.levels[1].capacity_words = ACCEL_UNLIMITED;
  case_run(&c, COST_EXACT, "| K4x P1048576 Q1048576 K256 |");
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  assert_int_equal(case_tensor(&c, 1, OUTPUTS)->partition_words, UINT64_C(1)
                                                                     << 50);
  assert_int_equal(case_tensor(&c, 0, OUTPUTS)->partition_words, UINT64_C(1)
                                                                     << 48);
  case_run(&c, COST_EXACT, "P1048576 Q1048576 K256 | K4x |");
  assert_int_equal(case_tensor(&c, 0, OUTPUTS)->partition_words, UINT64_C(1)
                                                                     << 48);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accesses_are_rounded_up_to_vectors),
      cmocka_unit_test(the_tightest_bandwidth_decides),
      cmocka_unit_test(deliveries_from_a_tile_and_the_loops_above),
      cmocka_unit_test(partitions_of_large_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
