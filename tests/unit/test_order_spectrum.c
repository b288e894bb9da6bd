#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>

#include "order/order_spectrum.h"
#include "order_fixture.h"
#include "scarce.h"

static order_spectrum find(const order_problem *p, arena *a,
                           calm_outcome expected) {
  order_spectrum s;
  calm_outcome outcome;
  limits l;
  limits_init(&l, context);
  assert_int_equal(order_spectrum_find(&s, &outcome, p, a, &l), CALM_OK);
  assert_int_equal(outcome, expected);
  return s;
}

/* ---- All orders, one by one ---------------------------------------------- */

enum { MOST_PEAKS = 4096 };

typedef struct listing {
  const order_problem *p;
  uint64_t orders[MOST_PEAKS]; /* by peak: problems here have small ones */
  double shares[MOST_PEAKS];
  uint64_t count;
  bool seen[1 << 8]; /* sets that some order passes */
} listing;

static uint32_t ready_ops(uint32_t *out, const order_problem *p, uint32_t set) {
  uint32_t count = 0;
  for (uint32_t u = 0; u < p->op_count; u++) {
    bool ready = !(set >> u & 1);
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      ready = ready && set >> p->preds[i] & 1;
    if (ready) out[count++] = u;
  }
  return count;
}

static void list_orders(listing *l, uint32_t set, uint64_t peak, double share) {
  uint32_t ready[8];
  const uint32_t count = ready_ops(ready, l->p, set);
  l->seen[set] = true;
  if (count == 0) {
    assert_true(peak < MOST_PEAKS);
    l->orders[peak]++;
    l->shares[peak] += share;
    l->count++;
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t cost = order_referee_cost(l->p, set, ready[i]);
    list_orders(l, set | UINT32_C(1) << ready[i], cost > peak ? cost : peak,
                share / count);
  }
}

static void assert_as_listed(const order_spectrum *s, const listing *l) {
  double sum = 0;
  uint64_t downsets = 0, lines = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const order_spectrum_line *line = &s->lines[i];
    assert_true(i == 0 || line->peak_bytes > s->lines[i - 1].peak_bytes);
    assert_int_equal(line->orders, l->orders[line->peak_bytes]);
    assert_true(fabs(line->kahn_share - l->shares[line->peak_bytes]) < 1e-12);
    sum += line->kahn_share;
  }
  for (uint32_t i = 0; i < MOST_PEAKS; i++) lines += l->orders[i] > 0;
  for (uint32_t i = 0; i < 1 << 8; i++) downsets += l->seen[i];
  assert_int_equal(s->count, lines);
  assert_int_equal(s->orders, l->count);
  assert_int_equal(s->downsets, downsets);
  assert_true(fabs(sum - 1) < 1e-12);
}

static void agrees_with_all_orders(void **state) {
  (void)state;
  static const unsigned features[] = {
      0, ORDER_RANDOM_SIZED, ORDER_RANDOM_SIZED | ORDER_RANDOM_SHARED,
      ORDER_RANDOM_SIZED | ORDER_RANDOM_PINNED | ORDER_RANDOM_CONTROL,
      ORDER_RANDOM_ALL};
  for (uint64_t seed = 0; seed < 300; seed++) {
    random_state random = random_from_seed(seed);
    arena a;
    arena_init(&a, context);
    order_problem p;
    const uint32_t ops = 1 + random_below(&random, 7);
    assert_true(order_random_make(&p, &random, features[seed % 5], ops, &a));
    listing l = {.p = &p};
    list_orders(&l, 0, order_referee_mem(&p, 0), 1);
    const order_spectrum s = find(&p, &a, CALM_OPTIMAL);
    assert_as_listed(&s, &l);
    arena_free(&a);
  }
}

/* ---- Sizes --------------------------------------------------------------- */

/* So many chains side by side; each operator makes a byte that the next one
   reads. */
static void build_chains(order_problem *out, uint32_t chains, uint32_t length,
                         arena *a) {
  builder = (problem_builder){0};
  for (uint32_t chain = 0; chain < chains; chain++)
    for (uint32_t i = 0; i < length; i++) {
      const uint32_t u = build_op(&builder);
      const uint32_t made = build_buffer(&builder, 1, false, false);
      build_touch(&builder, made, u);
      if (i == 0) continue;
      build_edge(&builder, u - 1, u);
      build_touch(&builder, made - 1, u);
    }
  assert_int_equal(build_problem(out, &builder, a), CALM_OK);
}

/* 30! / 6!^5 interleavings fit 64 bits, 35! / 7!^5 do not. */
static void counts_as_far_as_64_bits(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  build_chains(&p, 5, 6, &a);
  order_spectrum s = find(&p, &a, CALM_OPTIMAL);
  assert_int_equal(s.orders, UINT64_C(1370874167589326400));
  assert_int_equal(s.downsets, 7 * 7 * 7 * 7 * 7);
  build_chains(&p, 5, 7, &a);
  s = find(&p, &a, CALM_LIMIT);
  assert_int_equal(s.count, 0);
  assert_int_equal(s.orders, 0);
  arena_free(&a);
}

/* Nothing to be run is run in one way. */
static void an_empty_problem(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  builder = (problem_builder){0};
  build_buffer(&builder, 7, true, true);
  assert_int_equal(build_problem(&p, &builder, &a), CALM_OK);
  const order_spectrum s = find(&p, &a, CALM_OPTIMAL);
  assert_int_equal(s.count, 1);
  assert_int_equal(s.lines[0].peak_bytes, 7);
  assert_int_equal(s.lines[0].orders, 1);
  arena_free(&a);
}

/* Sets of more than one word. */
static void more_than_64_operators(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  build_chains(&p, 2, 40, &a);
  assert_int_equal(find(&p, &a, CALM_LIMIT).count, 0); /* 80! / 40!^2 */
  build_chains(&p, 1, 80, &a);
  const order_spectrum s = find(&p, &a, CALM_OPTIMAL);
  assert_int_equal(s.orders, 1);
  assert_int_equal(s.downsets, 81);
  assert_int_equal(s.lines[0].peak_bytes, 2);
  arena_free(&a);
}

/* ---- Limits -------------------------------------------------------------- */

static void limits_stop_it(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  order_problem p;
  build_chains(&p, 4, 6, &a);
  for (int memory = 0; memory < 2; memory++) {
    order_spectrum s;
    calm_outcome outcome;
    limits l;
    limits_init(&l, context);
    if (memory)
      l.max_bytes = 1 << 12;
    else
      l.max_ticks = l.next_look = 1000;
    assert_int_equal(order_spectrum_find(&s, &outcome, &p, &a, &l), CALM_OK);
    assert_int_equal(outcome, CALM_LIMIT);
    assert_int_equal(s.count, 0);
    assert_int_equal(l.reason, memory ? LIMITS_MEMORY : LIMITS_TICKS);
  }
  arena_free(&a);
}

static void memory_may_fail_anywhere(void **state) {
  (void)state;
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t allowed = 0; status != CALM_OK; allowed++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *own = calm_context_new(&allocator);
    assert_non_null(own);
    arena a;
    arena_init(&a, own);
    order_problem p;
    build_chains(&p, 3, 4, &a);
    order_spectrum s;
    calm_outcome outcome;
    limits l;
    limits_init(&l, own);
    left = allowed;
    status = order_spectrum_find(&s, &outcome, &p, &a, &l);
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
    arena_free(&a);
    assert_int_equal(calm_context_bytes(own), 0);
    calm_context_free(own);
    assert_true(allowed < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_all_orders),
      cmocka_unit_test(counts_as_far_as_64_bits),
      cmocka_unit_test(an_empty_problem),
      cmocka_unit_test(more_than_64_operators),
      cmocka_unit_test(limits_stop_it),
      cmocka_unit_test(memory_may_fail_anywhere)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
