/* A nest as loops that turn: where its levels begin, how far its tiles reach,
   and that it visits all points of the layer. */
#include <stdlib.h>

#include "cost_referee_odometer.h"

void *referee_memory(arena *a, size_t count, size_t size) {
  void *out = arena_calloc(a, count, size);
  if (!out) abort();
  return out;
}

uint32_t referee_begin(const accel_nest *nest, uint32_t level) {
  uint32_t k = 0;
  while (k < nest->loop_count && nest->loops[k].level < level) k++;
  return k;
}

uint32_t referee_temporal(const accel_nest *nest, uint32_t level) {
  uint32_t k = referee_begin(nest, level);
  while (k < nest->loop_count && nest->loops[k].level == level &&
         nest->loops[k].kind != ACCEL_TEMPORAL)
    k++;
  return k;
}

uint64_t referee_extent(const accel_nest *nest, uint32_t end,
                        uint32_t dimension, bool last) {
  uint64_t full = 1, rest = 1;
  for (uint32_t k = 0; k < end; k++) {
    const accel_loop *l = &nest->loops[k];
    if (l->dimension != dimension) continue;
    rest += full * (l->residual - 1);
    full *= l->bound;
  }
  return last ? rest : full;
}

bool referee_is_last(const referee_odometer *o, uint32_t dimension,
                     uint32_t from) {
  bool last = true;
  for (uint32_t k = o->nest->loop_count; k-- > from;) {
    const accel_loop *l = &o->nest->loops[k];
    if (l->dimension != dimension) continue;
    last = last && o->index[k] + 1 >= l->residual;
  }
  return last;
}

static uint64_t passes(const referee_odometer *o, uint32_t k) {
  const accel_loop *l = &o->nest->loops[k];
  return referee_is_last(o, l->dimension, k + 1) ? l->residual : l->bound;
}

bool referee_turn(referee_odometer *o) {
  for (uint32_t k = o->begin; k < o->nest->loop_count; k++) {
    if (o->frozen[k]) continue;
    if (++o->index[k] < passes(o, k)) return true;
    o->index[k] = 0;
  }
  return false;
}

uint64_t referee_position(const referee_odometer *o, uint32_t dimension) {
  uint64_t scale = 1, out = 0;
  for (uint32_t k = 0; k < o->nest->loop_count; k++) {
    const accel_loop *l = &o->nest->loops[k];
    if (l->dimension != dimension) continue;
    out += o->index[k] * scale;
    scale *= l->bound;
  }
  return out;
}

static uint64_t point_of(const referee_odometer *o, const accel_layer *layer) {
  uint64_t point = 0;
  for (uint32_t d = 0; d < layer->dimension_count; d++) {
    const uint64_t at = referee_position(o, d),
                   bound = layer->dimensions[d].bound;
    if (at >= bound) abort();
    point = point * bound + at;
  }
  return point;
}

uint64_t referee_count_iterations(const accel_layer *layer,
                                  const accel_nest *nest, arena *a) {
  referee_odometer o = {.nest = nest};
  o.index = referee_memory(a, nest->loop_count, sizeof *o.index);
  o.frozen = referee_memory(a, nest->loop_count, sizeof *o.frozen);
  bool *seen = referee_memory(a, layer->macs, sizeof *seen);
  uint64_t count = 0;
  do {
    const uint64_t point = point_of(&o, layer);
    if (seen[point]) abort();
    seen[point] = true;
    count++;
  } while (referee_turn(&o));
  if (count != layer->macs) abort();
  return count;
}
