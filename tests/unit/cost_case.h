/*
 * A machine, a layer and a nest in a few words, for tests of the cost room: the
 * machine of Timeloop's chiplet (64 multipliers, a buffer each, a global
 * buffer, DRAM; energies of its built-in tables), a one-dimensional convolution
 * of R 3, P 8, K 4, and loops as in cost_pieces.h.
 */
#ifndef CALM_TESTS_COST_CASE_H
#define CALM_TESTS_COST_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "cost/cost.h"
#include "cost_pieces.h"

enum { CASE_LEVELS = 3, CASE_LOOPS = 64 };
enum { WEIGHTS, INPUTS, OUTPUTS, ALL_KEPT = 7 };

typedef struct cost_case {
  calm_context *context;
  arena arena;
  accel_arch arch;
  accel_level levels[CASE_LEVELS];
  accel_layer layer;
  accel_nest nest;
  accel_loop loops[CASE_LOOPS];
  uint32_t kept[CASE_LEVELS];
  cost_options options;
  cost_problem problem;
  cost_result result;
} cost_case;

static inline void case_machine(cost_case *c) {
  static const char *const names[] = {"PEBuffer", "GlobalBuffer", "DRAM"};
  static const double access_pj[] = {2.150753768844221, 16.763819095477388,
                                     6400};
  static const uint64_t capacity[] = {2048, 65536, ACCEL_UNLIMITED};
  static const uint32_t block[] = {4, 8, 64};
  static const double bandwidth[] = {4, 32, 10};
  for (uint32_t i = 0; i < CASE_LEVELS; i++) {
    accel_level *l = &c->levels[i];
    *l = cost_plain_level(names[i]);
    l->dram = i == CASE_LEVELS - 1;
    l->reduction_supported = !l->dram;
    l->capacity_words = capacity[i];
    l->block_words = block[i];
    l->read_bandwidth = l->write_bandwidth = bandwidth[i];
    l->network.word_bits = 8;
    const double pj = access_pj[i];
    l->energy = (accel_energy){pj, pj, pj, .address_pj = -1, .known = true};
  }
  c->levels[0].instances = c->levels[0].mesh_x = 64;
  c->arch = (accel_arch){.name = "chiplet",
                         .compute = {.name = "MAC",
                                     .instances = 64,
                                     .mesh_x = 64,
                                     .mesh_y = 1,
                                     .energy_pj = 0.25},
                         .levels = c->levels,
                         .level_count = CASE_LEVELS};
}

static inline void case_open(cost_case *c, uint64_t stride) {
  memset(c, 0, sizeof *c);
  c->context = calm_context_new(NULL);
  assert_non_null(c->context);
  arena_init(&c->arena, c->context);
  case_machine(c);
  const accel_convolution shape = {3, 1, 8,      1,      1, 4,
                                   1, 1, stride, stride, 1, 1};
  assert_int_equal(
      accel_layer_convolution(&c->layer, "conv1d", &shape, &c->arena), CALM_OK);
  for (uint32_t i = 0; i < CASE_LEVELS; i++) c->kept[i] = ALL_KEPT;
}

static inline void case_close(cost_case *c) {
  arena_free(&c->arena);
  assert_int_equal(calm_context_bytes(c->context), 0);
  calm_context_free(c->context);
}

/* "R3 | P8 | K4" */
static inline void case_loops(cost_case *c, const char *text) {
  c->nest = (accel_nest){
      .loops = c->loops, .kept = c->kept, .level_count = CASE_LEVELS};
  assert_true(cost_read_loops(&c->nest, text, &c->layer) == CASE_LEVELS);
}

/* Make ready and evaluate; the verdict is the caller's to look at. */
static inline void case_run(cost_case *c, cost_model model, const char *loops) {
  c->options.model = model;
  case_loops(c, loops);
  assert_int_equal(cost_problem_init(&c->problem, &c->arch, &c->layer,
                                     &c->options, &c->arena),
                   CALM_OK);
  assert_int_equal(cost_result_init(&c->result, &c->problem, &c->arena),
                   CALM_OK);
  assert_int_equal(cost_evaluate(&c->result, &c->problem, &c->nest), CALM_OK);
}

static inline const cost_tensor *case_tensor(const cost_case *c, uint32_t level,
                                             uint32_t tensor) {
  return &c->result.tensors[level * c->result.tensor_count + tensor];
}

static inline const cost_flow *case_flow(const cost_case *c, uint32_t level,
                                         uint32_t tensor) {
  return &c->result.flows[level * c->result.tensor_count + tensor];
}

#define assert_close(a, b) \
  assert_true((a) - (b) <= 1e-9 * (b) && (b) - (a) <= 1e-9 * (b))

#endif
