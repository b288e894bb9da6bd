/*
 * What the tests of layouts with reliefs share: small random problems, the
 * referee, which tries all offsets, and chains of layers.
 */
#ifndef CALM_TESTS_LAYOUT_RELIEFS_H
#define CALM_TESTS_LAYOUT_RELIEFS_H

#include "base/random.h"
#include "layout/layout.h"

enum { RELIEF_BODIES = 7, RELIEF_PIECES = 24, RELIEF_PAIRS = 24 };

/* A problem with its storage. */
typedef struct relief_problem {
  layout_problem p;
  layout_body bodies[RELIEF_BODIES];
  layout_piece pieces[RELIEF_PIECES];
  layout_relief reliefs[RELIEF_PAIRS];
  uint32_t begin[RELIEF_BODIES + 1];
} relief_problem;

static inline void relief_init(relief_problem *s) {
  *s = (relief_problem){0};
  s->p.bodies = s->bodies;
  s->p.pieces = s->pieces;
  s->p.piece_begin = s->begin;
  s->p.reliefs = s->reliefs;
}

static inline layout_body *relief_add_body(relief_problem *s) {
  layout_body *body = &s->bodies[s->p.body_count++];
  body->align = 1;
  s->begin[s->p.body_count] = s->p.piece_count;
  return body;
}

static inline void relief_add_piece(relief_problem *s, int64_t lower,
                                    int64_t upper, uint64_t low,
                                    uint64_t high) {
  s->pieces[s->p.piece_count++] =
      (layout_piece){s->p.body_count - 1, lower, upper, low, high};
  s->begin[s->p.body_count] = s->p.piece_count;
}

static inline void relief_add(relief_problem *s, uint32_t input,
                              uint32_t output, int64_t distance) {
  s->reliefs[s->p.relief_count++] = (layout_relief){input, output, distance};
}

/* ---- The referee --------------------------------------------------------- */

static inline bool relief_allows(const layout_problem *p, uint32_t x,
                                 int64_t x_low, uint32_t y, int64_t y_low) {
  for (uint32_t i = 0; i < p->relief_count; i++) {
    const layout_relief *r = &p->reliefs[i];
    if (r->input == x && r->output == y && x_low - y_low >= r->distance)
      return true;
  }
  return false;
}

/* Byte by byte. */
static inline bool relief_pieces_share(const layout_piece *x, uint64_t x_at,
                                       const layout_piece *y, uint64_t y_at) {
  if (x->lower >= y->upper || y->lower >= x->upper || x->lower >= x->upper ||
      y->lower >= y->upper)
    return false;
  for (uint64_t b = x_at + x->low; b < x_at + x->high; b++)
    if (y_at + y->low <= b && b < y_at + y->high) return true;
  return false;
}

static inline bool relief_collides(const layout_problem *p,
                                   const uint64_t *offsets, uint32_t a,
                                   uint32_t b) {
  for (uint32_t i = p->piece_begin[a]; i < p->piece_begin[a + 1]; i++)
    for (uint32_t j = p->piece_begin[b]; j < p->piece_begin[b + 1]; j++) {
      const int64_t x = (int64_t)(offsets[a] + p->pieces[i].low);
      const int64_t y = (int64_t)(offsets[b] + p->pieces[j].low);
      if (relief_pieces_share(&p->pieces[i], offsets[a], &p->pieces[j],
                              offsets[b]) &&
          !relief_allows(p, i, x, j, y) && !relief_allows(p, j, y, i, x))
        return true;
    }
  return false;
}

static inline uint64_t relief_span(const layout_problem *p, uint32_t body) {
  uint64_t span = 0;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++) {
    const layout_piece *x = &p->pieces[i];
    if (x->lower < x->upper && x->low < x->high && x->high > span)
      span = x->high;
  }
  return span;
}

static inline bool relief_place(const layout_problem *p, uint64_t *offsets,
                                uint32_t body, uint64_t capacity) {
  if (body == p->body_count) return true;
  const layout_body *b = &p->bodies[body];
  uint64_t span = relief_span(p, body), first = b->fixed ? b->offset : 0;
  if (span == 0) {
    offsets[body] = first;
    return relief_place(p, offsets, body + 1, capacity);
  }
  for (uint64_t at = first; at + span <= capacity; at += b->align) {
    bool free = true;
    offsets[body] = at;
    for (uint32_t other = 0; other < body && free; other++)
      free = !relief_collides(p, offsets, body, other);
    if (free && relief_place(p, offsets, body + 1, capacity)) return true;
    if (b->fixed) break;
  }
  return false;
}

/* The least arena, found by trying each. */
static inline uint64_t relief_least_arena(const layout_problem *p) {
  uint64_t offsets[RELIEF_BODIES], capacity = 0;
  while (!relief_place(p, offsets, 0, capacity)) capacity++;
  return capacity;
}

/* ---- Random problems ----------------------------------------------------- */

typedef struct relief_traits {
  bool aligned, fixed, pieces;
} relief_traits;

static inline int64_t relief_between(random_state *r, int64_t from,
                                     int64_t to) {
  return from + (int64_t)random_below(r, (uint32_t)(to - from + 1));
}

static inline void relief_random_body(relief_problem *s, relief_traits t,
                                      random_state *r) {
  static const uint64_t aligns[] = {2, 3, 4, 6, 8, 16};
  layout_body *body = relief_add_body(s);
  if (t.aligned && random_below(r, 2)) body->align = aligns[random_below(r, 6)];
  const uint32_t pieces = t.pieces ? 1 + random_below(r, 3) : 1;
  for (uint32_t i = 0; i < pieces; i++) {
    const int64_t lower = relief_between(r, -1, 4);
    const uint64_t low = t.pieces ? random_below(r, 4) : 0;
    relief_add_piece(s, lower, lower + relief_between(r, i ? 0 : 1, 3), low,
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
static inline void relief_random_reliefs(relief_problem *s, random_state *r) {
  for (uint32_t i = 0; i < s->p.piece_count; i++)
    for (uint32_t j = i + 1; j < s->p.piece_count; j++) {
      const layout_piece *a = &s->pieces[i], *b = &s->pieces[j];
      if (s->p.relief_count == RELIEF_PAIRS || a->body == b->body ||
          relief_common(a, b) != 1 || random_below(r, 3) == 0)
        continue;
      const bool swap = random_below(r, 2);
      const uint32_t input = swap ? j : i, output = swap ? i : j;
      const int64_t length =
          (int64_t)(s->pieces[output].high - s->pieces[output].low);
      relief_add(s, input, output, relief_between(r, -4, length));
    }
}

static inline void relief_fix_some(relief_problem *s, random_state *r) {
  uint64_t offsets[RELIEF_BODIES] = {0};
  for (uint32_t b = 0; b < s->p.body_count; b++) {
    layout_body *body = &s->bodies[b];
    offsets[b] = body->align * random_below(r, 5);
    body->fixed = random_below(r, 3) == 0;
    for (uint32_t other = 0; other < b; other++)
      if (s->bodies[other].fixed && relief_collides(&s->p, offsets, b, other))
        body->fixed = false;
    body->offset = body->fixed ? offsets[b] : 0;
  }
}

static inline void relief_random(relief_problem *s, random_state *r) {
  const relief_traits t = {random_below(r, 3) == 0, random_below(r, 3) == 0,
                           random_below(r, 2) == 0};
  const uint32_t most = t.aligned ? 5 : 6;
  relief_init(s);
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
    int64_t distance = 4 * relief_between(r, -30, 60);
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
    if (random_below(r, 3) == 0) size = 16 * (uint64_t)relief_between(r, 2, 90);
    if (random_below(r, 3) == 0) upper += relief_between(r, 1, 6);
    c->bodies[i].align = 16;
    c->pieces[i] = (layout_piece){i, i, upper, 0, size};
    chain_reads(c, i, r);
  }
}

#endif
