/* Sums over loop nests: are all loops perfect, do they make up the bounds? */
#include "accel/accel_nest.h"

bool accel_nest_is_perfect(const accel_nest *nest) {
  for (uint32_t i = 0; i < nest->loop_count; i++)
    if (nest->loops[i].residual != nest->loops[i].bound) return false;
  return true;
}

/* a * b + c, at most UINT64_MAX. */
static uint64_t multiply_add(uint64_t a, uint64_t b, uint64_t c) {
  if (a && b > (UINT64_MAX - c) / a) return UINT64_MAX;
  return a * b + c;
}

/* How many iterations of its whole chain a dimension has: from the outermost
   loop inwards, (iterations - 1) * bound + residual. */
static uint64_t chain_length(const accel_nest *nest, uint32_t dimension) {
  uint64_t last = 0; /* the index of the last iteration */
  for (uint32_t i = nest->loop_count; i-- > 0;)
    if (nest->loops[i].dimension == dimension)
      last =
          multiply_add(last, nest->loops[i].bound, nest->loops[i].residual - 1);
  return multiply_add(last, 1, 1);
}

uint32_t accel_nest_short_dimension(uint64_t *product, const accel_nest *nest,
                                    const accel_layer *layer) {
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const uint64_t length = chain_length(nest, d);
    if (length == layer->dimensions[d].bound) continue;
    *product = length;
    return d;
  }
  return CALM_NONE;
}
