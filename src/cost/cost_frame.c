#include "cost/cost_frame.h"

/*
 * One walk from the innermost loop outwards.  Extents grow in a row; where a
 * block of loops ends, its row stays behind and the next block goes on in a
 * copy. A wrong nest may overflow to infinity, which is no bound either.
 */
typedef struct walk {
  cost_frame *frame;
  const cost_tables *tables;
  double *row;       /* grows */
  const double *old; /* the finished row inside of it */
} walk;

/* Before the first loop of a block. */
static void begin_row(walk *w) {
  const uint32_t dimensions = w->tables->dimension_count;
  for (uint32_t d = 0; d < dimensions; d++) w->row[d] = w->old[d];
}

/* After a block: its row, or the one before if the block is empty. */
static const double *end_row(walk *w, bool empty) {
  if (empty) return w->old;
  w->old = w->row;
  w->row += w->tables->dimension_count;
  return w->old;
}

/* The spatial loops at `at`; returns where they end. */
static uint32_t walk_spread(walk *w, uint32_t level, uint32_t at) {
  const accel_nest *n = w->frame->nest;
  cost_spread s = {.x = 1, .y = 1, .first_loop = at};
  s.first_step = w->frame->step_count;
  for (; at < n->loop_count; at++) {
    const accel_loop *loop = &n->loops[at];
    if (loop->level != level || loop->kind == ACCEL_TEMPORAL) break;
    if (at == s.first_loop) begin_row(w);
    const double bound = cost_real(loop->bound);
    if (loop->kind == ACCEL_SPATIAL_X)
      s.x *= bound;
    else
      s.y *= bound;
    s.dimensions |= UINT32_C(1) << loop->dimension;
    w->frame->perfect &= loop->residual == loop->bound;
    w->row[loop->dimension] *= bound;
  }
  s.last_loop = at;
  w->frame->spreads[level] = s;
  w->frame->wide[level] = end_row(w, at == s.first_loop);
  return at;
}

/* The temporal loops at `at`, each a step; returns where they end. */
static uint32_t walk_steps(walk *w, uint32_t level, uint32_t at) {
  cost_frame *f = w->frame;
  const accel_nest *n = f->nest;
  const uint32_t first = at;
  for (; at < n->loop_count && n->loops[at].level == level; at++) {
    const accel_loop *loop = &n->loops[at];
    if (at == first) begin_row(w);
    const double bound = cost_real(loop->bound);
    f->perfect &= loop->residual == loop->bound;
    f->compute_cycles *= bound;
    if (bound > 1 && f->step_count < COST_MOST_STEPS)
      f->steps[f->step_count++] = (cost_step){
          .bound = bound,
          .scale = w->row[loop->dimension],
          .dimension = loop->dimension,
      };
    w->row[loop->dimension] *= bound;
  }
  f->tile[level] = end_row(w, at == first);
  return at;
}

static void walk_loops(cost_frame *f, const cost_tables *t) {
  walk w = {f, t, f->rows + t->dimension_count, f->rows};
  uint32_t at = 0;
  f->perfect = true;
  f->compute_cycles = 1;
  f->step_count = 0;
  for (uint32_t level = 0; level < t->level_count; level++) {
    at = walk_spread(&w, level, at);
    at = walk_steps(&w, level, at);
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
    x *= s->x, y *= s->y;
  }
  f->multipliers = x * y;
  for (uint32_t k = f->step_count; k-- > 0;) {
    f->steps[k].outer = outer;
    outer *= f->steps[k].bound;
  }
}

/* Tiles that share a row are the same. */
static void count_words(cost_frame *f, const cost_tables *t) {
  const double *inner = f->words;
  for (uint32_t level = 0; level < t->level_count; level++) {
    double *words = &f->words[level * t->tensor_count];
    const bool same = level > 0 && f->tile[level] == f->tile[level - 1];
    for (uint32_t i = 0; i < t->tensor_count; i++)
      words[i] = same ? inner[i] : cost_words(&t->shapes[i], f->tile[level]);
    inner = words;
  }
}

bool cost_frame_measure(cost_frame *f, const cost_tables *t,
                        const accel_nest *n, uint32_t *wrong, double *made) {
  f->nest = n;
  walk_loops(f, t);
  if (find_wrong(f, t, wrong, made)) return false;
  multiply_outwards(f, t);
  if (!f->perfect) cost_frame_average(f, t);
  count_words(f, t);
  return true;
}
