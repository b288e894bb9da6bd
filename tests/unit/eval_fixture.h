/*
 * Evaluations filled by hand: a machine of three levels, one of them a mesh
 * without memory, a small convolution, and figures that nobody computed.
 */
#ifndef CALM_TESTS_EVAL_FIXTURE_H
#define CALM_TESTS_EVAL_FIXTURE_H

#include "eval.h"
#include "report_fixture.h"

enum { BUFFER, MESH, MEMORY, LEVELS, TENSORS = 3 };

typedef struct eval_fixture {
  uint64_t allocations_left;
  calm_context *context;
  calm_evaluation evaluation;
  accel_level levels[LEVELS];
  accel_dimension dimensions[3];
  accel_tensor tensors[TENSORS];
  accel_loop loops[3];
  uint32_t kept[LEVELS];
  cost_level level_costs[2][LEVELS];
  cost_tensor tensor_costs[2][LEVELS * TENSORS];
  cost_flow flows[2][LEVELS * TENSORS];
  cost_group group;
} eval_fixture;

static inline void fill_machine(eval_fixture *f) {
  accel_arch *a = &f->evaluation.arch;
  f->levels[BUFFER] = (accel_level){.name = "Buffer",
                                    .capacity_words = 100,
                                    .instances = 4,
                                    .word_bits = 8,
                                    .block_words = 1,
                                    .energy = {1, 2, 3, .known = true}};
  f->levels[MESH] = (accel_level){
      .name = "inter_PE_spatial", .virtual_level = true, .instances = 1};
  f->levels[MEMORY] = (accel_level){.name = "odd\xff memory",
                                    .capacity_words = ACCEL_UNLIMITED,
                                    .instances = 1,
                                    .word_bits = 8,
                                    .block_words = 4,
                                    .energy = {100, 100, 100, .known = true}};
  *a = (accel_arch){.name = "small",
                    .compute = {.name = "MAC", .instances = 4},
                    .levels = f->levels,
                    .level_count = LEVELS};
}

static inline void fill_layer(eval_fixture *f) {
  f->dimensions[0] = (accel_dimension){"R", 3};
  f->dimensions[1] = (accel_dimension){"K", 4};
  f->dimensions[2] = (accel_dimension){"N", 1};
  f->tensors[0] = (accel_tensor){.name = "Weights"};
  f->tensors[1] = (accel_tensor){.name = "Inputs"};
  f->tensors[2] = (accel_tensor){.name = "Outputs", .read_write = true};
  f->evaluation.layer = (accel_layer){.name = "layer",
                                      .shape = "cnn-layer",
                                      .dimensions = f->dimensions,
                                      .dimension_count = 3,
                                      .tensors = f->tensors,
                                      .tensor_count = TENSORS,
                                      .macs = 12,
                                      .count = 1};
}

/* Everything kept at Buffer and memory; at the mesh nothing. */
static inline void fill_costs(eval_fixture *f, int i, uint64_t words) {
  for (int level = 0; level < LEVELS; level++) {
    f->level_costs[i][level] = (cost_level){.instances = 1,
                                            .cycles = 12,
                                            .slowdown = 1,
                                            .busy_cycles = -1,
                                            .used_words = 9};
    for (int t = 0; t < TENSORS; t++) {
      f->flows[i][level * TENSORS + t] = (cost_flow){.fanout = 1};
      if (level == MESH) continue;
      f->tensor_costs[i][level * TENSORS + t] =
          (cost_tensor){.kept = true,
                        .tile_words = 3,
                        .partition_words = 4,
                        .reads = words,
                        .fills = 5,
                        .updates = t == 2 ? 6 : 0,
                        .temporal_reductions = 7,
                        .address_generations = 8,
                        .clusters = 2,
                        .energy_pj = 1000.5};
      f->level_costs[i][level].energy_pj += 1000.5;
    }
  }
  f->level_costs[i][BUFFER].instances = 2;
  f->level_costs[i][MEMORY].cycles = 40;
  f->level_costs[i][MEMORY].busy_cycles = 40;
  f->level_costs[i][MEMORY].slowdown = 0.3;
}

static inline void fill_nest(eval_fixture *f, int i, const char *path) {
  eval_nest *n = &f->evaluation.nests[i];
  f->loops[0] = (accel_loop){3, 3, 0, BUFFER, ACCEL_TEMPORAL};
  f->loops[1] = (accel_loop){2, 2, 1, MEMORY, ACCEL_SPATIAL_X};
  f->loops[2] = (accel_loop){2, 2, 1, MEMORY, ACCEL_TEMPORAL};
  f->kept[BUFFER] = f->kept[MEMORY] = 7;
  n->path = path;
  n->nest = (accel_nest){.loops = f->loops,
                         .loop_count = 3,
                         .kept = f->kept,
                         .level_count = LEVELS};
  n->result = (cost_result){.computes = 12,
                            .compute_cycles = 12,
                            .multipliers = 2,
                            .cycles = 40,
                            .energy_pj = 6015,
                            .compute_pj = 12,
                            .edp = 240600,
                            .utilization = 0.15,
                            .limiting_level = MEMORY,
                            .level_count = LEVELS,
                            .tensor_count = TENSORS,
                            .levels = f->level_costs[i],
                            .tensors = f->tensor_costs[i],
                            .flows = f->flows[i]};
  n->summary = (calm_evaluation_summary){true, 12, 40, 6015, 240600, 0.15};
}

/* One nest, or two that differ in what is read. */
static inline const calm_evaluation *fixture_evaluation(eval_fixture *f,
                                                        uint32_t nests) {
  calm_evaluation *e = &f->evaluation;
  e->context = f->context;
  e->energy = true;
  e->nest_count = nests;
  fill_machine(f);
  fill_layer(f);
  for (uint32_t i = 0; i < nests; i++) {
    fill_costs(f, (int)i, 10 + 5 * i);
    fill_nest(f, (int)i, i ? "second.yaml" : "some/first.yaml");
  }
  f->group = (cost_group){.multicast = 2, .scatter = 3, .accesses = 4.5};
  f->flows[0][MEMORY * TENSORS] = (cost_flow){.fanout = 6,
                                              .ingresses = 4.5,
                                              .links = 1,
                                              .hops = 1.5,
                                              .spatial_reductions = 3,
                                              .energy_pj = 2,
                                              .groups = &f->group,
                                              .group_count = 1};
  return e;
}

static inline void eval_fixture_open(eval_fixture *f) {
  const calm_allocator scarce = {scarce_reallocate, &f->allocations_left};
  memset(f, 0, sizeof *f);
  f->allocations_left = SCARCE_NEVER;
  f->context = calm_context_new(&scarce);
}

static inline void eval_fixture_close(eval_fixture *f) {
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

#endif
