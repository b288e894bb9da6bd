/*
 * Bounds without search: sweep over time and add up what is in use.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "layout/layout_problem.h"

/* Bytes that come into use, or go out of it, at a step. */
typedef struct event {
  int64_t step;
  uint64_t bytes;
  bool begins;
} event;

/* At one step what ends is taken off before what begins is added. */
static int by_step(const void *left, const void *right) {
  const event *a = left, *b = right;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  return (int)a->begins - (int)b->begins;
}

static calm_status sweep(uint64_t *out, event *events, uint32_t count,
                         calm_context *context) {
  uint64_t live = 0, most = 0;
  qsort(events, count, sizeof *events, by_step);
  for (uint32_t i = 0; i < count; i++) {
    if (!events[i].begins) {
      live -= events[i].bytes;
    } else if (!number_add(&live, live, events[i].bytes)) {
      return context_fail(context, CALM_BAD_INPUT,
                          "the bytes in use at step %" PRId64
                          " add up to more than 2^62",
                          events[i].step);
    }
    if (live > most) most = live;
  }
  *out = most;
  return CALM_OK;
}

/* Largest sum of piece sizes, each rounded up to a multiple of `unit`. */
static calm_status largest_sum(uint64_t *out, const layout_problem *tidy,
                               uint64_t unit, arena *a) {
  event *events;
  ARENA_ARRAY(a, events, (size_t)tidy->piece_count * 2);
  for (uint32_t i = 0; i < tidy->piece_count; i++) {
    const layout_piece *p = &tidy->pieces[i];
    uint64_t bytes = number_round_up(p->high - p->low, unit);
    events[2 * i] = (event){p->lower, bytes, true};
    events[2 * i + 1] = (event){p->upper, bytes, false};
  }
  return sweep(out, events, tidy->piece_count * 2, a->context);
}

uint64_t layout_offset_unit(const layout_problem *p) {
  uint64_t unit = 0;
  for (uint32_t b = 0; b < p->body_count; b++)
    if (layout_body_counts(p, b))
      unit = number_gcd(
          unit, p->bodies[b].fixed ? p->bodies[b].offset : p->bodies[b].align);
  for (uint32_t i = 0; i < p->piece_count; i++)
    unit = number_gcd(unit, p->pieces[i].low);
  return unit;
}

static uint64_t largest_padding(const layout_problem *p, uint64_t unit) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < p->piece_count; i++) {
    uint64_t high = p->pieces[i].high, padding;
    padding = number_round_up(high, unit) - high;
    if (padding > most) most = padding;
  }
  return most;
}

/* Every body ends somewhere, a fixed one at a known place. */
static uint64_t largest_end(const layout_problem *p) {
  uint64_t most = 0;
  for (uint32_t b = 0; b < p->body_count; b++) {
    uint64_t end = layout_body_span(p, b);
    if (p->bodies[b].fixed) end += p->bodies[b].offset;
    if (layout_body_counts(p, b) && end > most) most = end;
  }
  return most;
}

/*
 * If every piece begins at a multiple of `unit`, each but the topmost of a step
 * takes its size rounded up; the topmost one's padding need not lie in the
 * arena.  A rounded sum that overflows says nothing, and is not needed.
 */
static calm_status aligned_bound(uint64_t *out, const layout_problem *p,
                                 arena *a) {
  uint64_t unit = layout_offset_unit(p), padded = 0, end = largest_end(p);
  TRY(largest_sum(out, p, 1, a));
  if (end > *out) *out = end;
  if (unit <= 1 || *out > NUMBER_MAX_BYTES / 2 / p->piece_count ||
      unit > NUMBER_MAX_BYTES / 2 / p->piece_count)
    return CALM_OK;
  TRY(largest_sum(&padded, p, unit, a));
  padded -= padded ? largest_padding(p, unit) : 0;
  if (padded > *out) *out = padded;
  return CALM_OK;
}

calm_status layout_bound_aligned(uint64_t *out, const layout_problem *p,
                                 calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  calm_status status = aligned_bound(out, p, &scratch);
  arena_free(&scratch);
  return status;
}
