/* Series-parallel problems against the referee: the bound is one, the order is
   one, and where every death is settled they meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order/order_series.h"
#include "order/order_series_tree.h"
#include "order_random.h"
#include "scarce.h"

/* Operators that run before each one. */
static void close_precedence(uint32_t *before, const order_problem *p) {
  for (uint32_t u = 0; u < p->op_count; u++) {
    before[u] = 0;
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      before[u] |= before[p->preds[i]] | UINT32_C(1) << p->preds[i];
  }
}

/* Do all orders begin and end this buffer at the same operators? */
static bool is_settled(const order_problem *p, uint32_t b,
                       const uint32_t *before) {
  const uint32_t begin = p->touch_begin[b], end = p->touch_begin[b + 1];
  if (begin == end) return true;
  const uint32_t first = p->touch[begin], last = p->touch[end - 1];
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t u = p->touch[i];
    if (!p->buffers[b].pinned_start && u != first && !(before[u] >> first & 1))
      return false;
    if (!p->buffers[b].pinned_end && u != last && !(before[last] >> u & 1))
      return false;
  }
  return true;
}

static bool all_settled(const order_problem *p) {
  uint32_t before[ORDER_RANDOM_MAX_OPS];
  close_precedence(before, p);
  if (p->reuse_count) return false;
  for (uint32_t b = 0; b < p->buffer_count; b++)
    if (!is_settled(p, b, before)) return false;
  return true;
}

typedef struct tally {
  uint32_t trees, settled, met;
} tally;

static void check_problem(tally *t, const order_problem *p, bool series,
                          arena *a) {
  const uint64_t optimum = order_referee_optimum(p);
  uint32_t sequence[ORDER_RANDOM_MAX_OPS];
  limits l;
  limits_init(&l, a->context);
  for (uint32_t u = 0; u < p->op_count; u++) sequence[u] = u;
  const uint64_t file = order_referee_peak(p, sequence);
  uint64_t peak = file, bound = 0;
  series_tree tree;
  assert_int_equal(order_series_tree(&tree, p, a, &l), CALM_OK);
  assert_int_equal(order_series(sequence, &peak, &bound, p, &l), CALM_OK);
  if (series) assert_true(tree.root != CALM_NONE);
  assert_int_equal(order_referee_peak(p, sequence), peak);
  assert_true(bound <= optimum && optimum <= peak && peak <= file);
  if (tree.root == CALM_NONE) {
    assert_true(bound == 0 && peak == file);
    return;
  }
  t->trees++;
  t->met += bound == peak;
  if (!all_settled(p)) return;
  t->settled++;
  assert_int_equal(bound, optimum);
  assert_int_equal(peak, optimum);
}

static tally check_problems(unsigned features, uint32_t count, uint64_t seed) {
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(seed);
  tally t = {0};
  for (uint32_t i = 0; i < count; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const unsigned some = features & ~((unsigned)random_next(&r) & 255);
    assert_true(order_random_make(&p, &r, some, 2 + random_below(&r, 11), &a));
    check_problem(&t, &p, features & ORDER_RANDOM_SERIES, &a);
    arena_free(&a);
  }
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return t;
}

enum { SOME = CALM_SANITIZED || CALM_HOSTILE ? 600 : 4000 };

static void settled_problems_are_solved(void **state) {
  (void)state;
  const tally t = check_problems(
      ORDER_RANDOM_SERIES | ORDER_RANDOM_SIZED | ORDER_RANDOM_PINNED |
          ORDER_RANDOM_WORKSPACE | ORDER_RANDOM_ZEROS,
      SOME, 21);
  assert_int_equal(t.trees, SOME);
  assert_true(t.settled > SOME / 8);
}

static void bounds_are_bounds_with_everything(void **state) {
  (void)state;
  const tally t =
      check_problems(ORDER_RANDOM_SERIES | ORDER_RANDOM_ALL, SOME, 22);
  assert_true(t.met > SOME / 4);
}

/* Precedence that is only sometimes series-parallel. */
static void other_problems_are_told(void **state) {
  (void)state;
  const tally t = check_problems(ORDER_RANDOM_ALL, SOME, 23);
  assert_true(t.trees > SOME / 50 && t.trees < SOME);
}

/* ---- Large ones ---------------------------------------------------------- */

/* A row of forks into `width` chains of two, each read by all of the next
   fork's first operators. */
static void make_forks(order_problem *p, uint32_t forks, uint32_t width,
                       arena *a) {
  const uint32_t each = 1 + 2 * width, n = forks * each;
  *p = (order_problem){.op_count = n, .buffer_count = n};
  p->buffers = arena_calloc(a, n, sizeof *p->buffers);
  p->touch_begin = arena_calloc(a, n + 1, sizeof *p->touch_begin);
  p->touch = arena_calloc(a, (size_t)n * (width + 2), sizeof *p->touch);
  p->pred_begin = arena_calloc(a, n + 1, sizeof *p->pred_begin);
  p->preds = arena_calloc(a, (size_t)n * (width + 1), sizeof *p->preds);
  p->workspace = arena_calloc(a, n, sizeof *p->workspace);
  p->reuses = arena_calloc(a, 1, sizeof *p->reuses);
  for (uint32_t u = 0; u < n; u++) {
    const uint32_t base = u / each * each, at = u - base;
    uint32_t *preds = &p->preds[p->pred_begin[u]], count = 0;
    if (at == 0)
      for (uint32_t i = 0; base && i < width; i++)
        preds[count++] = base - width + i;
    else
      preds[count++] = at <= width ? base : u - width;
    p->pred_begin[u + 1] = p->pred_begin[u] + count;
    p->buffers[u].bytes = 1 + u * 7 % 13;
    uint32_t *touch = &p->touch[p->touch_begin[u]];
    count = 0;
    touch[count++] = u;
    if (at == 0)
      for (uint32_t i = 0; i < width; i++) touch[count++] = u + 1 + i;
    else if (at <= width)
      touch[count++] = u + width;
    else if (base + each < n)
      touch[count++] = base + each;
    p->touch_begin[u + 1] = p->touch_begin[u] + count;
  }
  assert_int_equal(order_problem_finish(p, a), CALM_OK);
}

static calm_status solve_forks(order_result *out, uint32_t forks,
                               uint32_t width, calm_context *context) {
  arena a;
  limits l;
  order_problem p;
  arena_init(&a, context);
  limits_init(&l, context);
  make_forks(&p, forks, width, &a);
  const order_options options = order_options_default();
  const calm_status status = order_solve(out, &p, &options, &a, &l);
  arena_free(&a);
  return status;
}

static void long_rows_need_no_search(void **state) {
  (void)state;
  order_result r;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(solve_forks(&r, CALM_HOSTILE ? 50 : 3000, 5, context),
                   CALM_OK);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
  assert_int_equal(r.states, 0);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settled_problems_are_solved),
      cmocka_unit_test(bounds_are_bounds_with_everything),
      cmocka_unit_test(other_problems_are_told),
      cmocka_unit_test(long_rows_need_no_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
