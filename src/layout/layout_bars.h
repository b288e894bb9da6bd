/*
 * What a placement has to observe, pair by pair: a bar is an open interval of
 * differences between two bodies' offsets that is barred, because some of their
 * pieces would share bytes.  Bars of a pair are disjoint, and their ends are
 * differences that can occur.  Bodies without bytes have no place here; the
 * others are numbered anew.
 */
#ifndef CALM_LAYOUT_LAYOUT_BARS_H
#define CALM_LAYOUT_LAYOUT_BARS_H

#include "layout/layout_problem.h"

/* Of body b, in whose list it stands: b's offset less the other's is at most
   `after` or at least `before`. */
typedef struct layout_bar {
  uint32_t other;
  int64_t after, before;
} layout_bar;

typedef struct layout_bars {
  const layout_problem *problem;
  uint32_t count;      /* bodies that count */
  uint32_t *body;      /* their numbers in the problem */
  int64_t *span;       /* from the offset to the last byte */
  int64_t *align;      /* offsets are multiples of it */
  int64_t *fixed;      /* the offset, or -1 */
  uint32_t *bar_begin; /* per body and one more */
  layout_bar *bars;    /* by body, other, after: each stands at both bodies */
  int64_t unit;        /* a multiple of all alignments; 0: none is in reach */
} layout_bars;

/*
 * By a sweep over time, in the pairs of pieces that share a step.  `p` has been
 * checked.  CALM_BAD_INPUT if a stack of all bodies would exceed
 * NUMBER_MAX_BYTES.
 */
calm_status layout_bars_make(layout_bars *out, const layout_problem *p,
                             arena *a);

/* The same turned upside down, without fixed bodies and with a unit: what is
   placed from below there is placed from above here. */
calm_status layout_bars_turn(layout_bars *out, const layout_bars *bars,
                             arena *a);

/* Offsets that were found upside down. */
void layout_bars_turn_back(int64_t *offsets, const layout_bars *turned);

/* Differences between the offsets of two bodies are multiples of this. */
int64_t layout_bars_granule(const layout_bars *bars, uint32_t i, uint32_t j);

/* Where the highest body ends. */
int64_t layout_bars_arena(const layout_bars *bars, const int64_t *offsets);

/* So many bars are looked at in the time of a tick. */
enum { BARS_PER_TICK = 4 };

static inline int64_t layout_round_down(int64_t x, int64_t unit) {
  const int64_t rest = x % unit;
  return rest < 0 ? x - rest - unit : x - rest;
}

static inline int64_t layout_round_up(int64_t x, int64_t unit) {
  return -layout_round_down(-x, unit);
}

#endif
