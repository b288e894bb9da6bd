#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order_check.h"
#include "order/order_dp.h"
#include "order/order_greedy.h"
#include "order_fixture.h"

static order_dp_trial try_budget(const order_problem *p, uint64_t budget,
                                 uint64_t step_ticks) {
  order_dp_trial trial;
  limits l;
  limits_init(&l, context);
  assert_int_equal(order_dp_try(&trial, NULL, p, budget, step_ticks, &l),
                   CALM_OK);
  return trial;
}

/* Below the optimum: none, with a bound above the budget and not above the
   optimum.  From the optimum on: the optimum. */
static void a_budget_proves_a_bound(void **state) {
  (void)state;
  random_state random = random_from_seed(9);
  for (int round = 0; round < 400; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 1 + random_below(&random, 9);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    const uint64_t best = solve_by_subsets(&p).peak;
    for (uint64_t budget = best > 12 ? best - 12 : 0; budget < best + 3;
         budget++) {
      const order_dp_trial trial = try_budget(&p, budget, UINT64_MAX);
      assert_int_equal(trial.outcome,
                       budget < best ? ORDER_DP_NONE : ORDER_DP_SOLUTION);
      if (budget < best) assert_true(trial.bound_bytes > budget);
      assert_true(trial.bound_bytes <= best);
      if (budget >= best) assert_int_equal(trial.peak_bytes, best);
    }
    arena_free(&a);
  }
}

/* The moves as the paper prints them, with real numbers rounded up or down. */
typedef struct printed_rule {
  uint64_t budget, remembered;
} printed_rule;

static void move_as_printed(printed_rule *rule, order_dp_outcome outcome,
                            uint64_t round_up) {
  if (outcome == ORDER_DP_TIMEOUT) {
    rule->remembered = rule->budget;
    rule->budget /= 2;
  } else {
    rule->budget = (rule->budget + rule->remembered + round_up) / 2;
  }
}

/*
 * Twelve independent operators that each swell to 3 and leave 1 meet in one.
 * Within the least peak nearly every subset of them may have run, so a layer
 * takes thousands of ticks; with 100 for each, every budget that has a solution
 * times out, every smaller one has none, and the printed rule goes round in a
 * circle.
 */
static void the_printed_rule_alternates_and_ours_ends(void **state) {
  (void)state;
  enum { STEP_TICKS = 100, WIDTH = 12 };
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = WIDTH + 1, .workspace = {0}};
  for (uint32_t u = 0; u < WIDTH; u++) {
    const uint32_t b = build_buffer(&builder, 1, false, false);
    builder.workspace[u] = 2;
    build_touch(&builder, b, u);
    build_touch(&builder, b, WIDTH);
    build_edge(&builder, u, WIDTH);
  }
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  const uint64_t best = solve_by_subsets(&p).peak;
  uint32_t kahn[WIDTH + 1];
  uint64_t kahn_peak;
  assert_int_equal(order_level(kahn, &p, context), CALM_OK);
  assert_int_equal(order_replay(&kahn_peak, &p, kahn, NULL, context), CALM_OK);

  for (uint64_t round_up = 0; round_up < 2; round_up++) {
    printed_rule rule = {kahn_peak, kahn_peak}, seen[64];
    uint32_t timeouts = 0;
    bool repeats = false;
    for (uint32_t i = 0; i < 64 && !repeats; i++) {
      seen[i] = rule;
      const order_dp_trial trial = try_budget(&p, rule.budget, STEP_TICKS);
      assert_int_not_equal(trial.outcome, ORDER_DP_SOLUTION);
      if (trial.outcome == ORDER_DP_TIMEOUT) timeouts++;
      move_as_printed(&rule, trial.outcome, round_up);
      for (uint32_t k = 0; k <= i; k++)
        if (seen[k].budget == rule.budget &&
            seen[k].remembered == rule.remembered)
          repeats = true;
    }
    assert_true(repeats); /* the same budget, the same memory: for ever */
    assert_true(timeouts > 0);
  }

  order_dp_trial trial;
  limits l;
  limits_init(&l, context);
  assert_int_equal(order_dp_adapt(&trial, NULL, &p, STEP_TICKS, &l), CALM_OK);
  assert_int_equal(trial.outcome, ORDER_DP_SOLUTION);
  assert_int_equal(trial.peak_bytes, best);
  arena_free(&a);
}

/* However little time the first trials get. */
static void adapting_ends_from_any_start(void **state) {
  (void)state;
  random_state random = random_from_seed(10);
  for (int round = 0; round < 500; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 1 + random_below(&random, 10);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    const uint64_t best = solve_by_subsets(&p).peak;
    for (uint64_t step_ticks = 0; step_ticks < 40; step_ticks += 5) {
      order_dp_trial trial;
      limits l;
      limits_init(&l, context);
      uint32_t sequence[16];
      assert_int_equal(order_dp_adapt(&trial, sequence, &p, step_ticks, &l),
                       CALM_OK);
      assert_int_equal(trial.outcome, ORDER_DP_SOLUTION);
      uint64_t peak;
      assert_int_equal(order_check(&peak, &p, sequence, context), CALM_OK);
      assert_int_equal(peak, best);
    }
    arena_free(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_budget_proves_a_bound),
      cmocka_unit_test(the_printed_rule_alternates_and_ours_ends),
      cmocka_unit_test(adapting_ends_from_any_start)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
