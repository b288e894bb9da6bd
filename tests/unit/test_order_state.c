#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/bits.h"
#include "base/random.h"
#include "order/order_state.h"

enum { OPS = 100, WORDS = 2 };

typedef struct store_test {
  calm_context *context;
  order_store store;
} store_test;

static void begin(store_test *t, uint32_t width) {
  t->context = calm_context_new(NULL);
  assert_int_equal(order_store_init(&t->store, t->context, OPS), CALM_OK);
  order_store_clear(&t->store, width);
}

static void end(store_test *t) {
  order_store_free(&t->store);
  assert_int_equal(calm_context_bytes(t->context), 0);
  calm_context_free(t->context);
}

/* The i-th set of a kind with five operators; `hash` is up to the caller. */
static void add(store_test *t, uint32_t i, uint64_t hash, uint64_t mem,
                uint64_t peak) {
  uint64_t set[WORDS] = {0};
  for (uint32_t digit = 0; digit < 5; digit++, i /= 10)
    bits_add(set, digit * 10 + i % 10);
  const order_state state = {.hash = hash, .mem = mem, .peak = peak};
  assert_int_equal(order_store_add(&t->store, &state, set, 5), CALM_OK);
}

/* Equal hashes are not equal sets; equal sets are one state, the one with the
   lower path. */
static void a_set_is_stored_once(void **state) {
  (void)state;
  store_test t;
  begin(&t, 1000);
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t i = 0; i < 50; i++) add(&t, i, i % 2, 7, 9 + (round + i) % 3);
  assert_int_equal(t.store.stored, 50);
  assert_int_equal(order_store_open(&t.store, 5), CALM_OK);
  assert_int_equal(t.store.open.count, 50);
  assert_int_equal(t.store.dropped, 0);
  for (uint32_t i = 0; i < 50; i++)
    assert_int_equal(t.store.states[t.store.open.data[i]].peak, 9);
  end(&t);
}

/* Sum of (mem, peak) of the layer, and that nothing in it is beyond a limit. */
static uint64_t open_and_sum(store_test *t, uint64_t largest_mem) {
  uint64_t sum = 0;
  assert_int_equal(order_store_open(&t->store, 5), CALM_OK);
  for (uint32_t i = 0; i < t->store.open.count; i++) {
    const order_state *s = &t->store.states[t->store.open.data[i]];
    assert_true(s->mem <= largest_mem);
    sum += s->mem * 1000 + s->peak;
  }
  return sum;
}

/* However they come in, also when the layer is cut while it fills. */
static void a_layer_keeps_its_best(void **state) {
  (void)state;
  enum { COUNT = 1000, WIDTH = 30 };
  uint64_t first = 0;
  for (uint64_t seed = 0; seed < 5; seed++) {
    store_test t;
    begin(&t, WIDTH);
    random_state r = random_from_seed(seed);
    uint32_t at[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) at[i] = i;
    for (uint32_t i = COUNT; i-- > 1;) {
      const uint32_t j = random_below(&r, i + 1), held = at[i];
      at[i] = at[j];
      at[j] = held;
    }
    for (uint32_t i = 0; i < COUNT; i++)
      add(&t, at[i], at[i] * UINT64_C(0x9e3779b97f4a7c15), at[i] % 100,
          at[i] / 100);
    const uint64_t sum = open_and_sum(&t, 2);
    assert_int_equal(t.store.open.count, WIDTH);
    assert_int_equal(t.store.dropped, COUNT - WIDTH);
    if (seed == 0) first = sum;
    assert_int_equal(sum, first);
    order_store_release(&t.store);
    end(&t);
  }
}

/* A second pass lives on the memory of the first. */
static void memory_is_used_again(void **state) {
  (void)state;
  store_test t;
  begin(&t, 1000);
  for (uint32_t i = 0; i < 700; i++) add(&t, i, i, 1, 1);
  const uint64_t held = order_store_bytes(&t.store);
  assert_true(held >= 700 * (sizeof(order_state) + WORDS * sizeof(uint64_t)));
  order_store_clear(&t.store, 1000);
  for (uint32_t i = 0; i < 700; i++) add(&t, i, i, 1, 1);
  assert_int_equal(order_store_bytes(&t.store), held);
  assert_int_equal(calm_context_bytes(t.context), held);
  end(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_set_is_stored_once),
                                     cmocka_unit_test(a_layer_keeps_its_best),
                                     cmocka_unit_test(memory_is_used_again)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
