/*
 * Bounds with large prime factors could not be split, so that layers had poor
 * mappings or none: ucb-bar/cosa, DeepBench's 341 x 79 and 151, and
 * ucb-bar/dosa, 568 = 8 * 71.  They are raised, and the result is of what they
 * are raised to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mapper/mapper_cosa_program.h"

static void bounds(void **state) {
  static const uint64_t rows[][3] = {
      /* bound, largest prime, raised to */
      {341, 7, 343}, {79, 7, 80},   {151, 7, 160}, {568, 7, 576},
      {388, 7, 392}, {97, 7, 98},   {11, 7, 12},   {11, 11, 11},
      {55, 7, 56},   {512, 7, 512}, {79, 0, 79},   {79, 3, 81}};
  calm_context *context = calm_context_new(NULL);
  arena a;
  (void)state;
  arena_init(&a, context);
  for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const accel_convolution c = {3, 3, rows[i][0], 8, 1, 16, 1, 1, 2, 2, 1, 1};
    const accel_layer *padded;
    accel_layer layer;
    assert_int_equal(accel_layer_convolution(&layer, "l", &c, &a), CALM_OK);
    assert_int_equal(mapper_cosa_pad(&padded, &layer, rows[i][1], &a), CALM_OK);
    assert_int_equal(padded->dimensions[2].bound, rows[i][2]);
    assert_int_equal(padded->macs, 9 * rows[i][2] * 8 * 16);
    assert_int_equal(layer.dimensions[2].bound, rows[i][0]);
    assert_true(padded == &layer || rows[i][0] != rows[i][2]);
  }
  /* Where numbers of small factors are far apart. */
  accel_layer layer;
  const accel_layer *padded;
  assert_int_equal(
      accel_layer_gemm(&layer, "g", UINT64_C(1000000000039), 1, 1, &a),
      CALM_OK);
  assert_int_equal(mapper_cosa_pad(&padded, &layer, 7, &a), CALM_OK);
  assert_int_equal(padded->dimensions[0].bound, UINT64_C(1000188000000));
  arena_free(&a);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
