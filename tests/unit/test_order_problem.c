#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/number.h"
#include "order_fixture.h"

/* 0 makes a (5); 1 turns a into b (3); 2 reads a and makes c (4), an output. */
static void small_problem(order_problem *p, arena *a) {
  builder = (problem_builder){.op_count = 3, .workspace = {0, 7, 0}};
  const uint32_t x = build_buffer(&builder, 5, false, false);
  const uint32_t y = build_buffer(&builder, 3, false, false);
  const uint32_t z = build_buffer(&builder, 4, false, true);
  build_touch(&builder, x, 2);
  build_touch(&builder, x, 0);
  build_touch(&builder, x, 1);
  build_touch(&builder, y, 1);
  build_touch(&builder, z, 2);
  build_edge(&builder, 0, 2);
  build_edge(&builder, 0, 1);
  build_edge(&builder, 0, 2);
  builder.reuses[builder.reuse_count++] = (order_reuse){2, x, z, 4};
  assert_int_equal(build_problem(p, &builder, a), CALM_OK);
}

static void derived_arrays(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  small_problem(&p, &a);
  assert_int_equal(p.uses_begin[3], 5);
  assert_int_equal(p.uses_begin[2] - p.uses_begin[1], 2);
  assert_int_equal(p.uses[p.uses_begin[1]], 0);
  assert_int_equal(p.uses[p.uses_begin[1] + 1], 1);
  assert_int_equal(p.succ_begin[1], 2);
  assert_int_equal(p.succs[0], 1);
  assert_int_equal(p.succs[1], 2);
  assert_int_equal(p.level[0], 0);
  assert_int_equal(p.level[2], 1);
  assert_int_equal(p.reuse_begin[2], 0);
  assert_int_equal(p.reuse_begin[3], 1);
  arena_free(&a);
}

static void replay_by_hand(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  small_problem(&p, &a);
  uint64_t peak, steps[3];
  const uint32_t file[] = {0, 1, 2}, other[] = {0, 2, 1};
  assert_int_equal(order_replay(&peak, &p, file, steps, context), CALM_OK);
  assert_int_equal(steps[0], 5);
  assert_int_equal(steps[1], 5 + 3 + 7);
  assert_int_equal(steps[2], 5 + 4 - 4); /* x dies here, z takes its place */
  assert_int_equal(peak, 15);
  assert_int_equal(order_replay(&peak, &p, other, steps, context), CALM_OK);
  assert_int_equal(steps[1], 5 + 4); /* x is still needed */
  assert_int_equal(steps[2], 5 + 4 + 3 + 7);
  assert_int_equal(peak, 19);
  arena_free(&a);
}

static void mirrored_twice_is_the_same(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  for (int round = 0; round < 300; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p, back, again;
    const uint32_t n = 1 + random_below(&random, 12);
    build_random(&builder, n, WITH_WORKSPACE | WITH_REUSE, &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    assert_int_equal(order_problem_reverse(&back, &p, &a), CALM_OK);
    assert_int_equal(order_problem_reverse(&again, &back, &a), CALM_OK);
    assert_memory_equal(p.preds, again.preds,
                        p.pred_begin[n] * sizeof *p.preds);
    assert_memory_equal(p.touch, again.touch,
                        p.touch_begin[p.buffer_count] * sizeof *p.touch);
    assert_memory_equal(p.level, again.level, n * sizeof *p.level);
    uint32_t sequence[12], mirrored[12];
    uint64_t peak, peak_back;
    random_order(sequence, &p, &random);
    for (uint32_t i = 0; i < n; i++) mirrored[i] = n - 1 - sequence[n - 1 - i];
    assert_int_equal(order_replay(&peak, &p, sequence, NULL, context), CALM_OK);
    assert_int_equal(order_replay(&peak_back, &back, mirrored, NULL, context),
                     CALM_OK);
    assert_int_equal(peak, peak_back);
    arena_free(&a);
  }
}

static void the_mirror_image_has_the_same_optimum(void **state) {
  (void)state;
  random_state random = random_from_seed(2);
  for (int round = 0; round < 300; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p, back;
    build_random(&builder, 1 + random_below(&random, 9),
                 WITH_WORKSPACE | WITH_REUSE, &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    assert_int_equal(order_problem_reverse(&back, &p, &a), CALM_OK);
    const order_answer x = solve_by_subsets(&p), y = solve_by_subsets(&back);
    assert_int_equal(x.peak, y.peak);
    assert_int_equal(x.downsets, y.downsets);
    assert_int_equal(x.orders, y.orders);
    arena_free(&a);
  }
}

static void bytes_beyond_all_machines_are_bad_input(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 1};
  build_buffer(&builder, NUMBER_MAX_BYTES, true, true);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  builder.workspace[0] = 1;
  assert_int_equal(build_problem(&p, &builder, &a), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(context), "exceed"));
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derived_arrays), cmocka_unit_test(replay_by_hand),
      cmocka_unit_test(mirrored_twice_is_the_same),
      cmocka_unit_test(the_mirror_image_has_the_same_optimum),
      cmocka_unit_test(bytes_beyond_all_machines_are_bad_input)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
