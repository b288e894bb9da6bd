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
  small_problem s;
  for (int i = 0; i < 3000; i++) {
    arena a;
    arena_init(&a, context);
    relief_random(&s, &random);
    const uint64_t least = brute_arena(&s.p, 0);
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

/* Each layer has to slide down, for none can come above the one before. */
static void the_drift_of_a_chain_is_proved(void **state) {
  (void)state;
  relief_chain c;
  arena a;
  arena_init(&a, context);
  for (uint32_t layers = 2; layers < 20; layers++) {
    chain_even(&c, layers, 8000, 384);
    const layout_result r = solve(&c.p, LAYOUT_EXACT, &a);
    assert_int_equal(r.outcome, CALM_OPTIMAL);
    assert_int_equal(r.arena_bytes, 8000 + (layers - 1) * 384);
    assert_int_equal(solve(&c.p, LAYOUT_GREEDY, &a).arena_bytes, r.arena_bytes);
  }
  arena_free(&a);
}

/* Distances are met to the byte, and where they are negative, above. */
static void pairs_lie_as_close_as_they_may(void **state) {
  (void)state;
  static const struct {
    uint64_t input, output;
    int64_t distance;
    uint64_t arena_bytes;
  } rows[] = {{10, 10, 3, 13},  {10, 10, 0, 10}, {10, 10, -4, 10},
              {10, 4, 3, 13},   {4, 10, 3, 10},  {4, 10, 8, 12},
              {4, 10, -20, 10}, {10, 10, 10, 20}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    small_problem s;
    arena a;
    arena_init(&a, context);
    small_init(&s);
    small_add_body(&s);
    small_add_piece(&s, 0, 2, 0, rows[i].input);
    small_add_body(&s);
    small_add_piece(&s, 1, 3, 0, rows[i].output);
    small_add_relief(&s, 0, 1, rows[i].distance);
    const layout_result r = solve(&s.p, LAYOUT_EXACT, &a);
    assert_int_equal(r.arena_bytes, rows[i].arena_bytes);
    assert_int_equal(r.outcome, CALM_OPTIMAL);
    arena_free(&a);
  }
}

static void chains_are_placed_soundly(void **state) {
  (void)state;
  random_state random = random_from_seed(2);
  relief_chain c;
  int proved = 0;
  for (int i = 0; i < 60; i++) {
    arena a;
    arena_init(&a, context);
    chain_random(&c, 20 + random_below(&random, CHAIN_MOST - 20), &random);
    const layout_result greedy = solve(&c.p, LAYOUT_GREEDY, &a);
    const layout_result exact = solve(&c.p, LAYOUT_EXACT, &a);
    assert_true(exact.arena_bytes <= greedy.arena_bytes);
    assert_true(exact.bound_bytes >= greedy.bound_bytes);
    proved += exact.outcome == CALM_OPTIMAL;
    arena_free(&a);
  }
  assert_true(proved >= 57);
}

/* Bytes counted from above instead: every piece and distance from the end of
   its body.  An input that begins above an output ends above it then, by less
   or more as their lengths differ; with lengths equal, roles change. */
static void turn_chain(relief_chain *c) {
  for (uint32_t i = 0; i < c->p.relief_count; i++) {
    layout_relief *r = &c->reliefs[i];
    const int64_t in = (int64_t)c->pieces[r->input].high;
    const int64_t out = (int64_t)c->pieces[r->output].high;
    *r = (layout_relief){r->output, r->input, r->distance + in - out};
  }
}

static void upside_down_the_optimum_is_the_same(void **state) {
  (void)state;
  random_state random = random_from_seed(3);
  relief_chain c;
  for (int i = 0; i < 40; i++) {
    arena a;
    arena_init(&a, context);
    chain_random(&c, 25, &random);
    const layout_result one = solve(&c.p, LAYOUT_EXACT, &a);
    turn_chain(&c);
    const layout_result two = solve(&c.p, LAYOUT_EXACT, &a);
    assert_true(one.bound_bytes <= two.arena_bytes);
    assert_true(two.bound_bytes <= one.arena_bytes);
    if (one.outcome == CALM_OPTIMAL && two.outcome == CALM_OPTIMAL)
      assert_int_equal(one.arena_bytes, two.arena_bytes);
    arena_free(&a);
  }
}

static void without_reliefs_both_solvers_agree(void **state) {
  (void)state;
  random_state random = random_from_seed(4);
  int proved = 0;
  for (int i = 0; i < 200; i++) {
    relief_chain c;
    layout_result other;
    limits l;
    arena a;
    const layout_options options = layout_options_default();
    arena_init(&a, context);
    chain_random(&c, 4 + random_below(&random, 20), &random);
    c.p.relief_count = 0;
    limits_init(&l, context);
    l.max_ticks = 20000000;
    assert_int_equal(layout_solve(&other, &c.p, &options, &a, &l), CALM_OK);
    const layout_result own = solve(&c.p, LAYOUT_EXACT, &a);
    assert_true(own.bound_bytes <= other.arena_bytes);
    assert_true(other.bound_bytes <= own.arena_bytes);
    proved += own.outcome == CALM_OPTIMAL && other.outcome == CALM_OPTIMAL;
    arena_free(&a);
  }
  assert_true(proved >= 195);
}

static void fixed_bodies_that_collide_are_refused(void **state) {
  (void)state;
  for (int relieved = 0; relieved < 2; relieved++) {
    small_problem s;
    layout_result r;
    limits l;
    arena a;
    const layout_options options = layout_options_default();
    arena_init(&a, context);
    limits_init(&l, context);
    small_init(&s);
    for (int i = 0; i < 2; i++) {
      layout_body *body = small_add_body(&s);
      body->fixed = true;
      body->offset = i == 0 ? 3 : 0;
      small_add_piece(&s, i, i + 2, 0, 10);
    }
    small_add_relief(&s, 0, 1, relieved ? 3 : 4);
    assert_int_equal(layout_solve(&r, &s.p, &options, &a, &l),
                     relieved ? CALM_OK : CALM_BAD_INPUT);
    if (relieved) assert_int_equal(r.arena_bytes, 13);
    arena_free(&a);
  }
}

static void a_run_repeats_exactly(void **state) {
  (void)state;
  random_state random = random_from_seed(5);
  relief_chain c;
  arena a;
  arena_init(&a, context);
  for (int i = 0; i < 10; i++) {
    chain_random(&c, 40, &random);
    const layout_result one = solve(&c.p, LAYOUT_EXACT, &a);
    const layout_result two = solve(&c.p, LAYOUT_EXACT, &a);
    assert_int_equal(one.ticks, two.ticks);
    assert_memory_equal(one.offsets, two.offsets,
                        c.p.body_count * sizeof *one.offsets);
  }
  arena_free(&a);
}

/* The first order is finished whatever happens. */
static void limits_leave_a_placement(void **state) {
  (void)state;
  random_state random = random_from_seed(6);
  relief_chain c;
  arena a;
  arena_init(&a, context);
  chain_random(&c, 60, &random);
  for (uint64_t ticks = 0; ticks < 200000; ticks = 2 * ticks + 1) {
    layout_result r;
    layout_fault fault;
    limits l;
    const layout_options options = layout_options_default();
    limits_init(&l, context);
    l.max_ticks = ticks;
    assert_int_equal(layout_solve(&r, &c.p, &options, &a, &l), CALM_OK);
    assert_int_equal(
        layout_check(&fault, &c.p, r.offsets, r.arena_bytes, context), CALM_OK);
    assert_int_equal(fault.kind, LAYOUT_SOUND);
  }
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_problems_agree_with_all_offsets),
      cmocka_unit_test(the_drift_of_a_chain_is_proved),
      cmocka_unit_test(pairs_lie_as_close_as_they_may),
      cmocka_unit_test(chains_are_placed_soundly),
      cmocka_unit_test(upside_down_the_optimum_is_the_same),
      cmocka_unit_test(without_reliefs_both_solvers_agree),
      cmocka_unit_test(fixed_bodies_that_collide_are_refused),
      cmocka_unit_test(a_run_repeats_exactly),
      cmocka_unit_test(limits_leave_a_placement),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
