/*
 * Imperfect loops: extents of tiles, instances in use on average, and what the
 * models make of them.
 */
#include "cost_case.h"

#include "cost/cost_scratch.h"

static const cost_frame *measure(cost_case *c, const char *loops) {
  case_loops(c, loops);
  assert_int_equal(cost_problem_init(&c->problem, &c->arch, &c->layer,
                                     &c->options, &c->arena),
                   CALM_OK);
  uint32_t wrong;
  double made;
  cost_scratch *s = c->problem.scratch;
  assert_true(
      cost_frame_measure(&s->frame, &s->tables, &c->nest, &wrong, &made));
  assert_false(s->frame.perfect);
  return &s->frame;
}

static uint32_t dimension(const cost_case *c, const char *name) {
  return accel_layer_dimension(&c->layer, name);
}

/* P8 as three tiles of three, the last of which has two. */
static void tiles_are_those_of_a_full_pass(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  const cost_frame *f = measure(&c, "P3/2 | R3 K4 | P3");
  const cost_tables *t = &c.problem.scratch->tables;
  const uint32_t p = dimension(&c, "P");
  assert_true(f->tile[0][p] == 3);
  assert_true(f->tile[1][p] == 3);
  assert_true(f->tile[2][p] == 8);
  assert_true(cost_row_words(t, f->tile[0])[INPUTS] == 3);
  assert_true(cost_row_words(t, f->tile[2])[OUTPUTS] == 32);
  case_close(&c);
}

/* Three columns twice and two columns once: 8 / 3 on average, in use 2. */
static void instances_are_averaged_and_cut(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  const cost_frame *f = measure(&c, "R3 | P3/2x K4 P3 |");
  assert_true(f->spreads[0].instances == 2);
  assert_true(f->spreads[0].above_x == 3);
  assert_true(f->spreads[1].instances == 1);
  assert_true(f->multipliers == 3);
  case_run(&c, COST_EXACT, "R3 | P3/2x K4 P3 |");
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  assert_int_equal(c.result.computes, 96);
  assert_int_equal(c.result.compute_cycles, 3 * 4 * 3);
  assert_int_equal(c.result.levels[0].instances, 2);
  case_close(&c);
}

/* Timeloop's count of products: 8 / 3 columns of three multipliers each are 8
   multipliers, although the columns in use are cut to 2. */
static void products_are_cut_after_the_innermost_fanout(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.arch.compute.mesh_x *= 3;
  c.arch.compute.instances *= 3;
  const cost_frame *f = measure(&c, "R3x | P3/2x K4 P3 |");
  assert_true(f->spreads[0].instances == 2);
  assert_true(f->multiplying == 8);
  case_run(&c, COST_TIMELOOP, "R3x | P3/2x K4 P3 |");
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  assert_int_equal(c.result.computes, 12 * 8);
  case_close(&c);
}

/* Loops whose only pass has one iteration add nothing; yet their cycles are
   counted as if it had all, which is too much for 60 of them. */
static void many_loops_of_no_consequence(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  char loops[CASE_LOOPS * 8] = "R3 | K4 P8 |";
  for (uint32_t i = 0; i < 40; i++) strcat(loops, " P2/1");
  case_run(&c, COST_EXACT, loops);
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  assert_int_equal(c.result.compute_cycles, UINT64_C(96) << 40);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->fills, 10);
  for (uint32_t i = 0; i < 20; i++) strcat(loops, " P2/1");
  case_run(&c, COST_EXACT, loops);
  assert_int_equal(c.result.verdict.fault, COST_TOO_LARGE);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_are_those_of_a_full_pass),
      cmocka_unit_test(instances_are_averaged_and_cut),
      cmocka_unit_test(products_are_cut_after_the_innermost_fanout),
      cmocka_unit_test(many_loops_of_no_consequence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
