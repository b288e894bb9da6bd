/*
 * What the tests of the layout room share: small random problems, and the
 * referee for them, which tries all offsets.
 */
#ifndef CALM_TESTS_TEST_LAYOUT_H
#define CALM_TESTS_TEST_LAYOUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "layout/layout_problem.h"

enum { MOST_BODIES = 8, MOST_PIECES = 24 };

/* A problem with its storage. */
typedef struct small_problem {
  layout_problem p;
  layout_body bodies[MOST_BODIES];
  layout_piece pieces[MOST_PIECES];
  uint32_t begin[MOST_BODIES + 1];
} small_problem;

static inline void small_init(small_problem *s) {
  *s = (small_problem){0};
  s->p.bodies = s->bodies;
  s->p.pieces = s->pieces;
  s->p.piece_begin = s->begin;
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

/* ---- The referee --------------------------------------------------------- */

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
      if (lower < upper && low < high) return true;
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

/* The largest sum of bytes in use at one step, step by step. */
static inline uint64_t brute_live(const layout_problem *p,
                                  calm_context *context) {
  layout_problem tidy;
  arena a;
  uint64_t most = 0;
  arena_init(&a, context);
  assert_int_equal(layout_problem_tidy(&tidy, p, &a), CALM_OK);
  for (uint32_t i = 0; i < tidy.piece_count; i++) {
    const int64_t step = tidy.pieces[i].lower;
    uint64_t live = 0;
    for (uint32_t j = 0; j < tidy.piece_count; j++)
      if (tidy.pieces[j].lower <= step && step < tidy.pieces[j].upper)
        live += tidy.pieces[j].high - tidy.pieces[j].low;
    if (live > most) most = live;
  }
  arena_free(&a);
  return most;
}

/* layout_check, without memory left behind. */
static inline bool is_faulty(layout_fault *out, const layout_problem *p,
                             const uint64_t *offsets, uint64_t arena_bytes) {
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(layout_check(out, p, offsets, arena_bytes, context),
                   CALM_OK);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return out->kind != LAYOUT_SOUND;
}

/* ---- Random problems ----------------------------------------------------- */

typedef enum small_kind {
  SMALL_TRICKY,  /* variants of a problem whose bound is out of reach */
  SMALL_BOXES,   /* a few large buffers */
  SMALL_ALIGNED, /* with alignments of 1 to 6 */
  SMALL_FIXED,   /* with fixed offsets */
  SMALL_GROUPS,  /* bodies of several pieces, with gaps and holes */
  SMALL_MIXED,   /* everything together */
  SMALL_KINDS
} small_kind;

static inline int64_t draw_between(random_state *r, int64_t from, int64_t to) {
  return from + (int64_t)random_below(r, (uint32_t)(to - from + 1));
}

static inline void small_tricky(small_problem *s, random_state *r) {
  static const int64_t rows[7][3] = {{0, 1, 3}, {0, 3, 1}, {4, 5, 3}, {2, 5, 1},
                                     {1, 2, 2}, {3, 4, 2}, {1, 4, 1}};
  for (int i = 0; i < 7; i++) {
    int64_t lower = rows[i][0], upper = rows[i][1], size = rows[i][2];
    if (random_below(r, 8) == 0) size += draw_between(r, 0, 1);
    if (random_below(r, 16) == 0) upper++;
    if (random_below(r, 16) == 0) lower--;
    small_add_box(s, lower, upper, (uint64_t)size);
  }
}

static inline void small_random_body(small_problem *s, small_kind kind,
                                     random_state *r) {
  bool mixed = kind == SMALL_MIXED;
  layout_body *body = small_add_body(s);
  uint32_t pieces = 1;
  if (kind == SMALL_GROUPS || mixed) pieces += random_below(r, 3);
  if (kind == SMALL_ALIGNED || (mixed && random_below(r, 3) == 0))
    body->align = 1 + random_below(r, 6);
  for (uint32_t i = 0; i < pieces; i++) {
    int64_t lower = draw_between(r, -2, 4);
    int64_t upper = lower + draw_between(r, i ? 0 : 1, 3);
    uint64_t low = pieces > 1 ? random_below(r, 4) : 0;
    small_add_piece(s, lower, upper, low, low + random_below(r, 5));
  }
}

static inline void small_fix_some(small_problem *s, random_state *r) {
  uint64_t offsets[MOST_BODIES] = {0};
  for (uint32_t b = 0; b < s->p.body_count; b++) {
    layout_body *body = &s->bodies[b];
    offsets[b] = body->align * random_below(r, 5);
    body->offset = offsets[b];
    body->fixed = random_below(r, 3) == 0;
    for (uint32_t other = 0; other < b; other++)
      if (s->bodies[other].fixed && brute_collides(&s->p, offsets, b, other))
        body->fixed = false;
    if (!body->fixed) body->offset = 0;
  }
}

static inline void small_random(small_problem *s, small_kind kind,
                                random_state *r) {
  small_init(s);
  if (kind == SMALL_TRICKY) {
    small_tricky(s, r);
    return;
  }
  uint32_t bodies = 2 + random_below(r, 5);
  for (uint32_t b = 0; b < bodies; b++) small_random_body(s, kind, r);
  if (kind == SMALL_FIXED || kind == SMALL_MIXED) small_fix_some(s, r);
}

/* The same with every number of bytes multiplied. */
static inline void small_scale(small_problem *s, uint64_t factor) {
  for (uint32_t i = 0; i < s->p.piece_count; i++) {
    s->pieces[i].low *= factor;
    s->pieces[i].high *= factor;
  }
  for (uint32_t b = 0; b < s->p.body_count; b++) {
    s->bodies[b].align *= factor;
    s->bodies[b].offset *= factor;
  }
}

#endif
