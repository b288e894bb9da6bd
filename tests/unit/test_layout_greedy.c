#include "test_layout.h"

#include "layout/layout_greedy.h"

static layout_result solve_by(const small_problem *s, layout_method method,
                              uint64_t *offsets) {
  calm_context *context = calm_context_new(NULL);
  layout_options o = layout_options_default();
  layout_result r;
  layout_fault fault;
  arena a;
  limits l;
  o.method = method;
  arena_init(&a, context);
  limits_init(&l, context);
  assert_int_equal(layout_solve(&r, &s->p, &o, &a, &l), CALM_OK);
  assert_false(is_faulty(&fault, &s->p, r.offsets, r.arena_bytes));
  for (uint32_t b = 0; b < s->p.body_count; b++) offsets[b] = r.offsets[b];
  arena_free(&a);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return r;
}

static void larger_first_and_later_of_equals_first(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 2, 8);
  small_add_box(&s, 0, 2, 8);
  small_add_box(&s, 1, 3, 9);
  assert_int_equal(solve_by(&s, LAYOUT_SIZE, at).arena_bytes, 25);
  assert_int_equal(at[2], 0);
  assert_int_equal(at[1], 9);
  assert_int_equal(at[0], 17);
}

static void the_lowest_gap_is_taken(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 0, 2, 9);
  small_add_box(&s, 1, 4, 8);
  small_add_box(&s, 2, 4, 7);
  solve_by(&s, LAYOUT_SIZE, at);
  assert_int_equal(at[1], 10);
  assert_int_equal(at[2], 19);
  assert_int_equal(at[3], 10); /* where the second one was */
}

static void fixed_bodies_are_gone_around(void **state) {
  (void)state;
  small_problem s;
  uint64_t at[MOST_BODIES];
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 0, 4, 4);
  s.bodies[1].fixed = true;
  s.bodies[1].offset = 6;
  s.bodies[0].align = 8;
  assert_int_equal(solve_by(&s, LAYOUT_SIZE, at).arena_bytes, 26);
  assert_int_equal(at[0], 16);
}

static void the_best_of_many_is_no_worse(void **state) {
  (void)state;
  random_state random = random_from_seed(13);
  int better = 0;
  for (int i = 0; i < 300; i++) {
    small_problem s;
    uint64_t at[MOST_BODIES];
    small_random(&s, (small_kind)(i % SMALL_KINDS), &random);
    layout_result size = solve_by(&s, LAYOUT_SIZE, at);
    layout_result best = solve_by(&s, LAYOUT_GREEDY, at);
    layout_result exact = solve_by(&s, LAYOUT_EXACT, at);
    assert_true(best.arena_bytes <= size.arena_bytes);
    assert_true(exact.arena_bytes <= best.arena_bytes);
    assert_true(best.bound_bytes <= exact.arena_bytes);
    better += best.arena_bytes < size.arena_bytes;
  }
  assert_true(better > 0);
}

/* With no ticks left one order is tried all the same. */
static void spent_limits_still_give_a_placement(void **state) {
  (void)state;
  small_problem s;
  random_state random = random_from_seed(2);
  small_random(&s, SMALL_TRICKY, &random);
  calm_context *context = calm_context_new(NULL);
  layout_options o = layout_options_default();
  layout_result r;
  layout_fault fault;
  arena a;
  limits l;
  arena_init(&a, context);
  limits_init(&l, context);
  l.max_ticks = 0;
  assert_int_equal(layout_solve(&r, &s.p, &o, &a, &l), CALM_OK);
  assert_false(is_faulty(&fault, &s.p, r.offsets, r.arena_bytes));
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(larger_first_and_later_of_equals_first),
      cmocka_unit_test(the_lowest_gap_is_taken),
      cmocka_unit_test(fixed_bodies_are_gone_around),
      cmocka_unit_test(the_best_of_many_is_no_worse),
      cmocka_unit_test(spent_limits_still_give_a_placement)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
