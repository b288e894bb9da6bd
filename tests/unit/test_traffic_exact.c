#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "traffic/traffic_exact.h"
#include "traffic_orders.h"

static calm_context *context;

static int set_up(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  return context == NULL;
}

static int tear_down(void **state) {
  (void)state;
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return 0;
}

enum { ANY_WIDTH = 1 << 24 };

/* Just above the optimum there is a solution, and at it there is none. */
static void check_rules(const traffic_core *core, const uint32_t *sequence,
                        uint64_t least, int rules, arena *a) {
  const traffic_options options = {
      .bound = rules & 1, .dominance = rules & 2, .commit = rules & 4};
  traffic_search s;
  limits l;
  traffic_verdict verdict;
  limits_init(&l, context);
  assert_int_equal(traffic_search_init(&s, core, sequence, &options, a),
                   CALM_OK);
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

static void check_problems(unsigned features, uint32_t count, uint64_t seed) {
  random_state r = random_from_seed(seed);
  uint32_t spilling = 0;
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    traffic_problem p;
    traffic_core core, fixed;
    const unsigned some = features & ~((unsigned)random_next(&r) & 31);
    const uint32_t n = 2 + random_below(&r, 5);
    assert_true(traffic_orders_make(&p, &r, some, n, &a));
    const uint64_t capacity = random_below(&r, some & ORDER_RANDOM_SIZED ? 40 : 8);
    uint32_t file[ORDER_RANDOM_MAX_OPS];
    for (uint32_t u = 0; u < n; u++) file[u] = u;
    assert_int_equal(traffic_core_build(&core, &p, capacity, &a), CALM_OK);
    assert_int_equal(traffic_core_build(&fixed, &p, capacity, &a), CALM_OK);
    traffic_core_fix(&fixed, file);
    const uint64_t least = traffic_orders_least(&p, capacity, NULL);
    const uint64_t filed = traffic_orders_least(&p, capacity, file);
    for (int rules = 0; rules < 8; rules++) {
      check_rules(&core, file, least, rules, &a);
      check_rules(&fixed, file, filed, rules, &a);
    }
    spilling += least > 0;
    arena_free(&a);
  }
  print_message("%u of %u spill\n", spilling, count);
  assert_true(spilling > count / 10);
}

static void every_rule_keeps_the_optimum(void **state) {
  (void)state;
  check_problems(31, 400, 1);
}

static void so_it_does_with_workspace_and_reuse(void **state) {
  (void)state;
  check_problems(ORDER_RANDOM_ALL, 800, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rule_keeps_the_optimum),
      cmocka_unit_test(so_it_does_with_workspace_and_reuse),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
