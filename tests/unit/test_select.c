/* The best of many against sorting them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/select.h"

enum { MOST = 40 };

/* By keys, of which many are equal, then by number. */
static bool goes_before(const void *keys, uint32_t a, uint32_t b) {
  const uint32_t *key = keys;
  return key[a] != key[b] ? key[a] < key[b] : a < b;
}

static uint32_t rank_of(const uint32_t *keys, uint32_t id, uint32_t count) {
  uint32_t rank = 0;
  for (uint32_t other = 0; other < count; other++)
    rank += goes_before(keys, other, id);
  return rank;
}

static void check(uint32_t count, uint32_t wanted, random_state *r) {
  uint32_t keys[MOST], ids[MOST];
  bool seen[MOST] = {false};
  const uint32_t kinds = 1 + random_below(r, count);
  for (uint32_t i = 0; i < count; i++) {
    keys[i] = random_below(r, kinds);
    ids[i] = i;
  }
  select_best(ids, count, wanted, goes_before, keys);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(ids[i] < count && !seen[ids[i]]);
    seen[ids[i]] = true;
    assert_int_equal(rank_of(keys, ids[i], count) < wanted, i < wanted);
  }
}

static void the_best_come_to_the_front(void **state) {
  (void)state;
  random_state r = random_from_seed(1);
  for (uint32_t count = 1; count <= MOST; count++)
    for (uint32_t wanted = 0; wanted <= count; wanted++)
      for (int i = 0; i < 5; i++) check(count, wanted, &r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_come_to_the_front),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
