/*
 * Every reason for which a nest is not valid, in words, and which of several
 * comes first.
 */
#include "cost_case.h"

static void check(cost_case *c, const char *loops, cost_fault fault,
                  const char *words) {
  case_loops(c, loops);
  assert_int_equal(cost_problem_init(&c->problem, &c->arch, &c->layer,
                                     &c->options, &c->arena),
                   CALM_OK);
  cost_verdict v;
  cost_judge(&v, &c->problem, &c->nest);
  text t;
  text_init(&t, c->context);
  cost_verdict_text(&t, &v, &c->problem);
  assert_string_equal(t.data, words);
  assert_int_equal(v.fault, fault);
  text_free(&t);
}

static const char GOOD[] = "R3 | K4x P8 |";

static void factors_come_first(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  check(&c, GOOD, COST_VALID, "valid");
  c.kept[0] = c.kept[1] = c.kept[2] = 0;
  check(&c, "R3 | K4x P8 P2 |", COST_FACTORS,
        "the loops of P make up 16 iterations, its bound is 8");
  check(&c, "R3 | K4x P4000000000 P4000000000 | P4000000000", COST_FACTORS,
        "the loops of P make up 18,446,744,073,709,551,615 iterations, its "
        "bound is 8");
  check(&c, "R3 | K4x P3/2 | P2", COST_FACTORS,
        "the loops of P make up 5 iterations, its bound is 8");
  case_close(&c);
}

static void each_tensor_is_kept_somewhere(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  for (uint32_t i = 0; i < CASE_LEVELS; i++) c.kept[i] = 1 << OUTPUTS | 1;
  check(&c, GOOD, COST_KEPT_NOWHERE, "Inputs is kept at no level");
  c.kept[1] |= 1 << INPUTS;
  check(&c, GOOD, COST_VALID, "valid");
  case_close(&c);
}

static void multipliers_come_before_levels(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[0].capacity_words = 1;
  c.arch.compute.instances = 2;
  check(&c, GOOD, COST_COMPUTE_COUNT,
        "MAC: 4 multipliers in use exceed the 2 there are");
  c.arch.compute.instances = 4;
  c.arch.compute.mesh_x = 2, c.arch.compute.mesh_y = 2;
  check(&c, GOOD, COST_COMPUTE_X,
        "MAC: 4 columns in use exceed the 2 of its "
        "mesh");
  check(&c, "R3 | K4y P8 |", COST_COMPUTE_Y,
        "MAC: 4 rows in use exceed the 2 of its mesh");
  case_close(&c);
}

static void capacity_comes_before_instances(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[0].capacity_words = 6;
  c.levels[0].instances = 2;
  check(&c, GOOD, COST_CAPACITY,
        "PEBuffer: tiles of 7 words exceed its capacity of 6 (Weights: 3)");
  c.levels[0].capacity_words = 100;
  c.levels[0].min_utilization = 0.5;
  check(&c, GOOD, COST_MIN_UTILIZATION,
        "PEBuffer: tiles of 7 words are less than the 50 it must hold");
  c.levels[0].min_utilization = 0;
  check(&c, GOOD, COST_INSTANCES,
        "PEBuffer: 4 instances in use exceed the 2 there are");
  c.levels[0].instances = 4, c.levels[0].mesh_x = 2, c.levels[0].mesh_y = 2;
  check(&c, GOOD, COST_MESH_X,
        "PEBuffer: 4 columns in use exceed the 2 of its mesh");
  check(&c, "R3 | K4y P8 |", COST_COMPUTE_Y,
        "MAC: 4 rows in use exceed the 1 of its mesh");
  c.arch.compute.mesh_x = 16, c.arch.compute.mesh_y = 4;
  check(&c, "R3 | K4y P8 |", COST_MESH_Y,
        "PEBuffer: 4 rows in use exceed the 2 of its mesh");
  case_close(&c);
}

/* Two buffers over four columns each: one may have all eight if the other is
   idle, unless every level is looked at by itself. */
static void fanouts_are_cumulative_or_not(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[0].instances = c.levels[0].mesh_x = 8;
  c.levels[1].instances = c.levels[1].mesh_x = 2;
  c.options.fanout = COST_FANOUT_CUMULATIVE;
  check(&c, "R3 | P8x K4 |", COST_VALID, "valid");
  c.options.fanout = COST_FANOUT_LEVEL;
  check(&c, "R3 | P8x K4 |", COST_FANOUT_X,
        "GlobalBuffer: 8 columns below it exceed the 4 of its fan-out");
  check(&c, "R3 | P4x | P2x K4", COST_VALID, "valid");
  case_close(&c);
}

static void virtual_levels_keep_nothing(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[1].virtual_level = true;
  check(&c, GOOD, COST_VIRTUAL_KEPT,
        "GlobalBuffer has no memory and cannot keep Weights");
  c.kept[1] = 0;
  check(&c, GOOD, COST_VALID, "valid");
  case_close(&c);
}

/* Cycles beyond what is exact: a word needs 2^53 of them. */
static void counts_that_are_not_exact_are_refused(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[2].read_bandwidth = 1e-15;
  case_run(&c, COST_EXACT, GOOD);
  assert_int_equal(c.result.verdict.fault, COST_TOO_LARGE);
  assert_int_equal(c.result.verdict.level, 2);
  c.kept[0] = c.kept[1] = 1 << WEIGHTS | 1 << OUTPUTS;
  for (uint32_t i = 0; i < c.layer.tensors[INPUTS].rank_count; i++) {
    accel_rank *rank = &c.layer.tensors[INPUTS].ranks[i];
    if (rank->term_count == 2) rank->terms[0].coefficient = UINT64_C(1) << 60;
  }
  check(&c, GOOD, COST_TOO_LARGE,
        "Inputs has counts beyond 9,007,199,254,740,992, which are not exact");
  case_close(&c);
}

static void check_words(const cost_case *c, const char *words) {
  text t;
  text_init(&t, c->context);
  cost_verdict_text(&t, &c->result.verdict, &c->problem);
  assert_string_equal(t.data, words);
  text_free(&t);
}

/* A million elements are gone through where hops are asked for, four million by
   a replay. */
static void limits_are_not_faults_of_the_nest(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.layer.dimensions[accel_layer_dimension(&c.layer, "K")].bound = 1 << 23;
  c.layer.macs = UINT64_C(24) << 23;
  c.levels[0].instances = c.levels[0].mesh_x = 1 << 23;
  c.arch.compute.instances = c.arch.compute.mesh_x = 1 << 23;
  c.levels[1].capacity_words = ACCEL_UNLIMITED;
  c.options.networks = true;
  case_run(&c, COST_EXACT, "R3 P8 | K8388608x |");
  assert_int_equal(c.result.verdict.fault, COST_LIMIT_ELEMENTS);
  check_words(&c,
              "GlobalBuffer: Weights has 8,388,608 places below it, and "
              "calm's limit is 1,048,576; it would help to spread some of "
              "these loops at another level");
  case_run(&c, COST_EXACT, "R2/1 P8 | R2 K8388608x |");
  assert_int_equal(c.result.verdict.fault, COST_LIMIT_ELEMENTS);
  assert_int_equal(c.result.verdict.available, 1 << 22);
  c.options.networks = false;
  case_run(&c, COST_EXACT, "R3 P8 | K8388608x |");
  assert_int_equal(c.result.verdict.fault, COST_VALID);
  case_close(&c);
}

static void faults_have_names(void **state) {
  (void)state;
  assert_null(cost_fault_name(COST_VALID));
  assert_string_equal(cost_fault_name(COST_FACTORS), "factors");
  assert_string_equal(cost_fault_name(COST_TOO_LARGE), "too-large");
  assert_string_equal(cost_fault_name(COST_LIMIT_STEPS), "limit");
  assert_string_equal(cost_fault_name(COST_LIMIT_PATTERNS), "limit");
  assert_false(cost_fault_is_limit(COST_TOO_LARGE));
  assert_true(cost_fault_is_limit(COST_LIMIT_STEPS));
  assert_true(cost_fault_is_limit(COST_LIMIT_PATTERNS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_come_first),
      cmocka_unit_test(each_tensor_is_kept_somewhere),
      cmocka_unit_test(multipliers_come_before_levels),
      cmocka_unit_test(capacity_comes_before_instances),
      cmocka_unit_test(fanouts_are_cumulative_or_not),
      cmocka_unit_test(virtual_levels_keep_nothing),
      cmocka_unit_test(counts_that_are_not_exact_are_refused),
      cmocka_unit_test(limits_are_not_faults_of_the_nest),
      cmocka_unit_test(faults_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
