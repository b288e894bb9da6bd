/* What a layer is, in a few letters. */
#include <inttypes.h>

#include "report/report_map.h"

/* Coefficient of a dimension in the rank where it slides over another; 1 where
   they have no rank in common. */
static uint64_t step_of(const accel_layer *layer, uint32_t dimension,
                        uint32_t other) {
  for (uint32_t t = 0; t < layer->tensor_count; t++)
    for (uint32_t r = 0; r < layer->tensors[t].rank_count; r++) {
      const accel_rank *rank = &layer->tensors[t].ranks[r];
      uint64_t step = 1;
      uint32_t found = 0;
      for (uint32_t i = 0; i < rank->term_count; i++) {
        if (rank->terms[i].dimension == dimension)
          step = rank->terms[i].coefficient;
        found += rank->terms[i].dimension == dimension ||
                 rank->terms[i].dimension == other;
      }
      if (found > 1) return step;
    }
  return 1;
}

/* " s2", " s2x1"; nothing for 1. */
static void add_steps(text *out, const char *letter, uint64_t x, uint64_t y) {
  if (x == 1 && y == 1) return;
  text_format(out, " %s%" PRIu64, letter, x);
  if (x != y) text_format(out, "x%" PRIu64, y);
}

/* " n16"; nothing for 1, or without the dimension. */
static void add_count(text *out, const char *letter, const accel_layer *layer,
                      const char *name) {
  const uint32_t d = accel_layer_dimension(layer, name);
  if (d != CALM_NONE && layer->dimensions[d].bound > 1)
    text_format(out, " %s%" PRIu64, letter, layer->dimensions[d].bound);
}

enum { R, S, P, Q, C, K, AXES };

static bool find_axes(uint32_t *axes, const accel_layer *layer) {
  static const char *const names[AXES] = {"R", "S", "P", "Q", "C", "K"};
  for (uint32_t i = 0; i < AXES; i++) {
    axes[i] = accel_layer_dimension(layer, names[i]);
    if (axes[i] == CALM_NONE) return false;
  }
  return true;
}

static void add_convolution(text *out, const accel_layer *layer,
                            const uint32_t *axes) {
  uint64_t n[AXES];
  for (uint32_t i = 0; i < AXES; i++) n[i] = layer->dimensions[axes[i]].bound;
  text_format(out, "%" PRIu64 "x%" PRIu64, n[R], n[S]);
  text_format(out, " %" PRIu64 "x%" PRIu64, n[P], n[Q]);
  text_format(out, " %" PRIu64 "->%" PRIu64, n[C], n[K]);
  add_count(out, "g", layer, "G");
  add_count(out, "n", layer, "N");
  add_steps(out, "s", step_of(layer, axes[P], axes[R]),
            step_of(layer, axes[Q], axes[S]));
  if (n[R] > 1 || n[S] > 1)
    add_steps(out, "d", step_of(layer, axes[R], axes[P]),
              step_of(layer, axes[S], axes[Q]));
}

void report_map_shape(text *out, const accel_layer *layer) {
  uint32_t axes[AXES];
  const char *gap = "";
  if (find_axes(axes, layer)) {
    add_convolution(out, layer, axes);
    return;
  }
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const accel_dimension *dimension = &layer->dimensions[d];
    if (dimension->bound == 1) continue;
    text_format(out, "%s%s%s%" PRIu64, gap, dimension->name,
                dimension->name[1] ? "=" : "", dimension->bound);
    gap = " ";
  }
}
