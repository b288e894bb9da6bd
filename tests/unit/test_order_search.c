#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order/order_search.h"
#include "order_random.h"

enum { ANY_WIDTH = 1 << 30 };

static order_verdict run(order_search *s, uint64_t tau, uint32_t width,
                         limits *l) {
  order_verdict verdict;
  const order_pass pass = {.tau = tau, .width = width};
  assert_int_equal(order_search_run(&verdict, s, &pass, l), CALM_OK);
  return verdict;
}

/* One verdict, checked against the optimum: an order within tau exactly if
   there is one, and a bound that is true and above tau if there is none. */
static void check_verdict(order_search *s, const order_problem *p, uint64_t tau,
                          uint64_t optimum, limits *l) {
  const order_verdict verdict = run(s, tau, ANY_WIDTH, l);
  if (tau >= optimum) {
    assert_int_equal(verdict, ORDER_REACHED);
    assert_true(order_referee_peak(p, s->sequence) <= tau);
  } else {
    assert_int_equal(verdict, ORDER_DEAD);
    assert_true(s->bound > tau && s->bound <= optimum);
  }
}

static void check_rules(const order_problem *p, uint64_t optimum, int rules,
                        arena *a, limits *l) {
  const order_options options = {.blocks = rules & 1, .commit = rules & 2};
  order_search s;
  assert_int_equal(order_search_init(&s, p, 1, &options, a), CALM_OK);
  const uint64_t least = s.core.start_bytes;
  for (uint64_t tau = optimum < 3 ? 0 : optimum - 3; tau <= optimum + 1; tau++)
    if (tau >= least) check_verdict(&s, p, tau, optimum, l);
  order_search_free(&s);
}

/* Both directions, with each rule on and off. */
static void check_problems(unsigned features, uint32_t count, uint64_t seed) {
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(seed);
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    limits l;
    limits_init(&l, context);
    order_problem p, backwards;
    const unsigned some = features & ~((unsigned)random_next(&r) & 31);
    assert_true(order_random_make(&p, &r, some, 2 + random_below(&r, 11), &a));
    assert_int_equal(order_problem_reverse(&backwards, &p, &a), CALM_OK);
    const uint64_t optimum = order_referee_optimum(&p);
    assert_int_equal(order_referee_optimum(&backwards), optimum);
    for (int rules = 0; rules < 4; rules++) {
      check_rules(&p, optimum, rules, &a, &l);
      check_rules(&backwards, optimum, rules, &a, &l);
    }
    arena_free(&a);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void every_verdict_is_true(void **state) {
  (void)state;
  check_problems(31, 1500, 1);
}

static void every_verdict_is_true_with_workspace(void **state) {
  (void)state;
  check_problems(31 | ORDER_RANDOM_WORKSPACE, 700, 2);
}

static void every_verdict_is_true_with_reuse(void **state) {
  (void)state;
  check_problems(31 | ORDER_RANDOM_REUSE, 700, 3);
}

static void every_verdict_is_true_with_both(void **state) {
  (void)state;
  check_problems(ORDER_RANDOM_ALL, 1000, 4);
}

/* A narrow pass may fail to find an order, but claims nothing false. */
static void narrow_passes_do_not_lie(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(5);
  uint32_t truncated = 0;
  for (uint32_t i = 0; i < 600; i++) {
    arena a;
    arena_init(&a, context);
    limits l;
    limits_init(&l, context);
    order_problem p;
    assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL, 12, &a));
    const uint64_t optimum = order_referee_optimum(&p);
    const order_options options = {.blocks = i & 1, .commit = i & 2};
    order_search s;
    assert_int_equal(order_search_init(&s, &p, 1, &options, &a), CALM_OK);
    for (uint64_t tau = optimum - 1; tau <= optimum + 1; tau++) {
      if (tau < s.core.start_bytes) continue;
      const order_verdict verdict = run(&s, tau, 1 + i % 3, &l);
      truncated += verdict == ORDER_TRUNCATED;
      if (verdict == ORDER_REACHED)
        assert_true(order_referee_peak(&p, s.sequence) <= tau);
      if (verdict == ORDER_DEAD) assert_true(s.bound <= optimum);
    }
    order_search_free(&s);
    arena_free(&a);
  }
  assert_true(truncated > 100);
  calm_context_free(context);
}

/* Independent pairs: 4 bytes between the two, 1 byte that stays.  The last pair
   to finish meets all other results. */
static order_problem make_pairs(uint32_t pairs, arena *a) {
  order_problem p = {.op_count = 2 * pairs, .buffer_count = 2 * pairs};
  p.buffers = arena_calloc(a, 2 * pairs, sizeof *p.buffers);
  p.touch_begin = arena_calloc(a, 2 * pairs + 1, sizeof *p.touch_begin);
  p.touch = arena_calloc(a, 3 * pairs, sizeof *p.touch);
  p.pred_begin = arena_calloc(a, 2 * pairs + 1, sizeof *p.pred_begin);
  p.preds = arena_calloc(a, pairs, sizeof *p.preds);
  p.workspace = arena_calloc(a, 2 * pairs, sizeof *p.workspace);
  for (uint32_t i = 0; i < pairs; i++) {
    p.buffers[2 * i] = (order_buffer){4, false, false};
    p.buffers[2 * i + 1] = (order_buffer){1, false, true};
    p.touch[3 * i] = 2 * i;
    p.touch[3 * i + 1] = p.touch[3 * i + 2] = 2 * i + 1;
    p.touch_begin[2 * i + 1] = 3 * i + 2;
    p.touch_begin[2 * i + 2] = 3 * i + 3;
    p.preds[i] = 2 * i;
    p.pred_begin[2 * i + 1] = i;
    p.pred_begin[2 * i + 2] = i + 1;
  }
  assert_int_equal(order_problem_finish(&p, a), CALM_OK);
  return p;
}

/* A narrow pass has room for 256 operators near a state; here 300 are. */
static void more_is_near_than_there_is_room(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  limits l;
  limits_init(&l, context);
  const uint32_t pairs = 150, optimum = pairs + 4;
  const order_problem p = make_pairs(pairs, &a);
  const order_options options = {.blocks = true, .commit = true};
  order_search s;
  assert_int_equal(order_search_init(&s, &p, 1, &options, &a), CALM_OK);
  order_verdict verdict = run(&s, 5000, 8, &l);
  assert_true(verdict == ORDER_REACHED || verdict == ORDER_TRUNCATED);
  assert_true(s.store.dropped > 0);
  verdict = run(&s, optimum - 1, 8, &l);
  assert_true(verdict == ORDER_TRUNCATED || verdict == ORDER_DEAD);
  verdict = run(&s, 5000, 75, &l);
  assert_int_equal(verdict, ORDER_REACHED);
  order_search_free(&s);
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_verdict_is_true),
      cmocka_unit_test(every_verdict_is_true_with_workspace),
      cmocka_unit_test(every_verdict_is_true_with_reuse),
      cmocka_unit_test(every_verdict_is_true_with_both),
      cmocka_unit_test(narrow_passes_do_not_lie),
      cmocka_unit_test(more_is_near_than_there_is_room)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
