/*
 * Small convolutions over one dimension, written as what stands in a table of
 * the documentation: a few loops on a machine of three levels (PE, GB, DRAM).
 */
#ifndef CALM_TESTS_COST_ROW_H
#define CALM_TESTS_COST_ROW_H

#include "cost_pieces.h"
#include "cost_referee.h"

enum { ROW_PE, ROW_GB, ROW_DRAM, ROW_LEVELS };
enum { ROW_WEIGHTS, ROW_INPUTS, ROW_OUTPUTS, ROW_TENSORS };

/* How the window moves: Inputs [C] [P * stride + R * dilation]. */
typedef struct row_layer {
  uint64_t stride, dilation;
} row_layer;

typedef cost_pieces row;

static inline accel_tensor row_tensor(arena *a, const char *name,
                                      bool read_write, uint32_t ranks) {
  accel_tensor t = {.name = name, .read_write = read_write};
  t.ranks = referee_memory(a, ranks, sizeof *t.ranks);
  t.rank_count = ranks;
  return t;
}

static inline void row_term(accel_tensor *t, arena *a, uint32_t rank,
                            uint32_t dimension, uint64_t coefficient) {
  accel_rank *r = &t->ranks[rank];
  if (!r->terms) r->terms = referee_memory(a, 2, sizeof *r->terms);
  r->terms[r->term_count++] = (accel_term){dimension, coefficient};
  if (coefficient) t->dimensions |= UINT32_C(1) << dimension;
}

static inline void row_add_layer(row *out, const row_layer *l, arena *a) {
  static const char *const names[] = {"R", "P", "C", "K"};
  enum { R, P, C, K };
  accel_tensor *t = referee_memory(a, ROW_TENSORS, sizeof *t);
  t[ROW_WEIGHTS] = row_tensor(a, "Weights", false, 3);
  row_term(&t[ROW_WEIGHTS], a, 0, C, 1);
  row_term(&t[ROW_WEIGHTS], a, 1, K, 1);
  row_term(&t[ROW_WEIGHTS], a, 2, R, 1);
  t[ROW_INPUTS] = row_tensor(a, "Inputs", false, 2);
  row_term(&t[ROW_INPUTS], a, 0, C, 1);
  row_term(&t[ROW_INPUTS], a, 1, R, l->dilation);
  row_term(&t[ROW_INPUTS], a, 1, P, l->stride);
  t[ROW_OUTPUTS] = row_tensor(a, "Outputs", true, 2);
  row_term(&t[ROW_OUTPUTS], a, 0, K, 1);
  row_term(&t[ROW_OUTPUTS], a, 1, P, 1);
  out->layer = (accel_layer){.name = "row",
                             .shape = "row",
                             .dimension_count = 4,
                             .tensors = t,
                             .tensor_count = ROW_TENSORS,
                             .macs = 1,
                             .count = 1};
  out->layer.dimensions = referee_memory(a, 4, sizeof *out->layer.dimensions);
  for (uint32_t d = 0; d < 4; d++)
    out->layer.dimensions[d] = (accel_dimension){names[d], 1};
}

/* 16 PEs in four rows; whatever has an energy has that of 1 pJ a word. */
static inline void row_add_arch(row *out, arena *a) {
  static const char *const names[] = {"PE", "GB", "DRAM"};
  accel_level *l = referee_memory(a, ROW_LEVELS, sizeof *l);
  for (uint32_t i = 0; i < ROW_LEVELS; i++) {
    l[i] = cost_plain_level(names[i]);
    l[i].dram = i == ROW_DRAM;
    l[i].reduction_supported = !l[i].dram;
    l[i].energy = (accel_energy){1, 1, 1, 0, -1, true};
  }
  l[ROW_PE].instances = 16;
  l[ROW_PE].mesh_x = l[ROW_PE].mesh_y = 4;
  out->arch = (accel_arch){.name = "row",
                           .compute = {.name = "MAC",
                                       .word_bits = 8,
                                       .instances = 16,
                                       .mesh_x = 4,
                                       .mesh_y = 4,
                                       .energy_pj = 1,
                                       .energy_known = true},
                           .levels = l,
                           .level_count = ROW_LEVELS};
}

/* The nest "PE R3 | GB P8 K4x | DRAM K2", and the bounds that it makes up. */
static inline void row_add_loops(row *out, const char *loops, arena *a) {
  accel_nest *n = &out->nest;
  n->loops = referee_memory(a, 16, sizeof *n->loops);
  n->kept = referee_memory(a, ROW_LEVELS, sizeof *n->kept);
  n->level_count = ROW_LEVELS;
  for (uint32_t i = 0; i < ROW_LEVELS; i++) n->kept[i] = 7;
  cost_read_loops(n, loops, &out->layer);
  for (uint32_t d = 0; d < out->layer.dimension_count; d++) {
    const uint64_t bound = cost_made_up(n, d);
    out->layer.dimensions[d].bound = bound;
    out->layer.macs *= bound;
  }
}

static inline void row_make(row *out, const row_layer *layer, const char *loops,
                            arena *a) {
  *out = (row){.arch = {0}};
  row_add_layer(out, layer, a);
  row_add_arch(out, a);
  row_add_loops(out, loops, a);
}

static inline void row_bypass(row *r, uint32_t level, uint32_t tensor) {
  r->nest.kept[level] &= ~(UINT32_C(1) << tensor);
}

#endif
