#include "context_fixture.h"
#include "layout/layout_differences.h"
#include "layout_reliefs.h"

static layout_result solve(const layout_problem *p, layout_method method,
                           arena *a) {
  layout_result result;
  layout_fault fault;
  limits l;
  layout_options options = layout_options_default();
  options.method = method;
  limits_init(&l, context);
  l.max_ticks = 20000000;
  assert_int_equal(layout_differences_solve(&result, p, &options, a, &l),
                   CALM_OK);
  assert_int_equal(
      layout_check(&fault, p, result.offsets, result.arena_bytes, context),
      CALM_OK);
  assert_int_equal(fault.kind, LAYOUT_SOUND);
  assert_true(result.bound_bytes <= result.arena_bytes);
  assert_int_equal(result.outcome == CALM_OPTIMAL,
                   result.bound_bytes == result.arena_bytes);
  return result;
}

static void small_problems_agree_with_all_offsets(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  relief_problem s;
  for (int i = 0; i < 3000; i++) {
    arena a;
    arena_init(&a, context);
    relief_random(&s, &random);
    const uint64_t least = relief_least_arena(&s.p);
    const layout_result size = solve(&s.p, LAYOUT_SIZE, &a);
    const layout_result greedy = solve(&s.p, LAYOUT_GREEDY, &a);
    const layout_result exact = solve(&s.p, LAYOUT_EXACT, &a);
    assert_true(size.bound_bytes <= least && least <= size.arena_bytes);
    assert_true(greedy.bound_bytes <= least && least <= greedy.arena_bytes);
    assert_true(greedy.arena_bytes <= size.arena_bytes);
    assert_int_equal(exact.outcome, CALM_OPTIMAL);
    assert_int_equal(exact.arena_bytes, least);
    arena_free(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_agree_with_all_offsets),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
