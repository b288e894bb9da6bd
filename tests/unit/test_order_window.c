/* Windows of orders: what they cost is what the whole costs there, and the
   search in them only improves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order/order_exact.h"
#include "order/order_window.h"
#include "order_random.h"

typedef void check_fn(const order_problem *p, random_state *r, arena *a);

static void check_problems(check_fn *check, uint32_t count, uint32_t ops,
                           uint64_t seed) {
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(seed);
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    assert_true(order_random_make(&p, &r, ORDER_RANDOM_ALL,
                                  2 + random_below(&r, ops - 1), &a));
    check(&p, &r, &a);
    arena_free(&a);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Any order: the smallest ready operators, with dice. */
static uint32_t *random_order(const order_problem *p, random_state *r,
                              arena *a) {
  uint32_t *order = arena_calloc(a, p->op_count, sizeof *order);
  bool *has_run = arena_calloc(a, p->op_count, sizeof *has_run);
  for (uint32_t count = 0; count < p->op_count;) {
    const uint32_t u = random_below(r, p->op_count);
    bool ready = !has_run[u];
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      ready = ready && has_run[p->preds[i]];
    if (!ready) continue;
    has_run[u] = true;
    order[count++] = u;
  }
  return order;
}

/* In the window's own order, and in the best one it has, each step costs what
   it costs in the whole. */
static void check_window(const order_problem *p, random_state *r, arena *a) {
  const uint32_t n = p->op_count;
  uint32_t *order = random_order(p, r, a);
  const uint32_t from = random_below(r, n);
  const uint32_t to = from + 1 + random_below(r, n - from);
  order_problem cut;
  assert_int_equal(order_window_cut(&cut, p, order, from, to, a), CALM_OK);
  assert_int_equal(cut.op_count, to - from);
  const order_options options = order_options_default();
  limits l;
  limits_init(&l, a->context);
  order_result best;
  assert_int_equal(order_exact(&best, &cut, &options, a, &l), CALM_OK);
  assert_int_equal(best.peak_bytes, order_referee_optimum(&cut));

  uint64_t *whole = arena_calloc(a, n, sizeof *whole), peak;
  uint64_t *part = arena_calloc(a, n, sizeof *part);
  for (uint32_t round = 0; round < 2; round++) {
    uint32_t *own = arena_calloc(a, n, sizeof *own);
    uint32_t *changed = arena_calloc(a, n, sizeof *changed);
    for (uint32_t i = 0; i < n; i++) changed[i] = order[i];
    for (uint32_t i = 0; i < to - from; i++) {
      own[i] = round ? best.sequence[i] : i;
      changed[from + i] = order[from + own[i]];
    }
    assert_int_equal(order_replay(&peak, &cut, own, part, a->context), CALM_OK);
    assert_int_equal(order_replay(&peak, p, changed, whole, a->context),
                     CALM_OK);
    for (uint32_t i = from; i < to; i++)
      assert_int_equal(whole[i], part[i - from]);
  }
}

static void windows_cost_what_the_whole_does(void **state) {
  (void)state;
  check_problems(check_window, 1500, 13, 31);
}

/* 300 operators that read one or two of the twelve before them; sizes 1 to 20,
   now and then workspace or a permission. */
static order_problem make_stream(random_state *r, arena *a) {
  enum { OPS = 300, BACK = 12 };
  order_problem p = {.op_count = OPS, .buffer_count = OPS};
  p.buffers = arena_calloc(a, OPS, sizeof *p.buffers);
  p.workspace = arena_calloc(a, OPS, sizeof *p.workspace);
  p.pred_begin = arena_calloc(a, OPS + 1, sizeof *p.pred_begin);
  p.preds = arena_calloc(a, 2 * OPS, sizeof *p.preds);
  p.touch_begin = arena_calloc(a, OPS + 1, sizeof *p.touch_begin);
  p.touch = arena_calloc(a, 3 * OPS, sizeof *p.touch);
  p.reuses = arena_calloc(a, OPS, sizeof *p.reuses);
  for (uint32_t u = 0, arcs = 0; u < OPS; u++) {
    p.buffers[u].bytes = 1 + random_below(r, 20);
    if (random_below(r, 8) == 0) p.workspace[u] = random_below(r, 20);
    const uint32_t back = u < BACK ? u : BACK;
    if (back >= 2) {
      const uint32_t first = u - back + random_below(r, back - 1);
      p.preds[arcs++] = first;
      if (random_below(r, 2))
        p.preds[arcs++] = first + 1 + random_below(r, u - first - 1);
      const uint64_t least = p.buffers[first].bytes < p.buffers[u].bytes
                                 ? p.buffers[first].bytes
                                 : p.buffers[u].bytes;
      if (random_below(r, 4) == 0)
        p.reuses[p.reuse_count++] = (order_reuse){u, first, u, least};
    }
    p.pred_begin[u + 1] = arcs;
  }
  for (uint32_t b = 0, filled = 0; b < OPS; b++) {
    p.touch[filled++] = b;
    for (uint32_t i = 0; i < p.pred_begin[OPS]; i++) {
      uint32_t u = b;
      if (p.preds[i] != b) continue;
      while (p.pred_begin[u + 1] <= i) u++;
      p.touch[filled++] = u;
    }
    p.touch_begin[b + 1] = filled;
  }
  assert_int_equal(order_problem_finish(&p, a), CALM_OK);
  return p;
}

/* A valid order, cheaper than before, and the same one again. */
static void searching_windows_helps(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  const order_options options = order_options_default();
  random_state r = random_from_seed(32);
  for (uint32_t i = 0; i < 4; i++) {
    arena a;
    arena_init(&a, context);
    const order_problem p = make_stream(&r, &a);
    uint32_t orders[2][300];
    uint64_t before, after, ticks[2];
    for (uint32_t twice = 0; twice < 2; twice++) {
      uint32_t *order = orders[twice];
      limits l;
      limits_init(&l, context);
      for (uint32_t u = 0; u < p.op_count; u++) order[u] = u;
      assert_int_equal(order_replay(&before, &p, order, NULL, context),
                       CALM_OK);
      assert_int_equal(order_windows_search(order, order_working_set(&p), &p,
                                            &options, 1000000, 0, &l),
                       CALM_OK);
      assert_int_equal(l.reason, LIMITS_NONE);
      ticks[twice] = l.ticks;
    }
    assert_int_equal(order_replay(&after, &p, orders[0], NULL, context),
                     CALM_OK);
    assert_true(after < before);
    assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
    assert_int_equal(ticks[0], ticks[1]);
    arena_free(&a);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Windows that memory ends at once cost next to nothing, but not for ever. Only
   the hostile build has windows this small. */
static void check_crowded(const order_problem *p, random_state *r, arena *a) {
  uint32_t *order = random_order(p, r, a);
  const order_options options = order_options_default();
  uint64_t before, after;
  limits l;
  if (!CALM_HOSTILE || p->op_count < 4) return;
  limits_init(&l, a->context);
  l.max_bytes = 1;
  assert_int_equal(order_replay(&before, p, order, NULL, a->context), CALM_OK);
  assert_int_equal(order_windows_search(order, 0, p, &options, 2000, 0, &l),
                   CALM_OK);
  assert_int_equal(order_replay(&after, p, order, NULL, a->context), CALM_OK);
  assert_true(after <= before);
}

static void crowded_windows_end(void **state) {
  (void)state;
  check_problems(check_crowded, 100, 13, 33);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_cost_what_the_whole_does),
      cmocka_unit_test(searching_windows_helps),
      cmocka_unit_test(crowded_windows_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
