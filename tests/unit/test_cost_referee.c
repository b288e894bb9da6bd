/*
 * The referee itself against what is known: counts that follow by hand from a
 * few loops.  Then `exact` against the referee on random small nests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost_row.h"
#include "cost_check.h"
#include "cost_fixture.h"
#include "cost_random.h"

/* ---- By hand ------------------------------------------------------------- */

typedef struct known {
  const char *loops;
  row_layer layer;
  uint64_t input_fills; /* of one PE */
} known;

/* A window of R3 over P8: 10 words a sweep where it slides on, else 3 per
   step. */
static const known windows[] = {
    {"PE R3 | GB P8 K4 | DRAM", {1, 1}, 40},
    {"PE R3 | GB K4 P8 | DRAM", {1, 1}, 10},
    {"PE R3 | GB K4x P8 | DRAM", {1, 1}, 10},
    {"PE R3 | GB | DRAM P8 K4", {1, 1}, 40},
    {"PE R3 | GB P4 | DRAM P2 K4", {1, 1}, 40},
    {"PE R3 | GB P2 | DRAM K4 P4", {1, 1}, 16 + 3 * (1 + 1 + 3 * 4)},
    {"PE K4 | GB P8 R3 | DRAM", {1, 1}, 24},
    {"PE K4 | GB R3 P8 | DRAM", {1, 1}, 24},
    {"PE K4 | GB R3 P8 | DRAM", {2, 1}, 17},
    {"PE R3 | GB P8 | DRAM", {3, 1}, 24},
    {"PE R3 | GB P8 | DRAM", {2, 1}, 17},
    {"PE R3 | GB P8 | DRAM", {0, 1}, 3},
    {"PE R3 | GB P8 | DRAM", {1, 0}, 8},
    {"PE R3 | GB P8 C2 | DRAM", {1, 1}, 20},
    {"PE R3 | GB P4 P2x | DRAM", {1, 1}, 6},
};

static void test_windows(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    row r;
    cost_result out;
    row_make(&r, &windows[i].layer, windows[i].loops, &f->arena);
    cost_referee(&out, &r, COST_FANOUT_LEVEL, &f->arena);
    assert_int_equal(out.verdict.fault, COST_VALID);
    const uint64_t fills = out.tensors[ROW_INPUTS].fills;
    if (fills != windows[i].input_fills)
      print_error("%s: %u\n", windows[i].loops, (unsigned)fills);
    assert_int_equal(fills, windows[i].input_fills);
  }
}

/* ---- Random nests -------------------------------------------------------- */

/* A seed gives the case, so one that fails can be looked at by itself. */
static bool agree_on(fixture *f, uint64_t seed,
                     const cost_random_options *options) {
  random_state r = random_from_seed(seed);
  cost_random_case c;
  cost_random_make(&c, &r, options, &f->arena);
  const cost_fanout_rule rule =
      random_below(&r, 2) ? COST_FANOUT_LEVEL : COST_FANOUT_CUMULATIVE;
  const char *difference = cost_check_exact(&c, rule, &f->arena);
  if (difference) {
    print_error("seed %llu: %s\n", (unsigned long long)seed, difference);
    cost_random_print(&c);
  }
  arena_free(&f->arena);
  return difference == NULL;
}

static void agree_on_all(fixture *f, uint64_t first, uint64_t count,
                         const cost_random_options *options) {
  uint64_t differ = 0;
  for (uint64_t i = 0; i < count && differ < 3; i++)
    differ += !agree_on(f, first + i, options);
  assert_int_equal(differ, 0);
}

static void test_small_nests(void **state) {
  const cost_random_options options = {.most_macs = 300, .most_words = 1000};
  agree_on_all(*state, 0, COST_CASES, &options);
}

static void test_larger_nests(void **state) {
  const cost_random_options options = {.most_macs = 4000, .most_words = 4000};
  agree_on_all(*state, UINT64_C(1) << 32, COST_CASES / 4, &options);
}

static void test_imperfect_nests(void **state) {
  const cost_random_options options = {
      .most_macs = 1000, .most_words = 2000, .imperfect = true};
  agree_on_all(*state, UINT64_C(2) << 32, COST_CASES / 2, &options);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_windows),
      COST_TEST(test_small_nests),
      COST_TEST(test_larger_nests),
      COST_TEST(test_imperfect_nests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
