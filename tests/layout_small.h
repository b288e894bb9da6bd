/*
 * What all tests of layouts share: small problems with their storage, and the
 * referee, which tries all offsets.
 */
#ifndef CALM_TESTS_LAYOUT_SMALL_H
#define CALM_TESTS_LAYOUT_SMALL_H

#include "base/random.h"
#include "layout/layout.h"

enum { MOST_BODIES = 8, MOST_PIECES = 24, MOST_PAIRS = 24 };

/* A problem with its storage. */
typedef struct small_problem {
  layout_problem p;
  layout_body bodies[MOST_BODIES];
  layout_piece pieces[MOST_PIECES];
  layout_relief reliefs[MOST_PAIRS];
  uint32_t begin[MOST_BODIES + 1];
} small_problem;

static inline void small_init(small_problem *s) {
  *s = (small_problem){0};
  s->p.bodies = s->bodies;
  s->p.pieces = s->pieces;
  s->p.piece_begin = s->begin;
  s->p.reliefs = s->reliefs;
}

static inline layout_body *small_add_body(small_problem *s) {
  layout_body *body = &s->bodies[s->p.body_count++];
  body->align = 1;
  s->begin[s->p.body_count] = s->p.piece_count;
  return body;
}

/* A piece of the body added last. */
static inline void small_add_piece(small_problem *s, int64_t lower,
                                   int64_t upper, uint64_t low, uint64_t high) {
  s->pieces[s->p.piece_count++] =
      (layout_piece){s->p.body_count - 1, lower, upper, low, high};
  s->begin[s->p.body_count] = s->p.piece_count;
}

static inline void small_add_box(small_problem *s, int64_t lower, int64_t upper,
                                 uint64_t size) {
  small_add_body(s);
  small_add_piece(s, lower, upper, 0, size);
}

static inline void small_add_relief(small_problem *s, uint32_t input,
                                    uint32_t output, int64_t distance) {
  s->reliefs[s->p.relief_count++] = (layout_relief){input, output, distance};
}

/* A number of [from, to]. */
static inline int64_t draw_between(random_state *r, int64_t from, int64_t to) {
  return from + (int64_t)random_below(r, (uint32_t)(to - from + 1));
}

/* ---- The referee --------------------------------------------------------- */

/* May x be read while y is written over it? */
static inline bool brute_allows(const layout_problem *p, uint32_t x,
                                uint64_t x_at, uint32_t y, uint64_t y_at) {
  for (uint32_t i = 0; i < p->relief_count; i++) {
    const layout_relief *r = &p->reliefs[i];
    if (r->input == x && r->output == y &&
        (int64_t)x_at - (int64_t)y_at >= r->distance)
      return true;
  }
  return false;
}

static inline bool brute_collides(const layout_problem *p,
                                  const uint64_t *offsets, uint32_t a,
                                  uint32_t b) {
  for (uint32_t i = p->piece_begin[a]; i < p->piece_begin[a + 1]; i++)
    for (uint32_t j = p->piece_begin[b]; j < p->piece_begin[b + 1]; j++) {
      const layout_piece *x = &p->pieces[i], *y = &p->pieces[j];
      int64_t lower = x->lower > y->lower ? x->lower : y->lower;
      int64_t upper = x->upper < y->upper ? x->upper : y->upper;
      uint64_t xl = offsets[a] + x->low, xh = offsets[a] + x->high;
      uint64_t yl = offsets[b] + y->low, yh = offsets[b] + y->high;
      uint64_t low = xl > yl ? xl : yl, high = xh < yh ? xh : yh;
      if (lower < upper && low < high && !brute_allows(p, i, xl, j, yl) &&
          !brute_allows(p, j, yl, i, xl))
        return true;
    }
  return false;
}

/* Bytes from its offset to the last byte that counts; 0: it needs none. */
static inline uint64_t brute_span(const layout_problem *p, uint32_t body) {
  uint64_t span = 0;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++) {
    const layout_piece *x = &p->pieces[i];
    if (x->lower < x->upper && x->low < x->high && x->high > span)
      span = x->high;
  }
  return span;
}

static inline bool brute_place(const layout_problem *p, uint64_t *offsets,
                               uint32_t body, uint64_t capacity) {
  if (body == p->body_count) return true;
  const layout_body *b = &p->bodies[body];
  uint64_t span = brute_span(p, body), first = b->fixed ? b->offset : 0;
  if (span == 0) {
    offsets[body] = first;
    return brute_place(p, offsets, body + 1, capacity);
  }
  for (uint64_t at = first; at + span <= capacity; at += b->align) {
    bool free = true;
    offsets[body] = at;
    for (uint32_t other = 0; other < body && free; other++)
      free = !brute_collides(p, offsets, body, other);
    if (free && brute_place(p, offsets, body + 1, capacity)) return true;
    if (b->fixed) break;
  }
  return false;
}

/* The least arena, found by trying each from `from` on. */
static inline uint64_t brute_arena(const layout_problem *p, uint64_t from) {
  uint64_t offsets[MOST_BODIES], capacity = from;
  while (!brute_place(p, offsets, 0, capacity)) capacity++;
  return capacity;
}

#endif
