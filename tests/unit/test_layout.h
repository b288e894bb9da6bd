/*
 * What the tests of the layout room share: small random problems without
 * reliefs.
 */
#ifndef CALM_TESTS_TEST_LAYOUT_H
#define CALM_TESTS_TEST_LAYOUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "layout/layout_problem.h"
#include "layout_small.h"

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
