/*
 * Convolutions mostly, of any stride and dilation, with groups or without;
 * matrix products; and contractions whose ranks are sums of anything.
 */
#include <string.h>

#include "cost_random_parts.h"

enum { MOST_TERMS = 8 };

static void begin_tensor(accel_tensor *t, draft *d, const char *what,
                         uint32_t ranks, bool read_write) {
  *t = (accel_tensor){.name = what, .read_write = read_write};
  t->ranks = draft_take(d, ranks, sizeof *t->ranks);
  t->rank_count = ranks;
}

static void add_term(accel_tensor *t, draft *d, uint32_t rank,
                     uint32_t dimension, uint64_t coefficient) {
  accel_rank *r = &t->ranks[rank];
  if (!r->terms) r->terms = draft_take(d, MOST_TERMS, sizeof *r->terms);
  r->terms[r->term_count++] = (accel_term){dimension, coefficient};
  if (coefficient) t->dimensions |= UINT32_C(1) << dimension;
}

static void add_ranks(accel_tensor *t, draft *d, const uint32_t *dimensions) {
  for (uint32_t i = 0; i < t->rank_count; i++)
    if (dimensions[i] != CALM_NONE) add_term(t, d, i, dimensions[i], 1);
}

static void begin_layer(draft *d, const char *shape, const char *letters,
                        uint32_t tensors) {
  accel_layer *l = &d->out->layer;
  *l = (accel_layer){.name = "random", .shape = shape, .count = 1};
  l->dimension_count = (uint32_t)strlen(letters);
  l->dimensions = draft_take(d, l->dimension_count, sizeof *l->dimensions);
  for (uint32_t i = 0; i < l->dimension_count; i++) {
    l->dimensions[i].name = arena_string(d->arena, letters + i, 1);
    l->dimensions[i].bound = 1;
  }
  l->tensors = draft_take(d, tensors, sizeof *l->tensors);
  l->tensor_count = tensors;
}

/* Strides and dilations: 1 mostly, 0 seldom. */
static uint64_t step(draft *d) {
  static const uint64_t steps[] = {1, 1, 1, 2, 2, 3, 1, 1, 1, 0};
  return steps[draft_below(d, 10)];
}

/* R S P Q C K N, and G if there are groups. */
static void draw_convolution(draft *d) {
  const bool groups = draft_chance(d, 25);
  enum { R, S, P, Q, C, K, N, G };
  const uint32_t g = groups ? 1 : 0;
  begin_layer(d, "cnn-layer", groups ? "RSPQCKNG" : "RSPQCKN", 3);
  accel_tensor *t = d->out->layer.tensors;
  begin_tensor(&t[0], d, "Weights", 4 + g, false);
  add_ranks(&t[0], d, (const uint32_t[]){C, K, R, S, G});
  begin_tensor(&t[1], d, "Inputs", 4 + g, false);
  add_ranks(&t[1], d, (const uint32_t[]){N, C, CALM_NONE, CALM_NONE, G});
  add_term(&t[1], d, 2, R, step(d));
  add_term(&t[1], d, 2, P, step(d));
  add_term(&t[1], d, 3, S, step(d));
  add_term(&t[1], d, 3, Q, step(d));
  begin_tensor(&t[2], d, "Outputs", 4 + g, true);
  add_ranks(&t[2], d, (const uint32_t[]){N, K, Q, P, G});
}

static void draw_product(draft *d) {
  begin_layer(d, "gemm_ABZ", "MNK", 3);
  accel_tensor *t = d->out->layer.tensors;
  begin_tensor(&t[0], d, "A", 2, false);
  add_ranks(&t[0], d, (const uint32_t[]){0, 2});
  begin_tensor(&t[1], d, "B", 2, false);
  add_ranks(&t[1], d, (const uint32_t[]){1, 2});
  begin_tensor(&t[2], d, "Z", 2, true);
  add_ranks(&t[2], d, (const uint32_t[]){0, 1});
}

/* Sums of several dimensions, dimensions that move several ranks, coefficients
   of 0; written tensors have plain ranks. */
static void draw_rank(draft *d, accel_tensor *t, uint32_t rank) {
  const uint32_t dimensions = d->out->layer.dimension_count;
  const uint32_t terms = t->read_write ? 1 : 1 + draft_below(d, 3);
  uint32_t taken = 0;
  if (draft_chance(d, 5)) return;
  for (uint32_t i = 0; i < terms; i++) {
    const uint32_t dimension = draft_below(d, dimensions);
    if (taken >> dimension & 1) continue;
    if (t->read_write && t->dimensions >> dimension & 1) continue;
    taken |= UINT32_C(1) << dimension;
    add_term(t, d, rank, dimension,
             t->read_write || draft_chance(d, 60) ? 1 : draft_below(d, 5));
  }
}

static void draw_contraction(draft *d) {
  const uint32_t dimensions = 1 + draft_below(d, 6),
                 tensors = 1 + draft_below(d, 4);
  begin_layer(d, "odd", &"ABDEFG"[6 - dimensions], tensors);
  for (uint32_t i = 0; i < tensors; i++) {
    const uint32_t ranks = 1 + draft_below(d, 3);
    accel_tensor *t = &d->out->layer.tensors[i];
    begin_tensor(t, d, draft_name(d, "T", i), ranks,
                 i == 0 || draft_chance(d, 15));
    for (uint32_t k = 0; k < ranks; k++) draw_rank(d, t, k);
  }
}

void draft_layer(draft *d) {
  const uint32_t kind = draft_below(d, 10);
  if (kind < 6)
    draw_convolution(d);
  else if (kind < 7)
    draw_product(d);
  else
    draw_contraction(d);
}
