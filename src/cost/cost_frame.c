#include "cost/cost_frame.h"

#include <string.h>

/* Loops of a nest that can be valid make up at most ACCEL_MAX_COUNT; beyond
   that a wrong nest only has to stay wrong. */
static const double BEYOND_COUNTS = 1e300;

static double times(double a, double b) {
  const double product = a * b;
  return product < BEYOND_COUNTS ? product : BEYOND_COUNTS;
}

static void open_level(cost_spread *s, uint32_t loop) {
  *s = (cost_spread){.x = 1,
                     .y = 1,
                     .above_x = 1,
                     .above_y = 1,
                     .instances = 1,
                     .first_loop = loop,
                     .last_loop = loop};
}

/* A spatial loop belongs to the fan-out below its level. */
static void spread_loop(cost_spread *s, const accel_loop *loop, uint32_t at) {
  double *columns = loop->kind == ACCEL_SPATIAL_X ? &s->x : &s->y;
  *columns = times(*columns, (double)loop->bound);
  s->dimensions |= UINT32_C(1) << loop->dimension;
  s->last_loop = at + 1;
}

/* The walk from the innermost loop outwards: extents grow, and each level keeps
   a copy of them when its spatial loops end and when its temporal ones do. */
static void walk_loops(cost_frame *f, const cost_tables *t, double *extents) {
  const accel_nest *n = f->nest;
  const uint32_t dims = t->dimension_count;
  const size_t bytes = dims * sizeof *extents;
  for (uint32_t d = 0; d < dims; d++) extents[d] = 1;
  f->perfect = true;
  f->compute_cycles = 1;
  uint32_t at = 0;
  for (uint32_t level = 0; level < t->level_count; level++) {
    open_level(&f->spreads[level], at);
    for (; at < n->loop_count && n->loops[at].level == level &&
           n->loops[at].kind != ACCEL_TEMPORAL;
         at++) {
      const accel_loop *loop = &n->loops[at];
      spread_loop(&f->spreads[level], loop, at);
      f->perfect &= loop->residual == loop->bound;
      extents[loop->dimension] =
          times(extents[loop->dimension], (double)loop->bound);
    }
    memcpy(cost_frame_wide(f, t, level), extents, bytes);
    for (; at < n->loop_count && n->loops[at].level == level; at++) {
      const accel_loop *loop = &n->loops[at];
      f->perfect &= loop->residual == loop->bound;
      f->compute_cycles = times(f->compute_cycles, (double)loop->bound);
      extents[loop->dimension] =
          times(extents[loop->dimension], (double)loop->bound);
    }
    memcpy(cost_frame_tile(f, t, level), extents, bytes);
  }
}

/* What the loops of each dimension make up: their product; imperfect ones are
   chained from the outermost, (outer - 1) * bound + residual. */
static void make_up(double *made, const cost_frame *f, const cost_tables *t) {
  const accel_nest *n = f->nest;
  if (f->perfect) {
    memcpy(made, cost_frame_tile(f, t, t->level_count - 1),
           t->dimension_count * sizeof *made);
    return;
  }
  for (uint32_t d = 0; d < t->dimension_count; d++) made[d] = 1;
  for (uint32_t i = n->loop_count; i-- > 0;) {
    double *m = &made[n->loops[i].dimension];
    *m =
        times(*m - 1, (double)n->loops[i].bound) + (double)n->loops[i].residual;
  }
}

/* How many columns and rows of each level are in use. */
static void multiply_outwards(cost_frame *f, const cost_tables *t) {
  double x = 1, y = 1;
  for (uint32_t level = t->level_count; level-- > 0;) {
    cost_spread *s = &f->spreads[level];
    s->above_x = x, s->above_y = y;
    s->instances = x * y;
    x = times(x, s->x), y = times(y, s->y);
  }
  f->multipliers = x * y;
}

bool cost_frame_measure(cost_frame *f, const cost_tables *t,
                        const accel_nest *n, uint32_t *wrong, double *made) {
  double extents[ACCEL_MAX_DIMENSIONS];
  f->nest = n;
  walk_loops(f, t, extents);
  make_up(extents, f, t);
  for (uint32_t d = 0; d < t->dimension_count; d++)
    if (extents[d] != t->bounds[d]) {
      *wrong = d, *made = extents[d];
      return false;
    }
  multiply_outwards(f, t);
  if (!f->perfect) cost_frame_average(f, t);
  return true;
}

void cost_frame_list(cost_frame *f, const cost_tables *t) {
  const accel_nest *n = f->nest;
  double extents[ACCEL_MAX_DIMENSIONS];
  for (uint32_t d = 0; d < t->dimension_count; d++) extents[d] = 1;
  uint32_t count = 0, level = 0;
  for (uint32_t i = 0; i < n->loop_count; i++) {
    const accel_loop *loop = &n->loops[i];
    for (; level < loop->level; level++)
      f->spreads[level + 1].first_step = count;
    const double bound = (double)loop->bound;
    if (loop->kind == ACCEL_TEMPORAL && loop->bound > 1)
      f->steps[count++] = (cost_step){.bound = bound,
                                      .scale = extents[loop->dimension],
                                      .dimension = loop->dimension};
    extents[loop->dimension] *= bound;
  }
  for (; level + 1 < t->level_count; level++)
    f->spreads[level + 1].first_step = count;
  f->spreads[0].first_step = 0;
  f->step_count = count;
  double outer = 1;
  while (count-- > 0) {
    f->steps[count].outer = outer;
    outer *= f->steps[count].bound;
  }
}
