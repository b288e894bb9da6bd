/*
 * The examples of docs/cost-model.md.  Every number that stands there stands
 * here, and so do the nests.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/cost_links.h"
#include "cost_row.h"
#include "cost_check.h"
#include "cost_fixture.h"

typedef struct window {
  const char *loops;
  uint64_t stride, exact, timeloop; /* words of Inputs to the PE */
} window;

static const window windows[] = {
    {"PE R3 | GB P8 K4 | DRAM", 1, 40, 40},
    {"PE R3 | GB K4 P8 | DRAM", 1, 10, 10},
    {"PE R3 | GB P4 | DRAM P2 K4", 1, 40, 48},
    {"PE R3 | GB P2 | DRAM K4 P4", 1, 58, 58},
    {"PE K4 | GB P8 R3 | DRAM", 1, 24, 22},
    {"PE K4 | GB R3 P8 | DRAM", 1, 24, 17},
    {"PE K4 | GB R3 P8 | DRAM", 2, 17, 24},
    {"PE R3 | GB P8 | DRAM", 3, 24, 24},
};

static cost_result evaluate(fixture *f, const row *r, cost_model model) {
  const cost_options options = {
      .model = model, .fanout = COST_FANOUT_LEVEL, .networks = true};
  const cost_result out = cost_check_evaluate(r, options, &f->arena);
  assert_int_equal(out.verdict.fault, COST_VALID);
  return out;
}

/* What `exact` says, and the referee with it. */
static cost_result evaluate_exact(fixture *f, const row *r) {
  const char *difference = cost_check_exact(r, COST_FANOUT_LEVEL, &f->arena);
  if (difference) print_error("%s\n", difference);
  assert_null(difference);
  return evaluate(f, r, COST_EXACT);
}

static const cost_tensor *at(const cost_result *r, uint32_t level,
                             uint32_t tensor) {
  return &r->tensors[level * ROW_TENSORS + tensor];
}

static const cost_flow *below(const cost_result *r, uint32_t level,
                              uint32_t tensor) {
  return &r->flows[level * ROW_TENSORS + tensor];
}

static void test_windows(void **state) {
  fixture *f = *state;
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    const window *w = &windows[i];
    row r;
    row_make(&r, &(row_layer){w->stride, 1}, w->loops, &f->arena);
    const cost_result exact = evaluate_exact(f, &r);
    const cost_result printed = evaluate(f, &r, COST_TIMELOOP);
    assert_int_equal(at(&exact, ROW_PE, ROW_INPUTS)->fills, w->exact);
    assert_int_equal(at(&printed, ROW_PE, ROW_INPUTS)->fills, w->timeloop);
  }
}

static void test_gaps(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){2, 1}, "PE P8 | GB | DRAM", &f->arena);
  const cost_result out = evaluate_exact(f, &r);
  assert_int_equal(at(&out, ROW_PE, ROW_INPUTS)->tile_words, 15);
}

static void expect_groups(const cost_flow *f, const cost_group *groups,
                          uint32_t count) {
  assert_true(
      cost_check_groups(f->groups, f->group_count, groups, count, false));
}

/* Two positions: P2 outside; K2 does not move Inputs. */
static void test_multicast(void **state) {
  fixture *f = *state;
  static const cost_group inputs[] = {{1, 2, 4, 0}, {2, 2, 4, 0}, {3, 1, 2, 0}};
  static const cost_group weights[] = {{3, 3, 12, 0}};
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE | GB R3x P3y K2 | DRAM P2", &f->arena);
  const cost_result out = evaluate_exact(f, &r);
  expect_groups(below(&out, ROW_GB, ROW_INPUTS), inputs, 3);
  expect_groups(below(&out, ROW_GB, ROW_WEIGHTS), weights, 1);
  expect_groups(below(&out, ROW_GB, ROW_OUTPUTS), weights, 1);
  assert_int_equal(below(&out, ROW_GB, ROW_OUTPUTS)->spatial_reductions, 24);
}

static void test_bypass(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE R3 | GB P2x | DRAM P4", &f->arena);
  cost_result out = evaluate_exact(f, &r);
  assert_int_equal(at(&out, ROW_GB, ROW_INPUTS)->reads, 18);
  assert_int_equal(at(&out, ROW_PE, ROW_INPUTS)->fills, 9);
  assert_int_equal(at(&out, ROW_DRAM, ROW_INPUTS)->reads, 10);
  row_bypass(&r, ROW_PE, ROW_INPUTS);
  out = evaluate_exact(f, &r);
  assert_int_equal(at(&out, ROW_GB, ROW_INPUTS)->reads, 24);
  row_make(&r, &(row_layer){1, 1}, "PE R3 | GB P2x | DRAM P4", &f->arena);
  row_bypass(&r, ROW_GB, ROW_INPUTS);
  out = evaluate_exact(f, &r);
  assert_int_equal(at(&out, ROW_DRAM, ROW_INPUTS)->reads, 18);
}

static void expect_counts(const cost_tensor *t, const uint64_t counts[5]) {
  assert_int_equal(t->tile_words, counts[0]);
  assert_int_equal(t->partition_words, counts[1]);
  assert_int_equal(t->reads, counts[2]);
  assert_int_equal(t->fills, counts[3]);
  assert_int_equal(t->updates, counts[4]);
}

static void test_counts(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE R3 | GB P8 K4 | DRAM", &f->arena);
  const cost_result out = evaluate_exact(f, &r);
  expect_counts(at(&out, ROW_PE, ROW_WEIGHTS),
                (const uint64_t[]){3, 12, 96, 12, 0});
  expect_counts(at(&out, ROW_PE, ROW_INPUTS),
                (const uint64_t[]){3, 10, 96, 40, 0});
  expect_counts(at(&out, ROW_PE, ROW_OUTPUTS),
                (const uint64_t[]){1, 32, 64, 0, 96});
  expect_counts(at(&out, ROW_GB, ROW_INPUTS),
                (const uint64_t[]){10, 10, 40, 10, 0});
  expect_counts(at(&out, ROW_GB, ROW_OUTPUTS),
                (const uint64_t[]){32, 32, 0, 0, 32});
}

static void test_imperfect(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE R3 | GB P4/3 | DRAM P2", &f->arena);
  assert_int_equal(r.layer.dimensions[1].bound, 7);
  const cost_result out = evaluate_exact(f, &r);
  assert_int_equal(out.compute_cycles, 24);
  assert_int_equal(out.computes, 21);
}

static void test_links(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE | GB P4x R3 | DRAM", &f->arena);
  const cost_result exact = evaluate_exact(f, &r);
  const cost_result printed = evaluate(f, &r, COST_TIMELOOP);
  assert_int_equal(at(&exact, ROW_GB, ROW_INPUTS)->reads, 12);
  assert_int_equal(at(&printed, ROW_GB, ROW_INPUTS)->reads, 4 + 1 + 1);
  assert_true(below(&printed, ROW_GB, ROW_INPUTS)->links == 6);
}

static uint64_t words_over_link(fixture *f, const row *r) {
  cost_problem problem;
  const cost_result result = evaluate_exact(f, r);
  const cost_options options = {.model = COST_EXACT};
  uint64_t words[ROW_LEVELS];
  assert_int_equal(
      cost_problem_init(&problem, &r->arch, &r->layer, &options, &f->arena),
      CALM_OK);
  assert_int_equal(cost_links_count(words, &problem, &r->nest, &result),
                   CALM_OK);
  return words[ROW_GB];
}

static void test_mesh(void **state) {
  fixture *f = *state;
  row r;
  row_make(&r, &(row_layer){1, 1}, "PE | GB K4x P4y C5 | DRAM", &f->arena);
  assert_int_equal(words_over_link(f, &r), 35);
  assert_int_equal(evaluate_exact(f, &r).compute_cycles, 5);
  row_make(&r, &(row_layer){1, 1}, "PE | GB K4x P4x C5 | DRAM", &f->arena);
  r.arch.levels[ROW_PE].mesh_x = r.arch.compute.mesh_x = 16;
  r.arch.levels[ROW_PE].mesh_y = r.arch.compute.mesh_y = 1;
  assert_int_equal(words_over_link(f, &r), 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_windows),   COST_TEST(test_gaps),
      COST_TEST(test_multicast), COST_TEST(test_bypass),
      COST_TEST(test_counts),    COST_TEST(test_imperfect),
      COST_TEST(test_links),     COST_TEST(test_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
