#include "base/number.h"
#include "traffic/traffic_exact.h"
#include "context_fixture.h"
#include "traffic_orders.h"

enum { ANY_WIDTH = 1 << 24, LARGER = CALM_SANITIZED ? 1000 : 4000 };

/* Just above the optimum there is a solution, and at it there is none. */
static void check_rules(const traffic_core *core, uint64_t least, int rules,
                        arena *a) {
  const traffic_options options = {.bound = rules & 1,
                                   .dominance = rules & 2,
                                   .commit = rules & 4,
                                   .exchange = rules & 8,
                                   .outlook = rules & 16};
  traffic_search s;
  limits l;
  traffic_verdict verdict;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, &options, a), CALM_OK);
  if (options.outlook) {
    assert_int_equal(traffic_search_look(&s, &l), CALM_OK);
    assert_true(s.looks || core->buffer_count == 0 ||
                core->bytes[core->buffer_count - 1] > core->capacity);
  }
  assert_true(traffic_search_root(&s, &l) <= least);
  for (int beam = 0; beam < 2; beam++)
    for (uint64_t ceiling = least; ceiling < least + 3; ceiling++) {
      assert_int_equal(
          beam ? traffic_search_beam(&verdict, &s, ceiling, ANY_WIDTH, &l)
               : traffic_search_best_first(&verdict, &s, ceiling, &l),
          CALM_OK);
      assert_int_equal(verdict,
                       ceiling > least ? TRAFFIC_REACHED : TRAFFIC_DEAD);
      assert_int_equal(s.least, least);
      if (ceiling > least) assert_int_equal(s.cost, least);
      if (ceiling > least)
        assert_true(order_referee_peak(core->problem->order, s.sequence) !=
                    UINT64_MAX);
    }
  traffic_search_free(&s);
}

/* Below the peak of the file order, mostly so that no operator streams. */
static uint64_t draw_capacity(random_state *r, const order_problem *p,
                              const uint32_t *file) {
  const uint64_t peak = order_referee_peak(p, file);
  const uint64_t working_set = order_working_set(p);
  if (order_random_chance(r, 25) || working_set >= peak)
    return random_below(r, (uint32_t)peak + 1);
  return working_set + random_below(r, (uint32_t)(peak - working_set));
}

static void check_problems(unsigned features, uint32_t count, uint64_t seed) {
  random_state r = random_from_seed(seed);
  uint32_t spilling = 0;
  if (CALM_SANITIZED) count /= 4;
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    traffic_problem p;
    traffic_core core, fixed;
    const unsigned some = features & ~((unsigned)random_next(&r) & 31);
    const uint32_t n = 4 + random_below(&r, 4);
    assert_true(traffic_orders_make(&p, &r, some, n, &a));
    uint32_t file[ORDER_RANDOM_MAX_OPS];
    for (uint32_t u = 0; u < n; u++) file[u] = u;
    const uint64_t capacity = draw_capacity(&r, p.order, file);
    assert_int_equal(traffic_core_build(&core, &p, capacity, &a), CALM_OK);
    assert_int_equal(traffic_core_build(&fixed, &p, capacity, &a), CALM_OK);
    traffic_core_hold(&fixed, file, NULL);
    assert_int_equal(traffic_core_close(&core, file, &a), CALM_OK);
    assert_int_equal(traffic_core_close(&fixed, file, &a), CALM_OK);
    const uint64_t least = traffic_orders_least(&p, capacity, NULL);
    const uint64_t filed = traffic_orders_least(&p, capacity, file);
    for (int rules = 0; rules < 32; rules++) {
      check_rules(&core, least, rules, &a);
      check_rules(&fixed, filed, rules, &a);
    }
    spilling += least > 0;
    arena_free(&a);
  }
  assert_true(spilling > count / 10);
}

static void every_rule_keeps_the_optimum(void **state) {
  (void)state;
  check_problems(31, 2000, 1);
}

static void so_it_does_with_workspace_and_reuse(void **state) {
  (void)state;
  check_problems(ORDER_RANDOM_ALL, 4000, 2);
}

static uint64_t solve(const traffic_core *core, traffic_options options,
                      arena *a) {
  traffic_search s;
  limits l;
  traffic_verdict verdict;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, &options, a), CALM_OK);
  if (options.outlook) assert_int_equal(traffic_search_look(&s, &l), CALM_OK);
  assert_int_equal(
      traffic_search_best_first(&verdict, &s, NUMBER_MAX_BYTES, &l), CALM_OK);
  assert_int_equal(verdict, TRAFFIC_REACHED);
  traffic_search_free(&s);
  return s.cost;
}

/* Too large to try all orders: the rules against each other. */
static void rules_agree_on_larger_problems(void **state) {
  (void)state;
  random_state r = random_from_seed(3);
  uint32_t spilling = 0;
  for (uint32_t i = 0; i < LARGER; i++) {
    arena a;
    arena_init(&a, context);
    traffic_problem p;
    traffic_core core;
    const unsigned some = ORDER_RANDOM_ALL & ~((unsigned)random_next(&r) & 255);
    const uint32_t n = 8 + random_below(&r, 4);
    assert_true(traffic_orders_make(&p, &r, some, n, &a));
    uint32_t file[ORDER_RANDOM_MAX_OPS];
    for (uint32_t u = 0; u < n; u++) file[u] = u;
    const uint64_t capacity = draw_capacity(&r, p.order, file);
    assert_int_equal(traffic_core_build(&core, &p, capacity, &a), CALM_OK);
    assert_int_equal(traffic_core_close(&core, file, &a), CALM_OK);
    const uint64_t least =
        solve(&core, (traffic_options){.dominance = true}, &a);
    assert_int_equal(
        solve(&core, (traffic_options){.dominance = true, .commit = true}, &a),
        least);
    assert_int_equal(
        solve(&core, (traffic_options){.bound = true, .commit = true}, &a),
        least);
    assert_int_equal(solve(&core, traffic_options_default(), &a), least);
    spilling += least > 0;
    arena_free(&a);
  }
  assert_true(spilling > LARGER / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rule_keeps_the_optimum),
      cmocka_unit_test(so_it_does_with_workspace_and_reuse),
      cmocka_unit_test(rules_agree_on_larger_problems),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
