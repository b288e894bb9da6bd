#include "cost/cost_frame.h"

/*
 * Imperfect factors.  In the last pass of a loop, when all outer loops of its
 * dimension are at their last index, it has `residual` iterations; all other
 * passes are full.  A tile is as large as in a full pass if there is one, and
 * the instances in use are an average over the passes, of which Timeloop keeps
 * the integer part.
 */

/* Which dimensions still have an outer loop with more than one iteration in its
   last pass, so that full passes exist; kept while walking inwards. */
static void add_pass(uint32_t *passes, const accel_loop *loop) {
  if (loop->residual > 1) *passes |= UINT32_C(1) << loop->dimension;
}

/* The extents of last passes, bottom up: each loop adds residual - 1 full
   passes of what is inside of it. */
static void chain_residuals(double *last, double *full,
                            const accel_loop *loop) {
  last[loop->dimension] += full[loop->dimension] * (double)(loop->residual - 1);
  full[loop->dimension] *= (double)loop->bound;
}

/* Where no full pass exists, put in the extents of the last one.  `first` is
   the first loop outside of the tile. */
static void shrink(double *out, const double *extents, const double *last,
                   const accel_nest *n, uint32_t first, uint32_t dimensions) {
  uint32_t passes = 0;
  for (uint32_t i = first; i < n->loop_count; i++)
    add_pass(&passes, &n->loops[i]);
  for (uint32_t d = 0; d < dimensions; d++)
    out[d] = passes >> d & 1 ? extents[d] : last[d];
}

static const double *count_words(double *row, const cost_tables *t) {
  for (uint32_t i = 0; i < t->tensor_count; i++)
    row[t->dimension_count + i] = cost_words(&t->shapes[i], row);
  return row;
}

static void shrink_tiles(cost_frame *f, const cost_tables *t) {
  const accel_nest *n = f->nest;
  const uint32_t dims = t->dimension_count;
  double last[ACCEL_MAX_DIMENSIONS], full[ACCEL_MAX_DIMENSIONS];
  double *row = f->rows + t->row_size;
  for (uint32_t d = 0; d < dims; d++) last[d] = full[d] = 1;
  uint32_t i = 0;
  for (uint32_t level = 0; level < t->level_count; level++) {
    for (; i < f->spreads[level].last_loop; i++)
      chain_residuals(last, full, &n->loops[i]);
    shrink(row, full, last, n, i, dims);
    f->wide[level] = count_words(row, t), row += t->row_size;
    for (; i < n->loop_count && n->loops[i].level == level; i++)
      chain_residuals(last, full, &n->loops[i]);
    shrink(row, full, last, n, i, dims);
    f->tile[level] = count_words(row, t), row += t->row_size;
  }
}

/* Passes that loop i has in all: its dimension's outer loops, chained. */
static double count_passes(const accel_nest *n, uint32_t i) {
  double passes = 1;
  for (uint32_t k = n->loop_count; --k > i;)
    if (n->loops[k].dimension == n->loops[i].dimension)
      passes = (double)n->loops[k].residual +
               (double)n->loops[k].bound * (passes - 1);
  return passes;
}

/* The instances inside of spatial loop i, given those outside of it; in this
   order of operations, which the integer part can depend on. */
static double spread_average(double in_use, const accel_nest *n, uint32_t i) {
  const double bound = (double)n->loops[i].bound;
  const double residual = (double)n->loops[i].residual;
  if (bound == residual) return in_use * bound;
  const double passes = count_passes(n, i);
  return in_use * (residual + bound * (passes - 1)) / passes;
}

/* From the outermost level inwards: the products of averages, rounded off.
   What the multipliers do is counted with all of the innermost fan-out, and
   rounded off once, after that. */
static void average_instances(cost_frame *f, const cost_tables *t) {
  const cost_spread *inner = &f->spreads[0];
  double in_use = 1;
  for (uint32_t level = t->level_count; level-- > 0;) {
    cost_spread *s = &f->spreads[level];
    s->instances = (double)(uint64_t)in_use;
    if (!level)
      f->multiplying = (double)(uint64_t)(in_use * (inner->x * inner->y));
    for (uint32_t i = s->last_loop; i-- > s->first_loop;)
      in_use = spread_average(in_use, f->nest, i);
  }
}

void cost_frame_average(cost_frame *f, const cost_tables *t) {
  shrink_tiles(f, t);
  average_instances(f, t);
}
