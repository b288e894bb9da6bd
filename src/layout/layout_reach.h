/*
 * Where can each body still lie in an arena of a given size?  Ranges of offsets
 * shrink by what bars forbid from both sides of a range, by sides of bars that
 * were chosen, and by sums of bytes step by step, until nothing follows any
 * more or there is a contradiction.  Every change is on a trail and can be
 * taken back.
 */
#ifndef CALM_LAYOUT_LAYOUT_REACH_H
#define CALM_LAYOUT_LAYOUT_REACH_H

#include "base/limits.h"
#include "base/vector.h"
#include "layout/layout_steps.h"

typedef struct reach_change {
  int64_t *where, old;
} reach_change;

/* A member's range at a step, for the sums. */
typedef struct reach_span {
  int64_t low, high, bytes;
  uint32_t member;
} reach_span;

typedef struct layout_reach {
  const layout_bars *bars;
  const layout_steps *steps;
  limits *l;
  int64_t *low, *high; /* per body: least and largest offset */
  int64_t *side;       /* per bar: 1 at or above `before`, -1 at or below
                          `after`, 0 open */
  uint32_t *twin;      /* per bar: the same at the other body */
  uint32_t *queue, queue_head, queue_count; /* bodies to look at */
  bool *queued, *step_queued;
  uint32_t *step_queue, step_count;
  reach_span *spans; /* of one step */
  uint32_t *weight;  /* per body: contradictions there */
  VECTOR(reach_change) trail;
  bool without_memory;
} layout_reach;

calm_status layout_reach_make(layout_reach *out, const layout_bars *bars,
                              const layout_steps *steps, arena *a, limits *l);
void layout_reach_free(layout_reach *r);

/* The full ranges in an arena of that size, and all that follows; false: it is
   too small. */
bool layout_reach_reset(layout_reach *r, int64_t arena_bytes);

/* Decide a bar, without conclusions. */
void layout_reach_choose(layout_reach *r, uint32_t body, uint32_t bar,
                         int64_t side);

/* Draw all conclusions; false: there are none that can be met. */
bool layout_reach_settle(layout_reach *r);

static inline uint32_t layout_reach_mark(const layout_reach *r) {
  return r->trail.count;
}
void layout_reach_undo(layout_reach *r, uint32_t mark);

/* By how much the body can be above the bar, or below it; negative: not. */
static inline int64_t layout_reach_above(const layout_reach *r, uint32_t body,
                                         const layout_bar *bar) {
  return r->high[body] - r->low[bar->other] - bar->before;
}

static inline int64_t layout_reach_below(const layout_reach *r, uint32_t body,
                                         const layout_bar *bar) {
  return bar->after - (r->low[body] - r->high[bar->other]);
}

/* Neither decided nor of no consequence any more. */
static inline bool layout_reach_open(const layout_reach *r, uint32_t body,
                                     uint32_t at) {
  const layout_bar *bar = &r->bars->bars[at];
  return r->side[at] == 0 && layout_reach_above(r, body, bar) >= 0 &&
         layout_reach_below(r, body, bar) >= 0 &&
         r->low[body] - r->high[bar->other] < bar->before &&
         r->high[body] - r->low[bar->other] > bar->after;
}

#endif
