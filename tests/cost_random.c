/*
 * The nest comes first: loops are drawn, and what they make up are the bounds
 * of the layer; then a machine is built around the nest.
 */
#include <stdio.h>
#include <string.h>

#include "cost_pieces.h"
#include "cost_random_parts.h"

enum { MOST_LEVELS = 5, MOST_LOOPS = 40 };

const char *draft_name(draft *d, const char *letter, uint32_t number) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%s%u", letter, number);
  const char *out = arena_string(d->arena, text, (size_t)length);
  if (!out) abort();
  return out;
}

/* ---- The nest ------------------------------------------------------------ */

static bool has_loop(const accel_nest *n, const accel_loop *other) {
  for (uint32_t i = 0; i < n->loop_count; i++) {
    const accel_loop *loop = &n->loops[i];
    if (loop->dimension != other->dimension || loop->level != other->level)
      continue;
    if (loop->kind == other->kind) return true;
    if (loop->kind != ACCEL_TEMPORAL && other->kind != ACCEL_TEMPORAL)
      return true; /* a dimension is on one axis */
  }
  return false;
}

static uint64_t draw_bound(draft *d) {
  static const uint64_t bounds[] = {2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7};
  return bounds[draft_below(d, 12)];
}

/* Loops at random places, until all iterations are spent. */
static void draw_loops(draft *d) {
  accel_nest *n = &d->out->nest;
  const uint64_t most = 1 + random_next(d->r) % d->options->most_macs;
  const uint32_t spatial = 10 * draft_below(d, 6);
  uint64_t macs = 1;
  for (uint32_t tries = 0; tries < MOST_LOOPS; tries++) {
    accel_loop loop = {.bound = draw_bound(d)};
    loop.residual = loop.bound;
    loop.dimension = draft_below(d, d->out->layer.dimension_count);
    loop.level = draft_below(d, n->level_count);
    loop.kind = ACCEL_TEMPORAL;
    if (draft_chance(d, spatial))
      loop.kind = draft_chance(d, 60) ? ACCEL_SPATIAL_X : ACCEL_SPATIAL_Y;
    if (has_loop(n, &loop) || macs * loop.bound > most) continue;
    if (d->options->imperfect && draft_chance(d, 30))
      loop.residual = 1 + draft_below(d, (uint32_t)loop.bound);
    macs *= loop.bound;
    n->loops[n->loop_count++] = loop;
  }
}

static void set_bounds(accel_layer *layer, const accel_nest *n) {
  layer->macs = 1;
  for (uint32_t i = 0; i < layer->dimension_count; i++) {
    layer->dimensions[i].bound = cost_made_up(n, i);
    layer->macs *= layer->dimensions[i].bound;
  }
}

/* Words of the largest tensor, as full passes make it. */
static uint64_t largest(const accel_layer *layer, const accel_nest *n) {
  uint64_t out = 0, extents[ACCEL_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < layer->dimension_count; i++) extents[i] = 1;
  for (uint32_t k = 0; k < n->loop_count; k++)
    extents[n->loops[k].dimension] *= n->loops[k].bound;
  for (uint32_t t = 0; t < layer->tensor_count; t++) {
    const uint64_t words = accel_tensor_words(&layer->tensors[t], extents);
    if (words > out) out = words;
  }
  return out;
}

static void draw_keeping(draft *d) {
  accel_nest *n = &d->out->nest;
  const uint32_t levels = n->level_count;
  const uint32_t tensors = d->out->layer.tensor_count;
  const uint32_t keeping = 40 + 15 * draft_below(d, 5);
  n->kept = draft_take(d, levels, sizeof *n->kept);
  for (uint32_t t = 0; t < tensors; t++) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < levels; i++) {
      const bool kept = draft_chance(d, i == levels - 1 ? 97 : keeping);
      n->kept[i] |= kept ? UINT32_C(1) << t : 0;
      times += kept;
    }
    if (!times && (d->options->valid || draft_chance(d, 80)))
      n->kept[draft_below(d, levels)] |= UINT32_C(1) << t;
  }
}

static void draw_nest(draft *d) {
  accel_nest *n = &d->out->nest;
  accel_layer *layer = &d->out->layer;
  n->level_count = 1 + draft_below(d, MOST_LEVELS);
  n->loops = draft_take(d, MOST_LOOPS, sizeof *n->loops);
  draw_loops(d);
  cost_sort_loops(n);
  while (d->options->most_words && largest(layer, n) > d->options->most_words)
    n->loop_count--;
  set_bounds(layer, n);
  draw_keeping(d);
}

/* ---- Faults -------------------------------------------------------------- */

static void spoil(draft *d) {
  accel_nest *n = &d->out->nest;
  const uint32_t dimension = draft_below(d, d->out->layer.dimension_count);
  accel_layer *layer = &d->out->layer;
  if (d->options->valid) return;
  if (draft_chance(d, 3)) {
    layer->macs = layer->macs / layer->dimensions[dimension].bound *
                  (layer->dimensions[dimension].bound + 1);
    layer->dimensions[dimension].bound++;
  }
  if (draft_chance(d, 2)) {
    const uint32_t level = draft_below(d, n->level_count);
    d->out->arch.levels[level].virtual_level = true;
  }
}

void cost_random_make(cost_random_case *out, random_state *r,
                      const cost_random_options *options, arena *a) {
  draft d = {r, options, a, out};
  memset(out, 0, sizeof *out);
  draft_layer(&d);
  draw_nest(&d);
  draft_machine(&d);
  spoil(&d);
}
