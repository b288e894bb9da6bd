/* What must hold for every nest, tried on random ones of all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost_fixture.h"
#include "cost_theorems.h"

static void hold_for_all(fixture *f, uint64_t first, uint64_t count,
                         const cost_random_options *options) {
  for (uint64_t i = 0; i < count; i++) {
    random_state r = random_from_seed(first + i);
    cost_random_case c;
    cost_random_make(&c, &r, options, &f->arena);
    const char *broken = cost_theorems_broken(&c, &r, &f->arena);
    if (broken) {
      print_error("seed %llu: %s\n", (unsigned long long)(first + i), broken);
      cost_random_print(&c);
    }
    assert_null(broken);
    arena_free(&f->arena);
  }
}

static void test_small_nests(void **state) {
  const cost_random_options options = {.most_macs = 500};
  hold_for_all(*state, 0, COST_CASES, &options);
}

static void test_imperfect_nests(void **state) {
  const cost_random_options options = {.most_macs = 2000, .imperfect = true};
  hold_for_all(*state, UINT64_C(1) << 32, COST_CASES / 4, &options);
}

/* As large as the layers of networks, and larger. */
static void test_large_nests(void **state) {
  const cost_random_options options = {.most_macs = UINT64_C(1) << 24},
                            larger = {.most_macs = UINT64_C(1) << 46};
  hold_for_all(*state, UINT64_C(2) << 32, COST_CASES / 20, &options);
  hold_for_all(*state, UINT64_C(3) << 32, COST_CASES / 60, &larger);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_small_nests),
      COST_TEST(test_imperfect_nests),
      COST_TEST(test_large_nests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
