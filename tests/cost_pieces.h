/*
 * What tests of the cost room build their cases from: a level with nothing
 * special about it, a nest in one line, the layer that a nest makes up.
 */
#ifndef CALM_TESTS_COST_PIECES_H
#define CALM_TESTS_COST_PIECES_H

#include <stdlib.h>

#include "accel/accel_nest.h"

/* A machine, a layer and a nest that belong together. */
typedef struct cost_pieces {
  accel_arch arch;
  accel_layer layer;
  accel_nest nest;
} cost_pieces;

/* One instance of any capacity and bandwidth, that adds and costs nothing. */
static inline accel_level cost_plain_level(const char *name) {
  return (accel_level){.name = name,
                       .class_name = "",
                       .entries = ACCEL_UNLIMITED,
                       .capacity_words = ACCEL_UNLIMITED,
                       .multiple_buffering = 1,
                       .word_bits = 8,
                       .block_words = 1,
                       .cluster = 1,
                       .instances = 1,
                       .mesh_x = 1,
                       .mesh_y = 1,
                       .reduction_supported = true};
}

/* A loop such as "K4", "P3/2" (two iterations in the last pass), "K4x" (along a
   row of the mesh), "P3/2y".  NULL if none stands there; else its end. */
static inline const char *cost_read_loop(accel_loop *out, const char *text,
                                         const accel_layer *layer) {
  const char name[2] = {text[0], '\0'};
  char *end;
  if (text[1] < '0' || text[1] > '9') return NULL;
  out->dimension = accel_layer_dimension(layer, name);
  if (out->dimension == CALM_NONE) return NULL;
  out->bound = out->residual = strtoull(text + 1, &end, 10);
  if (*end == '/') out->residual = strtoull(end + 1, &end, 10);
  out->kind = *end == 'x'   ? ACCEL_SPATIAL_X
              : *end == 'y' ? ACCEL_SPATIAL_Y
                            : ACCEL_TEMPORAL;
  return end + (out->kind != ACCEL_TEMPORAL);
}

/*
 * The loops of a nest, whose array has room for them: levels divided by '|',
 * the innermost level and its innermost loop first, "R3 | P8 K4x |".  What is
 * no loop, such as the name of a level in "PE R3 | GB", is passed over. Returns
 * how many levels there are.
 */
static inline uint32_t cost_read_loops(accel_nest *nest, const char *line,
                                       const accel_layer *layer) {
  uint32_t level = 0;
  nest->loop_count = 0;
  while (*line) {
    accel_loop loop = {.level = level};
    const char *end = cost_read_loop(&loop, line, layer);
    if (end) nest->loops[nest->loop_count++] = loop;
    if (*line == '|') level++;
    line = end ? end : line + 1;
  }
  return level + 1;
}

static inline uint32_t cost_place_of(const accel_loop *l) {
  return l->level * 3 + (uint32_t)l->kind;
}

/* Into the order of a nest, by level and kind; other orders are no nests.
   Within a block loops stay as they are. */
static inline void cost_sort_loops(accel_nest *nest) {
  accel_loop *l = nest->loops;
  for (uint32_t i = 1; i < nest->loop_count; i++)
    for (uint32_t k = i;
         k > 0 && cost_place_of(&l[k]) < cost_place_of(&l[k - 1]); k--) {
      const accel_loop swap = l[k];
      l[k] = l[k - 1];
      l[k - 1] = swap;
    }
}

/* The bound that the loops of a dimension make up. */
static inline uint64_t cost_made_up(const accel_nest *nest,
                                    uint32_t dimension) {
  uint64_t out = 1;
  for (uint32_t k = nest->loop_count; k-- > 0;)
    if (nest->loops[k].dimension == dimension)
      out = (out - 1) * nest->loops[k].bound + nest->loops[k].residual;
  return out;
}

#endif
