#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order_check.h"
#include "order_fixture.h"

static void agrees_with_the_replay(void **state) {
  (void)state;
  random_state random = random_from_seed(3);
  for (int round = 0; round < 3000; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    uint32_t sequence[40];
    const uint32_t ops = 1 + random_below(&random, 40);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    random_order(sequence, &p, &random);
    uint64_t replayed, checked;
    assert_int_equal(order_replay(&replayed, &p, sequence, NULL, context),
                     CALM_OK);
    assert_int_equal(order_check(&checked, &p, sequence, context), CALM_OK);
    assert_int_equal(replayed, checked);
    arena_free(&a);
  }
}

/* Memory is highest where nothing runs: without operators. */
static void nothing_runs(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 0};
  build_buffer(&builder, 3, true, true);
  build_buffer(&builder, 4, true, false);
  build_buffer(&builder, 5, false, true);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  uint64_t peak = 0;
  assert_int_equal(order_check(&peak, &p, NULL, context), CALM_OK);
  assert_int_equal(peak, 3);
  assert_int_equal(order_replay(&peak, &p, NULL, NULL, context), CALM_OK);
  assert_int_equal(peak, 3);
  arena_free(&a);
}

static void faults_are_named(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 3};
  build_edge(&builder, 0, 2);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  static const struct {
    uint32_t sequence[3];
    const char *message;
  } bad[] = {
      {{0, 1, 3}, "step 2 of the order runs operator 3, but there are 3"},
      {{0, 1, 0}, "operator 0 runs at step 0 and again at step 2"},
      {{2, 1, 0}, "operator 2 runs before operator 0, which must precede it"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t peak = 77;
    assert_int_equal(order_check(&peak, &p, bad[i].sequence, context),
                     CALM_INTERNAL);
    assert_string_equal(calm_context_message(context), bad[i].message);
    assert_int_equal(peak, 77);
  }
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_replay),
                                     cmocka_unit_test(nothing_runs),
                                     cmocka_unit_test(faults_are_named)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
