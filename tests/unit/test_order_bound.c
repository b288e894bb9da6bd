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
    uint64_t dearest = 0;
    for (uint32_t u = 0; u < p.op_count; u++) {
      const uint64_t cost = cheapest_run(&p, u);
      if (cost > dearest) dearest = cost;
    }
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cuts_are_the_cheapest_sets),
      cmocka_unit_test(cheap_operators_are_left_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
