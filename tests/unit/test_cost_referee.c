/*
 * The referee itself against what is known: counts that follow by hand from a
 * few loops.  Then `exact` against the referee on random small nests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost_cases.h"
#include "cost_random.h"

typedef struct fixture {
  calm_context *context;
  arena arena;
} fixture;

static int open_fixture(void **state) {
  static fixture f;
  f.context = calm_context_new(NULL);
  assert_non_null(f.context);
  arena_init(&f.arena, f.context);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  return 0;
}

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
    cost_referee(&out, &r.arch, &r.layer, &r.nest, COST_FANOUT_LEVEL,
                 &f->arena);
    assert_int_equal(out.verdict.fault, COST_VALID);
    const uint64_t fills = out.tensors[ROW_INPUTS].fills;
    if (fills != windows[i].input_fills)
      print_error("%s: %u\n", windows[i].loops, (unsigned)fills);
    assert_int_equal(fills, windows[i].input_fills);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_windows, open_fixture,
                                      close_fixture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
