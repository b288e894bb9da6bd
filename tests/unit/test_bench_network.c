#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "bench/bench_network.h"
#include "bench/bench_network_randwire.h"
#include "memory/memory.h"
#include "order/order_spectrum.h"
#include "plan.h"
#include "scarce.h"

static calm_context *context;

static int set_up(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  return context == NULL;
}

static int tear_down(void **state) {
  (void)state;
  const size_t held = calm_context_bytes(context);
  calm_context_free(context);
  return held != 0;
}

static calm_model *open_network(bench_network_id id, uint64_t seed,
                                bench_grain grain) {
  calm_model *model;
  if (bench_network_open(&model, context, id, seed, grain))
    fail_msg("%s", calm_context_message(context));
  return model;
}

/* ---- What the paper has exactly ------------------------------------------ */

static calm_plan *plan_as(calm_model *model, const char *rewrite) {
  calm_options *options;
  calm_plan *plan;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  assert_int_equal(calm_options_set(options, "memory", "serenity"), CALM_OK);
  assert_int_equal(calm_options_set(options, "rewrite", rewrite), CALM_OK);
  if (calm_plan_make(&plan, model, options))
    fail_msg("%s", calm_context_message(context));
  calm_options_free(options);
  return plan;
}

static void assert_planned(calm_model *model, const char *rewrite,
                           uint64_t peak) {
  calm_plan *plan = plan_as(model, rewrite);
  const calm_plan_summary *s = calm_plan_summary_of(plan);
  assert_int_equal(s->order_outcome, CALM_OPTIMAL);
  assert_int_equal(s->layout_outcome, CALM_OPTIMAL);
  assert_int_equal(s->peak_bytes, peak);
  assert_int_equal(s->arena_bytes, peak);
  calm_plan_free(plan);
}

/* Peaks and arenas: as they are, with the sites that the paper rewrites, with
   all. */
static const struct cell {
  bench_network_id id;
  uint64_t best, paper, all;
  uint32_t nodes, paper_nodes, all_nodes; /* the input is one; 0: not known */
} cells[] = {{BENCH_DARTS_NORMAL, 903168, 752640, 752640, 0, 0, 0},
             {BENCH_SWIFTNET_A, 200704, 188160, 188160, 21, 33, 38},
             {BENCH_SWIFTNET_B, 81536, 56448, 53312, 19, 28, 31},
             {BENCH_SWIFTNET_C, 32536, 17052, 16856, 22, 30, 32}};
enum { CELLS = sizeof cells / sizeof *cells };

static void cells_have_their_peaks(void **state) {
  (void)state;
  for (uint32_t i = 0; i < CELLS; i++) {
    calm_model *model = open_network(cells[i].id, 0, BENCH_NODES);
    assert_planned(model, "none", cells[i].best);
    assert_planned(model, "paper", cells[i].paper);
    assert_planned(model, "all", cells[i].all);
    calm_model_free(model);
  }
}

static void build_problem_of(memory_problem *out, const calm_model *model,
                             arena *a) {
  assert_int_equal(memory_problem_build(out, &model->graphs.data[0],
                                        memory_model_find("serenity"), NULL, a),
                   CALM_OK);
}

/* The paper's nodes are those operators that cost something, and the input. */
static uint32_t count_nodes(const calm_model *model) {
  arena a;
  arena_init(&a, context);
  memory_problem p;
  build_problem_of(&p, model, &a);
  const uint32_t count = p.order.op_count + 1;
  arena_free(&a);
  return count;
}

static uint32_t count_rewritten_nodes(calm_model *model, const char *rewrite) {
  calm_plan *plan = plan_as(model, rewrite);
  const uint32_t count = count_nodes(calm_plan_model(plan));
  calm_plan_free(plan);
  return count;
}

static void cells_have_their_nodes(void **state) {
  (void)state;
  uint32_t all = 0;
  for (uint32_t i = 1; i < CELLS; i++) {
    calm_model *model = open_network(cells[i].id, 0, BENCH_NODES);
    assert_int_equal(count_nodes(model), cells[i].nodes);
    assert_int_equal(count_rewritten_nodes(model, "paper"),
                     cells[i].paper_nodes);
    assert_int_equal(count_rewritten_nodes(model, "all"), cells[i].all_nodes);
    all += cells[i].nodes;
    calm_model_free(model);
  }
  assert_int_equal(all, 62);
}

/* ---- The spectrum of orders ---------------------------------------------- */

static const struct spectrum_case {
  bench_network_id id;
  uint64_t orders, downsets, best;
} spectra[] = {{BENCH_DARTS_NORMAL, 94740105460000, 4525, 903168},
               {BENCH_SWIFTNET_A, 2522126120, 1345, 200704},
               {BENCH_SWIFTNET_B, 497556000, 1259, 81536},
               {BENCH_SWIFTNET_C, 1111523212800, 8645, 32536}};

static order_spectrum spectrum_of(bench_network_id id, arena *a) {
  calm_model *model = open_network(id, 0, BENCH_NODES);
  memory_problem p;
  order_spectrum s;
  calm_outcome outcome;
  limits l;
  limits_init(&l, context);
  build_problem_of(&p, model, a);
  calm_model_free(model);
  assert_int_equal(order_spectrum_find(&s, &outcome, &p.order, a, &l), CALM_OK);
  assert_int_equal(outcome, CALM_OPTIMAL);
  return s;
}

static void spectra_have_their_orders(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof spectra / sizeof *spectra; i++) {
    arena a;
    arena_init(&a, context);
    const order_spectrum s = spectrum_of(spectra[i].id, &a);
    assert_int_equal(s.orders, spectra[i].orders);
    assert_int_equal(s.downsets, spectra[i].downsets);
    assert_int_equal(s.lines[0].peak_bytes, spectra[i].best);
    arena_free(&a);
  }
}

/* Shares of SwiftNet's cell A that another program has found. */
static void cell_a_has_its_shares(void **state) {
  (void)state;
  arena a;
  arena_init(&a, context);
  const order_spectrum s = spectrum_of(BENCH_SWIFTNET_A, &a);
  double within = 0, kahn_within = 0;
  for (uint32_t i = 0; i < s.count && s.lines[i].peak_bytes <= 250880; i++) {
    within += (double)s.lines[i].orders / (double)s.orders;
    kahn_within += s.lines[i].kahn_share;
  }
  const double best = (double)s.lines[0].orders / (double)s.orders;
  assert_true(fabs(within - 0.0466) < 0.00005);
  assert_true(fabs(best - 0.000129) < 0.0000005);
  assert_true(fabs(kahn_within - 0.0323) < 0.00005);
  assert_true(fabs(s.lines[0].kahn_share - 0.000023) < 0.0000005);
  arena_free(&a);
}

/* ---- Operations and weights ---------------------------------------------- */

static bench_network_size measure(bench_network_id id, uint64_t seed) {
  calm_model *model = open_network(id, seed, BENCH_OPERATORS);
  bench_network_size size;
  assert_int_equal(bench_network_measure(&size, model), CALM_OK);
  calm_model_free(model);
  return size;
}

static void networks_have_their_sizes(void **state) {
  (void)state;
  const bench_network_size swiftnet = measure(BENCH_SWIFTNET, 0);
  assert_int_equal(swiftnet.op_count, 85);
  assert_int_equal(swiftnet.macs, 56156504);
  assert_int_equal(swiftnet.weights, 213656);
  const bench_network_size darts = measure(BENCH_DARTS, 0);
  assert_int_equal(darts.macs, 529911552);
  assert_int_equal(darts.weights + darts.biases, 4715368);
}

/* A stage of RandWire by hand: a node has 9 taps per channel and a matrix; a
   node without predecessors has half the channels coming in. */
static void stages_have_their_sizes(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= BENCH_SEED_COUNT; seed++) {
    const bench_network_size size = measure(BENCH_CIFAR10_B, seed);
    const randwire_wiring wiring = randwire_draw(1000 * seed + 11);
    uint64_t weights = 0;
    for (uint32_t v = 0; v < RANDWIRE_NODES; v++)
      weights += (wiring.before[v] ? 156U : 78U) * (9 + 156);
    assert_int_equal(size.weights, weights);
    assert_int_equal(size.macs, 8 * 8 * weights);
  }
}

static void whole_nodes_have_no_macs(void **state) {
  (void)state;
  calm_model *model = open_network(BENCH_CIFAR10_A, 1, BENCH_NODES);
  bench_network_size size;
  assert_int_equal(bench_network_measure(&size, model), CALM_UNSUPPORTED);
  calm_model_free(model);
}

/* ---- Wiring -------------------------------------------------------------- */

static uint32_t count_bits(uint32_t word) {
  uint32_t count = 0;
  for (; word; word &= word - 1) count++;
  return count;
}

/* As many edges as the ring had, all forward, in one piece. */
static void wirings_are_those_of_watts_and_strogatz(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const randwire_wiring w = randwire_draw(seed), again = randwire_draw(seed);
    uint32_t edges = 0, reached = 1;
    for (uint32_t v = 0; v < RANDWIRE_NODES; v++) {
      edges += count_bits(w.before[v]);
      assert_int_equal(w.before[v] >> v, 0);
      assert_int_equal(w.before[v], again.before[v]);
    }
    for (uint32_t round = 0; round < RANDWIRE_NODES; round++)
      for (uint32_t v = 0; v < RANDWIRE_NODES; v++)
        if (reached >> v & 1)
          reached |= w.before[v];
        else if (w.before[v] & reached)
          reached |= UINT32_C(1) << v;
    assert_int_equal(edges, 2 * RANDWIRE_NODES);
    assert_int_equal(reached, UINT32_MAX);
  }
}

/* The same on every machine, and as a program of its own draws it. */
static void the_first_wiring_stays(void **state) {
  (void)state;
  const randwire_wiring w = randwire_draw(1010);
  uint64_t sum = 0;
  for (uint32_t v = 0; v < RANDWIRE_NODES; v++) sum = sum * 31 + w.before[v];
  assert_int_equal(sum, UINT64_C(0x20e5dbf83f81ac5c));
}

/* ---- All ----------------------------------------------------------------- */

/* Each can be read, in both grains, and reads as it was written. */
static void all_are_valid(void **state) {
  (void)state;
  for (bench_network_id id = 0; id < BENCH_NETWORK_COUNT; id++)
    for (int grain = BENCH_NODES; grain <= BENCH_OPERATORS; grain++) {
      calm_model *model = open_network(id, 7, (bench_grain)grain);
      assert_string_equal(model->graphs.data[0].name, bench_networks[id].name);
      assert_true(model->graphs.data[0].file_order_valid);
      assert_int_equal(bench_networks[id].cell != NULL, id < BENCH_CELL_COUNT);
      calm_model_free(model);
    }
}

/* At each of the first allocations, and at some of the many later ones. */
static void memory_may_fail_anywhere(void **state) {
  (void)state;
  static const bench_network_id ids[] = {BENCH_SWIFTNET_C, BENCH_CIFAR10_B};
  for (uint32_t i = 0; i < 2; i++) {
    calm_status status = CALM_NO_MEMORY;
    for (uint64_t allowed = 0; status != CALM_OK; allowed += 1 + allowed / 64) {
      uint64_t left = SCARCE_NEVER;
      const calm_allocator allocator = {scarce_reallocate, &left};
      calm_context *own = calm_context_new(&allocator);
      assert_non_null(own);
      left = allowed;
      calm_model *model = NULL;
      bench_network_size size;
      status = bench_network_open(&model, own, ids[i], 1, BENCH_OPERATORS);
      if (status == CALM_OK) status = bench_network_measure(&size, model);
      if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
      calm_model_free(model);
      assert_int_equal(calm_context_bytes(own), 0);
      calm_context_free(own);
      assert_true(allowed < 100000);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_have_their_peaks),
      cmocka_unit_test(cells_have_their_nodes),
      cmocka_unit_test(spectra_have_their_orders),
      cmocka_unit_test(cell_a_has_its_shares),
      cmocka_unit_test(networks_have_their_sizes),
      cmocka_unit_test(stages_have_their_sizes),
      cmocka_unit_test(whole_nodes_have_no_macs),
      cmocka_unit_test(wirings_are_those_of_watts_and_strogatz),
      cmocka_unit_test(the_first_wiring_stays),
      cmocka_unit_test(all_are_valid),
      cmocka_unit_test(memory_may_fail_anywhere)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
