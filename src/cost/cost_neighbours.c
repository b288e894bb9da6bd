/*
 * Can neighbours hand words on, so that links have to be replayed?
 *
 * A neighbour hands a word on if what it got at the last visit is what the
 * element gets at this one: then the shift of the tile between two visits
 * equals the difference of two elements' offsets.  There are few shifts (one
 * per step) and few differences (one per loop that carries when an element's
 * number goes up by one, or by a row), so it is cheap to see that no pair
 * agrees.
 *
 * Of each loop the first two iterations are visited.  So every other visit is a
 * step of the innermost loop, and the visits on both sides of one that delivers
 * nothing have nobody to ask.  If that loop does not move the tile, there are
 * no links at all.  If it moves it by less than its extent, strips alternate
 * with whole tiles, which no neighbour can turn into one another; but for
 * another step that shifts the tile by just as much, and so goes on with
 * strips.
 *
 * Below the innermost level whole tiles are delivered at every visit.
 *
 * Offsets are numbers by shape->move, modulo 2^64: equal offsets have equal
 * numbers.
 */
#include <math.h>

#include "cost/cost_stream.h"

typedef struct shifts {
  uint64_t by[COST_MOST_STEPS];
  uint32_t count;
} shifts;

static uint64_t move_by(const cost_shape *s, uint32_t dimension, double steps) {
  return s->move[dimension] * cost_whole(steps);
}

/* Does a step leave a part of the tile where it was? */
static bool overlaps(const cost_shape *s, const double *extents,
                     const cost_step *step) {
  if (s->alone >> step->dimension & 1) return false;
  for (uint32_t i = 0; i < s->sum_count; i++) {
    const cost_sum *sum = &s->sums[i];
    const double extent = cost_extent(sum, extents);
    for (uint32_t k = 0; k < sum->term_count; k++)
      if (sum->term_dimensions[k] == step->dimension &&
          sum->coefficients[k] * step->scale >= extent)
        return false;
  }
  return true;
}

/* From each visit to the next: a loop takes its step, those inside of it go
   back to their beginning. */
static void find_shifts(shifts *out, const cost_frame *f,
                        const cost_shape *shape, uint32_t first) {
  uint64_t back = 0;
  for (uint32_t k = first; k < f->step_count; k++) {
    const uint64_t step =
        move_by(shape, f->steps[k].dimension, f->steps[k].scale);
    out->by[out->count++] = step - back;
    back += step;
  }
}

/* What is left of them if the first delivers strips. */
static void keep_strips(shifts *s) {
  const uint32_t count = s->count;
  s->count = 0;
  for (uint32_t i = 1; i < count; i++)
    if (s->by[i] == s->by[0]) s->count = 1;
}

static bool has_shift(const shifts *s, uint64_t difference) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->by[i] == difference || s->by[i] == 0 - difference) return true;
  return false;
}

/* The differences between elements whose numbers differ by one unit of loop
   `first` (by one, or by a row): loop i takes a step, those from first to i go
   back to their beginning. */
static bool any_carry(const cost_scratch *s, const cost_shape *shape,
                      uint32_t level, uint32_t first, const shifts *shifts) {
  const cost_spread *spread = &s->frame.spreads[level];
  const accel_loop *loops = s->frame.nest->loops;
  const double *below = cost_frame_below(&s->frame, level);
  uint64_t scale[ACCEL_MAX_DIMENSIONS], back = 0;
  for (uint32_t d = 0; d < s->tables.dimension_count; d++)
    scale[d] = cost_whole(below[d]);
  for (uint32_t i = spread->first_loop; i < spread->last_loop; i++) {
    const uint32_t d = loops[i].dimension;
    const uint64_t step = shape->move[d] * scale[d];
    scale[d] *= loops[i].bound;
    if (i < first) continue;
    if (has_shift(shifts, step - back)) return true;
    back += step * (loops[i].bound - 1);
  }
  return false;
}

static uint32_t first_row_loop(const cost_scratch *s,
                               const cost_spread *spread) {
  uint32_t i = spread->first_loop;
  while (i < spread->last_loop &&
         s->frame.nest->loops[i].kind == ACCEL_SPATIAL_X)
    i++;
  return i;
}

bool cost_stream_may_link(const cost_scratch *s, uint32_t tensor,
                          uint32_t level) {
  const cost_frame *f = &s->frame;
  const cost_spread *spread = &f->spreads[level];
  const cost_shape *shape = &s->tables.shapes[tensor];
  const uint32_t first = spread->first_step;
  if (!spread->dimensions || first == f->step_count) return false;
  if (level && !(shape->moving >> f->steps[first].dimension & 1)) return false;
  shifts shifts;
  shifts.count = 0;
  find_shifts(&shifts, f, shape, first);
  if (level && overlaps(shape, f->tile[level - 1], &f->steps[first]))
    keep_strips(&shifts);
  if (shifts.count == 0) return false;
  const double width = fmax(spread->x, s->tables.stores[level].fanout_x);
  if (spread->x * spread->y > width && width != spread->x) return true;
  return any_carry(s, shape, level, spread->first_loop, &shifts) ||
         any_carry(s, shape, level, first_row_loop(s, spread), &shifts);
}
