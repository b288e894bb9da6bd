/*
 * Small nests whose every number Timeloop printed: all of its iterations
 * simulated and links off (exact), and as it runs by default (timeloop).
 */
#include "cost_case.h"

#include "scarce.h"

typedef struct counts {
  uint64_t reads, fills, updates;
} counts;

/* Numbers of both models; where they differ, the inputs do. */
typedef struct micro {
  const char *loops;
  uint64_t stride;
  uint32_t kept; /* at the innermost level */
  uint64_t cycles;
  double exact_pj, timeloop_pj;
  counts exact[3][3];          /* [level][tensor] */
  uint64_t pe_fills, gb_fills; /* of inputs, timeloop */
} micro;

/* clang-format off */
static const micro MICROS[] = {
    {"R3 | P8 K4 |", 1, 7, 96, 19692.683417085427, 19692.683417085427,
     {{{96, 12, 0}, {96, 40, 0}, {64, 0, 96}},
      {{12, 12, 0}, {40, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 40, 10},
    {"R3 | K4 P8 |", 1, 7, 96, 19840.140703517587, 19840.140703517587,
     {{{96, 96, 0}, {96, 10, 0}, {64, 0, 96}},
      {{96, 12, 0}, {10, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 10, 10},
    {"R3 | K4x P8 |", 1, 7, 24, 19648.844221105526, 19648.844221105526,
     {{{24, 3, 0}, {24, 10, 0}, {16, 0, 24}},
      {{12, 12, 0}, {10, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 10, 10},
    {"R3 | | P8 K4", 1, 7, 96, 19742.97487437186, 19742.97487437186,
     {{{96, 12, 0}, {96, 40, 0}, {64, 0, 96}},
      {{12, 12, 0}, {40, 40, 0}, {0, 0, 32}},
      {{12, 0, 0}, {40, 0, 0}, {0, 0, 32}}}, 40, 40},
    {"R3 | P4 | P2 K4", 1, 7, 96, 19742.97487437186, 19764.040201005024,
     {{{96, 12, 0}, {96, 40, 0}, {64, 0, 96}},
      {{12, 12, 0}, {40, 40, 0}, {0, 0, 32}},
      {{12, 0, 0}, {40, 0, 0}, {0, 0, 32}}}, 48, 40},
    {"R3 | P2 | P4 K4", 1, 7, 96, 19742.97487437186, 19742.97487437186,
     {{{96, 12, 0}, {96, 40, 0}, {64, 0, 96}},
      {{12, 12, 0}, {40, 40, 0}, {0, 0, 32}},
      {{12, 0, 0}, {40, 0, 0}, {0, 0, 32}}}, 40, 40},
    {"K4 | P8 R3 |", 1, 7, 96, 19953.18592964824, 19953.18592964824,
     {{{96, 12, 0}, {96, 24, 0}, {64, 64, 96}},
      {{12, 12, 0}, {24, 10, 0}, {64, 0, 96}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 22, 10},
    {"K4 | R3 P8 |", 1, 7, 96, 19863.356783919597, 19861.206030150755,
     {{{96, 96, 0}, {96, 24, 0}, {64, 0, 96}},
      {{96, 12, 0}, {24, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 17, 10},
    {"K4 | R3 P8 |", 2, 7, 96, 19877.96984924623, 19880.120603015075,
     {{{96, 96, 0}, {96, 17, 0}, {64, 0, 96}},
      {{96, 12, 0}, {17, 17, 0}, {0, 0, 32}},
      {{12, 0, 0}, {17, 0, 0}, {0, 0, 32}}}, 24, 17},
    {"R3 | P8 | K4", 1, 7, 96, 19692.683417085427, 19692.683417085427,
     {{{96, 12, 0}, {96, 40, 0}, {64, 0, 96}},
      {{12, 12, 0}, {40, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 40, 10},
    {"R3 | P4x P2 | K4", 1, 7, 24, 19859.497487437187, 19859.497487437187,
     {{{24, 12, 0}, {24, 24, 0}, {16, 0, 24}},
      {{12, 12, 0}, {96, 10, 0}, {0, 0, 32}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 24, 10},
    {"| K4x P8 R3 |", 1, 0, 24, 19877.78894472362, 19877.78894472362,
     {{{0}},
      {{96, 12, 0}, {24, 10, 0}, {64, 0, 96}},
      {{12, 0, 0}, {10, 0, 0}, {0, 0, 32}}}, 0, 10},
};
/* clang-format on */

static void check_counts(const cost_case *c, const micro *m) {
  for (uint32_t level = 0; level < CASE_LEVELS; level++)
    for (uint32_t t = 0; t < 3; t++) {
      const cost_tensor *got = case_tensor(c, level, t);
      assert_int_equal(got->reads, m->exact[level][t].reads);
      assert_int_equal(got->fills, m->exact[level][t].fills);
      assert_int_equal(got->updates, m->exact[level][t].updates);
    }
}

static void counts_are_timeloops(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof MICROS / sizeof *MICROS; i++) {
    const micro *m = &MICROS[i];
    cost_case c;
    case_open(&c, m->stride);
    c.kept[0] = m->kept;
    case_run(&c, COST_EXACT, m->loops);
    assert_int_equal(c.result.verdict.fault, COST_VALID);
    assert_int_equal(c.result.cycles, m->cycles);
    assert_int_equal(c.result.computes, 96);
    assert_close(c.result.energy_pj, m->exact_pj);
    assert_close(c.result.edp, m->exact_pj * (double)m->cycles);
    assert_int_equal(c.result.limiting_level, CALM_NONE);
    check_counts(&c, m);
    case_run(&c, COST_TIMELOOP, m->loops);
    assert_int_equal(c.result.cycles, m->cycles);
    assert_close(c.result.energy_pj, m->timeloop_pj);
    assert_int_equal(case_tensor(&c, 0, INPUTS)->fills, m->pe_fills);
    assert_int_equal(case_tensor(&c, 1, INPUTS)->fills, m->gb_fills);
    case_close(&c);
  }
}

/* ---- One key at a time --------------------------------------------------- */

/* The nest, its figures, and then what one key of the global buffer does. */
static const char SPREAD[] = "R3 | P2x K2x P2 | P2 K2";
static const double SPREAD_PJ = 19741.708542713568;

static void check_energy(cost_case *c, double more, double weights,
                         double inputs, double outputs) {
  case_run(c, COST_EXACT, SPREAD);
  assert_int_equal(c->result.verdict.fault, COST_VALID);
  assert_int_equal(c->result.cycles, 24);
  assert_close(c->result.energy_pj, SPREAD_PJ + more);
  assert_close(case_flow(c, 1, WEIGHTS)->energy_pj, weights);
  assert_close(case_flow(c, 1, INPUTS)->energy_pj, inputs);
  assert_close(case_flow(c, 1, OUTPUTS)->energy_pj, outputs);
}

static void networks_cost_what_they_do_in_timeloop(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  accel_network *n = &c.levels[1].network;
  const accel_network bare = *n;
  check_energy(&c, 0, 0, 0, 0);
  n->ingress_pj = 1;
  check_energy(&c, 80, 12, 36, 32);
  *n = bare, n->hop_pj = 1;
  check_energy(&c, 162, 24, 90, 48);
  assert_close(case_flow(&c, 1, INPUTS)->hops, 2.5);
  *n = bare, n->router_pj = 1;
  check_energy(&c, 208, 36, 108, 64);
  case_close(&c);
}

static void latencies_are_added_at_the_end(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[1].network.fill_cycles = 5;
  c.levels[1].network.drain_cycles = 7;
  c.levels[0].energy.leak_pj = 0.01;
  case_run(&c, COST_EXACT, SPREAD);
  assert_int_equal(c.result.cycles, 36);
  assert_int_equal(c.result.compute_cycles, 24);
  assert_close(c.result.levels[0].leak_pj, 0.01 * 24 * 4);
  case_close(&c);
}

static void address_generation_is_paid_per_cluster(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[1].energy.address_pj = 1;
  case_run(&c, COST_EXACT, SPREAD);
  assert_close(c.result.energy_pj, SPREAD_PJ + 112);
  case_close(&c);
}

/* Three words a cycle for reads, fills and updates together. */
static void shared_bandwidth_limits(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  c.levels[0].read_bandwidth = c.levels[0].write_bandwidth = 0;
  c.levels[0].shared_bandwidth = 3;
  c.options.networks = true;
  case_run(&c, COST_EXACT, SPREAD);
  assert_int_equal(c.result.cycles, 38);
  assert_true(c.result.levels[0].busy_cycles == 38);
  assert_int_equal(c.result.limiting_level, 0);
  assert_close(c.result.utilization, 96. / 64 / 38);
  accel_scale scales[] = {{.tensor = "Inputs"},
                          {.tensor = "Weights"},
                          {.tensor = "Outputs", .scale = 1}};
  c.levels[0].scales = scales;
  c.levels[0].scale_count = 3;
  case_run(&c, COST_EXACT, SPREAD);
  assert_int_equal(c.result.cycles, 24);
  const cost_tensor *sums = case_tensor(&c, 0, OUTPUTS);
  const uint64_t words = sums->reads + sums->fills + sums->updates;
  assert_true(c.result.levels[0].busy_cycles == (double)((words + 2) / 3));
  assert_in_range(words, 1, 3 * 24);
  c.levels[0].shared_bandwidth = 0;
  c.levels[0].write_bandwidth = 16;
  case_run(&c, COST_EXACT, SPREAD);
  assert_true(c.result.levels[0].busy_cycles ==
              (double)((sums->fills + sums->updates + 15) / 16));
  c.levels[0].write_bandwidth = 0;
  case_run(&c, COST_EXACT, SPREAD);
  assert_true(c.result.levels[0].busy_cycles == -1);
  case_close(&c);
}

/* A sink that adds spares the way down. */
static void reductions_at_dram(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  case_run(&c, COST_EXACT, "K4 | | P8 R3");
  assert_close(case_flow(&c, 2, OUTPUTS)->ingresses, 2 * 96 - 32);
  c.levels[2].reduction_supported = true;
  case_run(&c, COST_EXACT, "K4 | | P8 R3");
  assert_close(case_flow(&c, 2, OUTPUTS)->ingresses, 96);
  case_close(&c);
}

/* A result is used again and again; an invalid nest between two valid ones
   leaves nothing behind, nor does one that links. */
static void results_do_not_depend_on_what_was_before(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  case_run(&c, COST_TIMELOOP, SPREAD);
  const double first = c.result.energy_pj;
  case_loops(&c, "R3 | P4x P2 | K2");
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_int_equal(c.result.verdict.fault, COST_FACTORS);
  case_loops(&c, "K4x | P8 R3 |");
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  case_loops(&c, SPREAD);
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_true(c.result.energy_pj == first);
  case_close(&c);
}

/* ---- Memory -------------------------------------------------------------- */

static calm_status run_all(cost_case *c, arena *a) {
  TRY(cost_problem_init(&c->problem, &c->arch, &c->layer, &c->options, a));
  TRY(cost_result_init(&c->result, &c->problem, a));
  return cost_evaluate(&c->result, &c->problem, &c->nest);
}

/* Whichever request is refused, nothing is lost; a perfect nest without links
   asks for nothing once all is ready. */
static void memory_runs_out(void **state) {
  (void)state;
  cost_case c;
  case_open(&c, 1);
  case_loops(&c, "K4x | P8 R3 |");
  uint64_t left = SCARCE_NEVER;
  const calm_allocator scarce = {scarce_reallocate, &left};
  for (cost_model model = COST_EXACT; model <= COST_TIMELOOP; model++) {
    calm_status status = CALM_NO_MEMORY;
    for (uint64_t granted = 1; status != CALM_OK; granted++) {
      left = SCARCE_NEVER;
      calm_context *context = calm_context_new(&scarce);
      arena a;
      arena_init(&a, context);
      const size_t before = calm_context_bytes(context);
      left = granted - 1;
      c.options.model = model;
      status = run_all(&c, &a);
      assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
      arena_free(&a);
      assert_int_equal(calm_context_bytes(context), before);
      calm_context_free(context);
    }
  }
  case_run(&c, COST_EXACT, SPREAD);
  const size_t ready = calm_context_bytes(c.context);
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_int_equal(calm_context_bytes(c.context), ready);
  case_close(&c);
}

/* Each of four buffers needs at every R what its right neighbour had at the
   last: 4 + 1 + 1 words and 6 handed on, or 12 words; 8 times. */
static void neighbours_hand_on_unless_told_otherwise(void **state) {
  (void)state;
  static const char loops[] = "| P4x R3 | P2 K4";
  uint32_t unlinked[CASE_LEVELS] = {0, 1u << WEIGHTS, 0};
  cost_case c;
  case_open(&c, 1);
  case_run(&c, COST_TIMELOOP, loops);
  assert_close(case_flow(&c, 1, INPUTS)->links, 48.0);
  c.nest.unlinked = unlinked;
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_close(case_flow(&c, 1, INPUTS)->links, 48.0);
  assert_close(case_flow(&c, 1, INPUTS)->ingresses, 48.0);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 48);
  assert_int_equal(case_tensor(&c, 0, INPUTS)->reads, 96 / 4 + 48 / 4);
  unlinked[1] |= 1u << INPUTS;
  assert_int_equal(cost_evaluate(&c.result, &c.problem, &c.nest), CALM_OK);
  assert_true(case_flow(&c, 1, INPUTS)->links == 0);
  assert_close(case_flow(&c, 1, INPUTS)->ingresses, 96.0);
  assert_int_equal(case_tensor(&c, 1, INPUTS)->reads, 96);
  assert_int_equal(case_tensor(&c, 0, INPUTS)->reads, 96 / 4);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(neighbours_hand_on_unless_told_otherwise),
      cmocka_unit_test(counts_are_timeloops),
      cmocka_unit_test(networks_cost_what_they_do_in_timeloop),
      cmocka_unit_test(latencies_are_added_at_the_end),
      cmocka_unit_test(address_generation_is_paid_per_cluster),
      cmocka_unit_test(shared_bandwidth_limits),
      cmocka_unit_test(reductions_at_dram),
      cmocka_unit_test(results_do_not_depend_on_what_was_before),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
