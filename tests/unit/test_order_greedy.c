#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order_check.h"
#include "order/order_greedy.h"
#include "order/order_list.h"
#include "order_fixture.h"

static order_result solve(const order_problem *p, order_method method,
                          arena *a) {
  order_result r;
  limits l;
  limits_init(&l, context);
  order_options options = order_options_default();
  options.method = method;
  assert_int_equal(order_solve(&r, p, &options, a, &l), CALM_OK);
  uint64_t peak;
  assert_int_equal(order_check(&peak, p, r.sequence, context), CALM_OK);
  assert_int_equal(peak, r.peak_bytes);
  return r;
}

/* Valid, between bound and file order where promised, and never below the
   optimum; "optimal" only where that is true. */
static void random_problems(void **state) {
  (void)state;
  random_state random = random_from_seed(4);
  uint64_t excess = 0;
  for (int round = 0; round < 800; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 1 + random_below(&random, 11);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    const order_answer best = solve_by_subsets(&p);
    uint64_t file = 0;
    for (int method = ORDER_FILE; method <= ORDER_GREEDY; method++) {
      const order_result r = solve(&p, (order_method)method, &a);
      assert_true(r.bound_bytes <= best.peak && best.peak <= r.peak_bytes);
      assert_int_equal(r.outcome == CALM_OPTIMAL,
                       r.peak_bytes == r.bound_bytes);
      if (method == ORDER_FILE) file = r.peak_bytes;
      if (method != ORDER_GREEDY) continue;
      assert_true(r.peak_bytes <= file);
      if (r.peak_bytes > best.peak) excess++;
    }
    arena_free(&a);
  }
  assert_true(excess < 800 / 20); /* greedy finds the optimum nearly always */
}

/* Each single rule gives a valid order, and the same one each time. */
static void every_rule_is_valid_and_repeats(void **state) {
  (void)state;
  random_state random = random_from_seed(5);
  static const uint64_t targets[] = {0, 8, 20, 40, UINT64_MAX};
  for (int round = 0; round < 150; round++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 1 + random_below(&random, 60);
    build_random(&builder, ops, random_below(&random, 8), &random);
    assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
    uint32_t first[60], second[60];
    for (size_t i = 0; i < 10; i++) {
      const order_rule rule = {targets[i / 2], i % 2};
      limits l;
      bool finished;
      uint64_t peak;
      limits_init(&l, context);
      assert_int_equal(order_list_schedule(first, &finished, &p, rule, &l),
                       CALM_OK);
      assert_true(finished);
      assert_int_equal(order_check(&peak, &p, first, context), CALM_OK);
      assert_int_equal(order_list_schedule(second, &finished, &p, rule, &l),
                       CALM_OK);
      assert_memory_equal(first, second, p.op_count * sizeof *first);
    }
    arena_free(&a);
  }
}

/* Two branches off one source; the narrow result of the wide one is wanted
   first.  Sethi and Ullman's rule finds it whatever the numbering. */
static void depth_first_begins_with_the_hungry_operand(void **state) {
  (void)state;
  static const case_node nodes[] = {NODE(1, 0),  NODE(6, 0), NODE(4, 1),
                                    NODE(90, 0), NODE(1, 3), NODE(1, 2, 4)};
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 0};
  const uint32_t input = build_buffer(&builder, 1, true, true);
  build_nodes(&builder, nodes, 6, input, CALM_NONE);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  const order_result r = solve(&p, ORDER_DFS, &a);
  static const uint32_t expected[] = {2, 3, 0, 1, 4};
  assert_memory_equal(r.sequence, expected, sizeof expected);
  assert_int_equal(r.peak_bytes, 92);
  assert_int_equal(solve(&p, ORDER_FILE, &a).peak_bytes, 96);
  arena_free(&a);
}

static void by_depth(void **state) {
  (void)state;
  static const case_node nodes[] = {NODE(1, 0), NODE(1, 0), NODE(1, 1),
                                    NODE(1, 0), NODE(1, 2, 3)};
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){.op_count = 0};
  const uint32_t input = build_buffer(&builder, 1, true, false);
  build_nodes(&builder, nodes, 5, input, CALM_NONE);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  static const uint32_t expected[] = {0, 2, 1, 3};
  const order_result r = solve(&p, ORDER_LEVEL, &a);
  assert_memory_equal(r.sequence, expected, sizeof expected);
  arena_free(&a);
}

/* A chain of 20,000, and 20,000 branches between a source and a sink: no
   recursion, no quadratic loop that would be noticed here. */
static void large_problems(void **state) {
  (void)state;
  enum { N = 20000 };
  for (int wide = 0; wide < 2; wide++) {
    arena a;
    arena_init(&a, context);
    order_problem p = {.op_count = N, .buffer_count = N};
    p.buffers = arena_calloc(&a, N, sizeof *p.buffers);
    p.touch_begin = arena_calloc(&a, N + 1, sizeof(uint32_t));
    p.touch = arena_calloc(&a, 3 * N, sizeof(uint32_t));
    p.pred_begin = arena_calloc(&a, N + 1, sizeof(uint32_t));
    p.preds = arena_calloc(&a, 3 * N, sizeof(uint32_t));
    p.workspace = arena_calloc(&a, N, sizeof(uint64_t));
    uint32_t touches = 0, preds = 0;
    for (uint32_t u = 0; u < N; u++) {
      p.buffers[u].bytes = 1 + u % 7;
      p.touch[touches++] = u;
      if (!wide && u + 1 < N) p.touch[touches++] = u + 1;
      for (uint32_t v = 1; wide && u == 0 && v < N - 1; v++)
        p.touch[touches++] = v;
      if (wide && u > 0 && u < N - 1) p.touch[touches++] = N - 1;
      p.touch_begin[u + 1] = touches;
      if (u > 0 && !(wide && u == N - 1)) p.preds[preds++] = wide ? 0 : u - 1;
      for (uint32_t v = 1; wide && u == N - 1 && v < N - 1; v++)
        p.preds[preds++] = v;
      p.pred_begin[u + 1] = preds;
    }
    assert_int_equal(order_problem_finish(&p, &a), CALM_OK);
    limits l;
    bool finished;
    uint64_t peak;
    uint32_t *sequence = arena_calloc(&a, N, sizeof *sequence);
    limits_init(&l, context);
    assert_int_equal(
        order_list_schedule(sequence, &finished, &p, (order_rule){0, 0}, &l),
        CALM_OK);
    assert_true(finished);
    assert_int_equal(order_replay(&peak, &p, sequence, NULL, context), CALM_OK);
    assert_int_equal(peak, order_working_set(&p));
    assert_int_equal(order_dfs(sequence, &p, context), CALM_OK);
    assert_int_equal(order_replay(&peak, &p, sequence, NULL, context), CALM_OK);
    assert_int_equal(peak, order_working_set(&p));
    arena_free(&a);
  }
}

/* Stopped at any tick, greedy still answers. */
static void any_limit_leaves_an_order(void **state) {
  (void)state;
  random_state random = random_from_seed(6);
  arena a;
  arena_init(&a, context);
  order_problem p;
  build_random(&builder, 40, 0, &random);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  order_options options = order_options_default();
  options.method = ORDER_GREEDY;
  for (uint64_t ticks = 0; ticks < 400; ticks += 7) {
    limits l;
    order_result r;
    uint64_t peak;
    limits_init(&l, context);
    l.max_ticks = ticks;
    assert_int_equal(order_solve(&r, &p, &options, &a, &l), CALM_OK);
    assert_int_equal(order_check(&peak, &p, r.sequence, context), CALM_OK);
    assert_int_equal(peak, r.peak_bytes);
    assert_int_equal(r.stopped,
                     r.outcome == CALM_OPTIMAL ? LIMITS_NONE : LIMITS_TICKS);
  }
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_problems),
      cmocka_unit_test(every_rule_is_valid_and_repeats),
      cmocka_unit_test(depth_first_begins_with_the_hungry_operand),
      cmocka_unit_test(by_depth),
      cmocka_unit_test(large_problems),
      cmocka_unit_test(any_limit_leaves_an_order)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
