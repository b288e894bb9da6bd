#include "cost/cost_frame.h"

/*
 * One walk from the innermost loop outwards.  Extents grow in a row, and with
 * them the words of the tensors; where a block of loops ends, its row stays
 * behind and the next block goes on in a copy.  A wrong nest may overflow to
 * infinity, which is no bound either.
 */
typedef struct walk {
  cost_frame *frame;
  const cost_tables *tables;
  double *row;
  uint32_t grown; /* dimensions that the block's loops have */
  uint32_t at;    /* in the nest's loops */
  /* Words of each tensor: its factors times its sums. */
  double factors[ACCEL_MAX_TENSORS], windows[ACCEL_MAX_TENSORS];
} walk;

static inline void begin_row(walk *w) {
  const cost_tables *t = w->tables;
  const double *inner = w->row;
  double *row = w->row += t->row_size;
  for (uint32_t d = 0; d < t->dimension_count; d++) row[d] = inner[d];
}

static inline void grow(walk *w, uint32_t dimension, double bound) {
  const cost_tables *t = w->tables;
  if (!w->grown) begin_row(w);
  w->grown |= UINT32_C(1) << dimension;
  w->row[dimension] *= bound;
  for (uint32_t left = t->factored[dimension]; left; left &= left - 1)
    w->factors[bits_lowest(left)] *= bound;
}

/* A block without loops shares the row of the block before. */
static inline const double *end_block(walk *w) {
  const cost_tables *t = w->tables;
  double *words = w->row + t->dimension_count;
  if (!w->grown) return w->row;
  if (w->grown & t->summed)
    for (uint32_t left = t->windowed; left; left &= left - 1) {
      const uint32_t i = bits_lowest(left);
      w->windows[i] = cost_window(&t->shapes[i], w->row);
    }
  for (uint32_t i = 0; i < t->tensor_count; i++)
    words[i] = w->factors[i] * w->windows[i];
  w->grown = 0;
  return w->row;
}

/* The spatial loops of a level. */
static inline void walk_spread(walk *w, uint32_t level) {
  cost_frame *f = w->frame;
  const accel_nest *n = f->nest;
  cost_spread *s = &f->spreads[level];
  double x = 1, y = 1;
  s->first_loop = w->at;
  s->first_step = f->step_count;
  for (; w->at < n->loop_count; w->at++) {
    const accel_loop *loop = &n->loops[w->at];
    if (loop->level != level || loop->kind == ACCEL_TEMPORAL) break;
    const double bound = cost_real(loop->bound);
    if (loop->kind == ACCEL_SPATIAL_X)
      x *= bound;
    else
      y *= bound;
    f->perfect &= loop->residual == loop->bound;
    grow(w, loop->dimension, bound);
  }
  s->last_loop = w->at;
  s->dimensions = w->grown;
  s->x = x, s->y = y;
  f->wide[level] = end_block(w);
}

/* The temporal loops of a level, each a step. */
static inline void walk_steps(walk *w, uint32_t level) {
  cost_frame *f = w->frame;
  const accel_nest *n = f->nest;
  for (; w->at < n->loop_count; w->at++) {
    const accel_loop *loop = &n->loops[w->at];
    if (loop->level != level) break;
    const uint32_t d = loop->dimension;
    const double bound = cost_real(loop->bound);
    f->perfect &= loop->residual == loop->bound;
    f->compute_cycles *= bound;
    if (bound > 1 && f->step_count < COST_MOST_STEPS) {
      f->steps_of[d] |= UINT64_C(1) << f->step_count;
      f->steps[f->step_count++] = (cost_step){bound, w->row[d], 0, d};
    }
    grow(w, d, bound);
  }
  f->tile[level] = end_block(w);
}

static void walk_loops(cost_frame *f, const cost_tables *t) {
  walk w = {.frame = f, .tables = t, .row = f->rows};
  for (uint32_t i = 0; i < t->tensor_count; i++)
    w.factors[i] = w.windows[i] = 1;
  f->perfect = true;
  f->compute_cycles = 1;
  f->step_count = 0;
  for (uint32_t d = 0; d < t->dimension_count; d++) f->steps_of[d] = 0;
  for (uint32_t level = 0; level < t->level_count; level++) {
    walk_spread(&w, level);
    walk_steps(&w, level);
  }
}

/* Imperfect loops are chained from the outermost: (outer - 1) * bound +
   residual. */
static void chain_loops(double *made, const accel_nest *n,
                        uint32_t dimensions) {
  for (uint32_t d = 0; d < dimensions; d++) made[d] = 1;
  for (uint32_t i = n->loop_count; i-- > 0;) {
    double *m = &made[n->loops[i].dimension];
    *m = (*m - 1) * cost_real(n->loops[i].bound) +
         cost_real(n->loops[i].residual);
  }
}

/* The first dimension whose loops do not make up its bound. */
static bool find_wrong(const cost_frame *f, const cost_tables *t,
                       uint32_t *wrong, double *made) {
  double chained[ACCEL_MAX_DIMENSIONS];
  const double *have = f->tile[t->level_count - 1];
  if (!f->perfect) {
    chain_loops(chained, f->nest, t->dimension_count);
    have = chained;
  }
  for (uint32_t d = 0; d < t->dimension_count; d++)
    if (have[d] != t->bounds[d]) {
      *wrong = d, *made = have[d];
      return true;
    }
  return false;
}

/* How many columns and rows of each level are in use, and how often the steps
   inside of each are repeated. */
static void multiply_outwards(cost_frame *f, const cost_tables *t) {
  double x = 1, y = 1, outer = 1;
  for (uint32_t level = t->level_count; level-- > 0;) {
    cost_spread *s = &f->spreads[level];
    s->above_x = x, s->above_y = y;
    s->instances = x * y;
    s->clusters = s->instances < t->stores[level].clusters
                      ? s->instances
                      : t->stores[level].clusters;
    x *= s->x, y *= s->y;
  }
  f->multipliers = x * y;
  for (uint32_t k = f->step_count; k-- > 0;) {
    f->steps[k].outer = outer;
    outer *= f->steps[k].bound;
  }
}

bool cost_frame_measure(cost_frame *f, const cost_tables *t,
                        const accel_nest *n, uint32_t *wrong, double *made) {
  f->nest = n;
  walk_loops(f, t);
  if (find_wrong(f, t, wrong, made)) return false;
  multiply_outwards(f, t);
  if (!f->perfect) cost_frame_average(f, t);
  return true;
}
