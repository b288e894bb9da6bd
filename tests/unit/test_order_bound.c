#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/bits.h"
#include "order/order_bound.h"
#include "order_random.h"

/* The least cost at which u can run: over all down-sets that have what it needs
   and not u itself, with its largest permission always granted. */
static uint64_t cheapest_run(const order_problem *p, uint32_t u) {
  const uint32_t bit = UINT32_C(1) << u;
  uint64_t least = UINT64_MAX, reuse = 0;
  for (uint32_t i = 0; i < p->reuse_count; i++) {
    const order_reuse *r = &p->reuses[i];
    if (r->op == u && r->bytes > reuse && !p->buffers[r->input].pinned_end &&
        !p->buffers[r->output].pinned_start)
      reuse = r->bytes;
  }
  for (uint32_t set = 0; set < UINT32_C(1) << p->op_count; set++) {
    bool closed = !(set & bit) && !(order_referee_preds(p, u) & ~set);
    for (uint32_t v = 0; v < p->op_count && closed; v++)
      closed = !(set >> v & 1) || !(order_referee_preds(p, v) & ~set);
    if (!closed) continue;
    order_problem without = *p;
    without.reuse_count = 0;
    const uint64_t cost = order_referee_cost(&without, set, u) - reuse;
    if (cost < least) least = cost;
  }
  return least;
}

static uint64_t dearest_run(const order_problem *p) {
  uint64_t dearest = 0;
  for (uint32_t u = 0; u < p->op_count; u++) {
    const uint64_t cost = cheapest_run(p, u);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}

static uint64_t flow_bound(const order_problem *p, uint64_t peak, arena *a) {
  order_core core;
  assert_int_equal(order_core_build(&core, p, 1, 0, a), CALM_OK);
  uint64_t *steps = arena_calloc(a, p->op_count, sizeof *steps);
  for (uint32_t u = 0; u < p->op_count; u++) steps[u] = peak;
  limits l;
  limits_init(&l, a->context);
  uint64_t bound = 0;
  assert_int_equal(order_bound_flow(&bound, &core, steps, peak, &l, a->context),
                   CALM_OK);
  return bound;
}

/* Without permissions the bound is exactly the dearest operator at its cheapest
   set; with them it may grant less, never less than the truth. */
static void cuts_are_the_cheapest_sets(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(21);
  uint32_t tight = 0;
  for (uint32_t i = 0; i < 600; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const unsigned features =
        (unsigned)random_next(&r) & (i % 3 ? 127 : 127 & ~ORDER_RANDOM_REUSE);
    assert_true(
        order_random_make(&p, &r, features, 2 + random_below(&r, 8), &a));
    const uint64_t optimum = order_referee_optimum(&p);
    const uint64_t dearest = dearest_run(&p);
    const uint64_t bound = flow_bound(&p, UINT64_C(1) << 40, &a);
    assert_true(bound <= optimum && dearest <= optimum);
    if (p.reuse_count == 0) assert_int_equal(bound, dearest);
    assert_true(bound >= dearest);
    assert_true(flow_bound(&p, optimum, &a) <= optimum);
    tight += bound == optimum;
    arena_free(&a);
  }
  assert_true(tight > 200);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Operators that the bound has passed already are not tried again. */
static void cheap_operators_are_left_out(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  random_state r = random_from_seed(22);
  order_problem p;
  assert_true(order_random_make(&p, &r, 31, 10, &a));
  order_core core;
  assert_int_equal(order_core_build(&core, &p, 1, 0, &a), CALM_OK);
  uint64_t *steps = arena_calloc(&a, p.op_count, sizeof *steps);
  limits l;
  limits_init(&l, context);
  uint64_t bound = 1;
  for (uint32_t u = 0; u < p.op_count; u++) steps[u] = 1;
  assert_int_equal(order_bound_flow(&bound, &core, steps, 99, &l, context),
                   CALM_OK);
  assert_int_equal(bound, 1);
  assert_int_equal(l.ticks, 0);
  arena_free(&a);
  calm_context_free(context);
}

/* ---- Groups -------------------------------------------------------------- */

static bool is_closed(const order_problem *p, uint32_t set) {
  for (uint32_t u = 0; u < p->op_count; u++)
    if (set >> u & 1 && order_referee_preds(p, u) & ~set) return false;
  return true;
}

/* The least cost at which any member runs when the others have (have not). */
static uint64_t cheapest_end(const order_problem *p, uint32_t group,
                             bool last) {
  uint64_t least = UINT64_MAX;
  for (uint32_t set = 0; set < UINT32_C(1) << p->op_count; set++) {
    if (!is_closed(p, set)) continue;
    for (uint32_t u = 0; u < p->op_count; u++) {
      const uint32_t bit = UINT32_C(1) << u;
      if (!(group & bit) || set & bit || order_referee_preds(p, u) & ~set)
        continue;
      if ((set & group) != (last ? group & ~bit : 0)) continue;
      const uint64_t cost = order_referee_cost(p, set, u);
      if (cost < least) least = cost;
    }
  }
  return least;
}

static uint64_t dearer_end(const order_problem *p, uint32_t group, bool last,
                           uint64_t dearest) {
  if (!(group & (group - 1))) return dearest;
  const uint64_t cost = cheapest_end(p, group, last);
  return cost > dearest ? cost : dearest;
}

/* A group that always ends with the same operator is not one, but then that
   operator alone costs as much. */
static uint64_t dearest_group(const order_problem *p) {
  uint64_t dearest = dearest_run(p);
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const order_buffer *x = &p->buffers[b];
    const uint32_t touch = order_referee_touch(p, b);
    if (!x->bytes) continue;
    if (!x->pinned_end) dearest = dearer_end(p, touch, true, dearest);
    if (!x->pinned_start) dearest = dearer_end(p, touch, false, dearest);
  }
  for (uint32_t u = 0; u < p->op_count; u++) {
    uint32_t succs = 0;
    for (uint32_t v = 0; v < p->op_count; v++)
      if (order_referee_preds(p, v) >> u & 1) succs |= UINT32_C(1) << v;
    for (int last = 0; last < 2; last++) {
      dearest = dearer_end(p, order_referee_preds(p, u), last, dearest);
      dearest = dearer_end(p, succs, last, dearest);
    }
  }
  return dearest;
}

/* Single operators and groups.  `op_bytes` NULL: every group is worth a look.
 */
static uint64_t group_bound(const order_problem *p, const uint32_t *sequence,
                            const uint64_t *op_bytes, uint64_t peak, arena *a) {
  order_core core;
  assert_int_equal(order_core_build(&core, p, 1, 0, a), CALM_OK);
  uint64_t *all = arena_calloc(a, p->op_count, sizeof *all);
  for (uint32_t u = 0; u < p->op_count; u++) all[u] = UINT64_MAX;
  const order_known known = {sequence, op_bytes ? op_bytes : all, peak};
  limits l;
  limits_init(&l, a->context);
  uint64_t bound = flow_bound(p, peak, a);
  assert_int_equal(
      order_bound_groups(&bound, &core, &known, UINT64_C(1) << 40, &l),
      CALM_OK);
  return bound;
}

/* A random order, and what each operator costs in it. */
static uint64_t draw_order(uint32_t *sequence, uint64_t *op_bytes,
                           const order_problem *p, random_state *r) {
  uint32_t set = 0;
  for (uint32_t i = 0; i < p->op_count;) {
    const uint32_t u = random_below(r, p->op_count);
    if (set >> u & 1 || order_referee_preds(p, u) & ~set) continue;
    op_bytes[u] = order_referee_cost(p, set, u);
    set |= UINT32_C(1) << u;
    sequence[i++] = u;
  }
  return order_referee_peak(p, sequence);
}

/* Without permissions the bound is exactly the dearest group at its cheapest
   end, whatever order is known and however it prunes. */
static void groups_end_where_it_is_cheapest(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  random_state r = random_from_seed(23);
  uint32_t tight = 0;
  for (uint32_t i = 0; i < 500; i++) {
    arena a;
    arena_init(&a, context);
    order_problem p;
    const unsigned features =
        (unsigned)random_next(&r) & (i % 3 ? 255 : 255 & ~ORDER_RANDOM_REUSE);
    assert_true(
        order_random_make(&p, &r, features, 2 + random_below(&r, 8), &a));
    uint32_t sequence[ORDER_RANDOM_MAX_OPS];
    uint64_t op_bytes[ORDER_RANDOM_MAX_OPS];
    const uint64_t peak = draw_order(sequence, op_bytes, &p, &r);
    const uint64_t optimum = order_referee_optimum(&p);
    const uint64_t dearest = dearest_group(&p);
    const uint64_t all = group_bound(&p, sequence, NULL, UINT64_C(1) << 40, &a);
    const uint64_t some = group_bound(&p, sequence, op_bytes, peak, &a);
    assert_true(all <= optimum && some <= all);
    if (p.reuse_count == 0) {
      assert_int_equal(all, dearest);
      assert_int_equal(some, dearest);
    }
    tight += all == optimum;
    arena_free(&a);
  }
  assert_true(tight > 200);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cuts_are_the_cheapest_sets),
      cmocka_unit_test(cheap_operators_are_left_out),
      cmocka_unit_test(groups_end_where_it_is_cheapest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
