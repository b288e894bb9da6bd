/*
 * Can neighbours hand words on, so that links have to be replayed?
 *
 * A neighbour hands a word on if what it got at the last visit is what the
 * element gets at this one: then the shift of the tile between two visits
 * equals the difference of two elements' offsets.  There are few shifts (one
 * per loop) and few differences (one per loop that carries when an element's
 * number goes up by one, or by a row), so it is cheap to see that no pair
 * agrees.
 *
 * Shifts and differences are compared as addresses of the sums and, apart from
 * these, as steps along dimensions that are alone in a rank: a vector.
 */
#include <math.h>

#include "cost/cost_stream.h"

typedef struct offset {
  double sums;
  double along[ACCEL_MAX_DIMENSIONS];
} offset;

static void add(offset *o, const cost_shape *s, uint32_t d, double steps) {
  o->sums += s->address[d] * steps;
  if (s->alone >> d & 1) o->along[d] += steps;
}

static bool same(const offset *a, const offset *b, double sign,
                 uint32_t dimensions) {
  if (a->sums != sign * b->sums) return false;
  for (uint32_t d = 0; d < dimensions; d++)
    if (a->along[d] != sign * b->along[d]) return false;
  return true;
}

/* Does any shift of the steps equal a difference of neighbours, either way? */
static bool shifts_by(const cost_scratch *s, const cost_shape *shape,
                      uint32_t level, const offset *difference) {
  const cost_frame *f = &s->frame;
  const uint32_t dims = s->tables.dimension_count;
  offset back = {0};
  for (uint32_t k = f->spreads[level].first_step; k < f->step_count; k++) {
    const cost_step *step = &f->steps[k];
    offset shift = back;
    add(&shift, shape, step->dimension, step->scale);
    add(&back, shape, step->dimension, -step->scale);
    if (same(&shift, difference, 1, dims) || same(&shift, difference, -1, dims))
      return true;
  }
  return false;
}

/* The differences between elements whose numbers differ by one unit of loop
   `first` (by one, or by a row): loop i takes a step, those from first to i go
   back to their beginning. */
static bool any_carry(const cost_scratch *s, const cost_shape *shape,
                      uint32_t level, uint32_t first) {
  const cost_spread *spread = &s->frame.spreads[level];
  const accel_loop *loops = s->frame.nest->loops;
  double scale[ACCEL_MAX_DIMENSIONS];
  const double *below = cost_frame_below(&s->frame, level);
  for (uint32_t d = 0; d < s->tables.dimension_count; d++) scale[d] = below[d];
  offset back = {0};
  for (uint32_t i = spread->first_loop; i < spread->last_loop; i++) {
    const uint32_t d = loops[i].dimension;
    const double bound = (double)loops[i].bound;
    if (i >= first) {
      offset difference = back;
      add(&difference, shape, d, scale[d]);
      add(&back, shape, d, -scale[d] * (bound - 1));
      if (shifts_by(s, shape, level, &difference)) return true;
    }
    scale[d] *= bound;
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

/* May the tile be delivered in strips?  Then what arrives has many shapes, and
   nothing is promised. */
static bool slides(const cost_scratch *s, const cost_shape *shape,
                   uint32_t level) {
  const cost_frame *f = &s->frame;
  if (level == 0) return false;
  for (uint32_t k = f->spreads[level].first_step; k < f->step_count; k++) {
    const uint32_t d = f->steps[k].dimension;
    if (shape->moving >> d & 1) return !(shape->alone >> d & 1);
  }
  return false;
}

bool cost_stream_may_link(const cost_scratch *s, uint32_t tensor,
                          uint32_t level) {
  const cost_frame *f = &s->frame;
  const cost_spread *spread = &f->spreads[level];
  const cost_shape *shape = &s->tables.shapes[tensor];
  if (!spread->dimensions || spread->first_step == f->step_count) return false;
  if (slides(s, shape, level)) return true;
  const double width = fmax(spread->x, s->tables.stores[level].fanout_x);
  if (spread->x * spread->y > width && width != spread->x) return true;
  return any_carry(s, shape, level, spread->first_loop) ||
         any_carry(s, shape, level, first_row_loop(s, spread));
}
