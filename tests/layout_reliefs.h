/*
 * What the tests of layouts with reliefs share: small random problems and
 * chains of layers.
 */
#ifndef CALM_TESTS_LAYOUT_RELIEFS_H
#define CALM_TESTS_LAYOUT_RELIEFS_H

#include "layout_small.h"

/* ---- Random problems ----------------------------------------------------- */

typedef struct relief_traits {
  bool aligned, fixed, pieces;
} relief_traits;

static inline void relief_random_body(small_problem *s, relief_traits t,
                                      random_state *r) {
  static const uint64_t aligns[] = {2, 3, 4, 6, 8, 16};
  layout_body *body = small_add_body(s);
  if (t.aligned && random_below(r, 2)) body->align = aligns[random_below(r, 6)];
  const uint32_t pieces = t.pieces ? 1 + random_below(r, 3) : 1;
  for (uint32_t i = 0; i < pieces; i++) {
    const int64_t lower = draw_between(r, -1, 4);
    const uint64_t low = t.pieces ? random_below(r, 4) : 0;
    small_add_piece(s, lower, lower + draw_between(r, i ? 0 : 1, 3), low,
                    low + random_below(r, 6));
  }
}

/* Steps that two pieces share. */
static inline int64_t relief_common(const layout_piece *a,
                                    const layout_piece *b) {
  const int64_t lower = a->lower > b->lower ? a->lower : b->lower;
  return (a->upper < b->upper ? a->upper : b->upper) - lower;
}

/* Of pairs of pieces that meet at one step only. */
static inline void relief_random_reliefs(small_problem *s, random_state *r) {
  for (uint32_t i = 0; i < s->p.piece_count; i++)
    for (uint32_t j = i + 1; j < s->p.piece_count; j++) {
      const layout_piece *a = &s->pieces[i], *b = &s->pieces[j];
      if (s->p.relief_count == MOST_PAIRS || a->body == b->body ||
          relief_common(a, b) != 1 || random_below(r, 3) == 0)
        continue;
      const bool swap = random_below(r, 2);
      const uint32_t input = swap ? j : i, output = swap ? i : j;
      const int64_t length =
          (int64_t)(s->pieces[output].high - s->pieces[output].low);
      small_add_relief(s, input, output, draw_between(r, -4, length));
    }
}

static inline void relief_fix_some(small_problem *s, random_state *r) {
  uint64_t offsets[MOST_BODIES] = {0};
  for (uint32_t b = 0; b < s->p.body_count; b++) {
    layout_body *body = &s->bodies[b];
    offsets[b] = body->align * random_below(r, 5);
    body->fixed = random_below(r, 3) == 0;
    for (uint32_t other = 0; other < b; other++)
      if (s->bodies[other].fixed && brute_collides(&s->p, offsets, b, other))
        body->fixed = false;
    body->offset = body->fixed ? offsets[b] : 0;
  }
}

static inline void relief_random(small_problem *s, random_state *r) {
  const relief_traits t = {random_below(r, 3) == 0, random_below(r, 3) == 0,
                           random_below(r, 2) == 0};
  const uint32_t most = t.aligned ? 5 : 6;
  small_init(s);
  const uint32_t bodies = 2 + random_below(r, most - 1);
  for (uint32_t b = 0; b < bodies; b++) relief_random_body(s, t, r);
  relief_random_reliefs(s, r);
  if (t.fixed) relief_fix_some(s, r);
}

/* ---- Chains -------------------------------------------------------------- */

enum { CHAIN_MOST = 64 };

/* Layers, each made from the one before it; some are read again later. */
typedef struct relief_chain {
  layout_problem p;
  layout_body bodies[CHAIN_MOST];
  layout_piece pieces[CHAIN_MOST];
  layout_relief reliefs[CHAIN_MOST * 8];
  uint32_t begin[CHAIN_MOST + 1];
} relief_chain;

static inline void chain_init(relief_chain *c, uint32_t layers) {
  *c = (relief_chain){0};
  c->p = (layout_problem){.bodies = c->bodies,
                          .pieces = c->pieces,
                          .piece_begin = c->begin,
                          .reliefs = c->reliefs,
                          .body_count = layers,
                          .piece_count = layers};
  for (uint32_t i = 0; i <= layers; i++) c->begin[i] = i;
}

/* All layers of one size slide down by one distance each. */
static inline void chain_even(relief_chain *c, uint32_t layers, uint64_t size,
                              int64_t distance) {
  chain_init(c, layers);
  c->p.relief_count = layers - 1;
  for (uint32_t i = 0; i < layers; i++) {
    c->bodies[i].align = 16;
    c->pieces[i] = (layout_piece){i, i, (int64_t)i + 2, 0, size};
    if (i > 0) c->reliefs[i - 1] = (layout_relief){i - 1, i, distance};
  }
}

static inline void chain_reads(relief_chain *c, uint32_t layer,
                               random_state *r) {
  for (uint32_t i = 0; i < layer; i++) {
    const layout_piece *in = &c->pieces[i], *out = &c->pieces[layer];
    if (in->upper != out->lower + 1 || random_below(r, 8) == 0 ||
        c->p.relief_count == CHAIN_MOST * 8)
      continue;
    int64_t distance = 4 * draw_between(r, -30, 60);
    if (distance > (int64_t)out->high) distance = (int64_t)out->high;
    c->reliefs[c->p.relief_count++] = (layout_relief){i, layer, distance};
  }
}

static inline void chain_random(relief_chain *c, uint32_t layers,
                                random_state *r) {
  uint64_t size = 400;
  chain_init(c, layers);
  for (uint32_t i = 0; i < layers; i++) {
    int64_t upper = (int64_t)i + 2;
    if (random_below(r, 3) == 0) size = 16 * (uint64_t)draw_between(r, 2, 90);
    if (random_below(r, 3) == 0) upper += draw_between(r, 1, 6);
    c->bodies[i].align = 16;
    c->pieces[i] = (layout_piece){i, i, upper, 0, size};
    chain_reads(c, i, r);
  }
}

#endif
