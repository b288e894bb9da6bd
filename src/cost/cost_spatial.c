#include "cost/cost_spatial.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/number.h"

/*
 * The elements of a fan-out are the points of a grid with one axis per spatial
 * loop; each axis moves the tile by a vector, or not at all.  Elements with the
 * same sum of vectors need the same words.
 *
 * An axis that moves nothing makes groups larger.  One that is the only term of
 * some rank makes more groups.  So does one whose ranks no other axis moves.
 * What is left are ranks that two axes move, as P and R do: there the number of
 * ways in which each offset arises follows from the two bounds and steps.
 */

/* ---- Limits -------------------------------------------------------------- */

static bool stop(cost_scratch *s, cost_fault fault, double needed,
                 double available) {
  s->excess = (cost_excess){fault, needed, available};
  return false;
}

bool cost_spatial_crowded(cost_scratch *s) {
  return stop(s, COST_LIMIT_PATTERNS, INFINITY, s->tables.most_bins);
}

/* ---- Histograms ---------------------------------------------------------- */

/* Ascending by multicast; there are few. */
static bool add_bin(cost_bin *bins, uint32_t *count, uint32_t room,
                    const cost_bin *bin) {
  uint32_t at = *count;
  while (at > 0 && bins[at - 1].multicast >= bin->multicast) at--;
  if (at < *count && bins[at].multicast == bin->multicast) {
    bins[at].scatter += bin->scatter;
    bins[at].hops += bin->hops;
    return true;
  }
  if (*count == room) return false;
  for (uint32_t i = (*count)++; i > at; i--) bins[i] = bins[i - 1];
  bins[at] = *bin;
  return true;
}

/* ---- Two axes in one rank ------------------------------------------------ */

/* Pairs (i, j) below (n, m) that start a run of `length` pairs with the same
   offset, each (a, -b) from the one before. */
static double count_runs(double n, double m, double a, double b,
                         double length) {
  const double i = n - (length - 1) * a, j = m - (length - 1) * b;
  return i > 0 && j > 0 ? i * j : 0;
}

/* The offset i * v + j * w arises anew from (i + a, j - b) with a = w / g,
   b = v / g.  Runs that are no part of longer ones are the second difference of
   the runs of each length. */
static bool multiply_pair(cost_scratch *s, double n, double v, double m,
                          double w) {
  const double g = (double)number_gcd((uint64_t)v, (uint64_t)w);
  const double a = w / g, b = v / g;
  if (n <= a || m <= b) {
    for (uint32_t i = 0; i < s->bin_count; i++) s->bins[i].scatter *= n * m;
    return true;
  }
  uint32_t count = 0;
  for (double length = 1; count_runs(n, m, a, b, length) > 0; length++) {
    const double runs = count_runs(n, m, a, b, length) -
                        2 * count_runs(n, m, a, b, length + 1) +
                        count_runs(n, m, a, b, length + 2);
    if (runs == 0) continue;
    for (uint32_t i = 0; i < s->bin_count; i++) {
      cost_bin bin = s->bins[i];
      bin.multicast *= length, bin.scatter *= runs;
      if (!add_bin(s->more_bins, &count, s->tables.most_bins, &bin))
        return cost_spatial_crowded(s);
    }
  }
  cost_bin *spare = s->bins;
  s->bins = s->more_bins, s->more_bins = spare;
  s->bin_count = count;
  return true;
}

/* ---- Enumeration --------------------------------------------------------- */

static int compare_elements(const void *left, const void *right) {
  const cost_element *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* One axis more: the elements so far, `bound` times. */
static void repeat_elements(cost_element *elements, uint32_t *count,
                            uint64_t bound, double step) {
  uint32_t at = *count;
  for (uint64_t k = 1; k < bound; k++)
    for (uint32_t i = 0; i < *count; i++)
      elements[at++].key = elements[i].key + (double)k * step;
  *count = at;
}

/* How far offsets reach, all spatial loops of the level together. */
static double reach_of(const cost_scratch *s, const cost_shape *shape,
                       const double *below, const double *wide) {
  double reach = 1;
  for (uint32_t d = 0; d < s->tables.dimension_count; d++)
    reach += shape->address[d] * (wide[d] - below[d]);
  return reach;
}

/* A key for each element, in the order of their numbers (the innermost loop
   fastest): the address of its offset, and above that a digit for each axis
   that sets elements apart by itself.  False if the keys are too large. */
static bool number_elements(cost_scratch *s, const cost_shape *shape,
                            uint32_t level, uint32_t *count) {
  const cost_spread *spread = &s->frame.spreads[level];
  const accel_loop *loops = s->frame.nest->loops;
  const double *below = cost_frame_below(&s->frame, level);
  const double *wide = s->frame.wide[level];
  double scale[ACCEL_MAX_DIMENSIONS];
  for (uint32_t d = 0; d < s->tables.dimension_count; d++) scale[d] = below[d];
  double digit = reach_of(s, shape, below, wide);
  *count = 1;
  s->elements[0].key = 0;
  for (uint32_t i = spread->first_loop; i < spread->last_loop; i++) {
    const uint32_t d = loops[i].dimension;
    double step = shape->address[d] * scale[d];
    if (shape->alone >> d & 1) {
      step += digit;
      digit *= (double)loops[i].bound;
    }
    repeat_elements(s->elements, count, loops[i].bound, step);
    scale[d] *= (double)loops[i].bound;
  }
  const double most = (double)ACCEL_MAX_COUNT;
  return digit <= most || stop(s, COST_TOO_LARGE, digit, most);
}

/* Elements are packed by the columns in use, positions by those of the mesh. */
static void place_elements(cost_scratch *s, uint32_t count, uint32_t width) {
  for (uint32_t i = 0; i < count; i++) {
    s->elements[i].column = i % width;
    s->elements[i].row = i / width;
  }
}

/* A delivery runs along a row to the farthest column that wants it, and from
   the middle of the array up and down each column to the farthest row.  The
   group is sorted by columns. */
static double count_hops(const cost_element *e, uint32_t count, double middle) {
  double hops = e[count - 1].column;
  for (uint32_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && e[next].column == e[i].column;) next++;
    hops += fmax(middle - e[i].row, 0) + fmax(e[next - 1].row - middle, 0);
  }
  return hops;
}

static bool enumerate(cost_scratch *s, const cost_shape *shape,
                      uint32_t level) {
  const cost_store *store = &s->tables.stores[level];
  const cost_spread *spread = &s->frame.spreads[level];
  const double elements = spread->x * spread->y;
  if (elements > s->tables.most_elements)
    return stop(s, COST_LIMIT_ELEMENTS, elements, s->tables.most_elements);
  uint32_t count, bins = 0;
  if (!number_elements(s, shape, level, &count)) return false;
  place_elements(s, count, (uint32_t)fmax(store->fanout_x, spread->x));
  const double middle = (fmax(store->fanout_y, spread->y) - 1) / 2;
  qsort(s->elements, count, sizeof *s->elements, compare_elements);
  for (uint32_t i = 0, next; i < count; i = next) {
    const cost_element *e = &s->elements[i];
    for (next = i + 1; next < count && s->elements[next].key == e->key;) next++;
    const double hops = store->needs_hops ? count_hops(e, next - i, middle) : 0;
    const cost_bin bin = {next - i, 1, hops};
    if (!add_bin(s->bins, &bins, s->tables.most_bins, &bin))
      return cost_spatial_crowded(s);
  }
  s->bin_count = bins;
  return true;
}

/* ---- Which way ----------------------------------------------------------- */

/* The axes whose elements may coincide: not alone in a rank, and no rank of
   theirs moved by them only. */
static uint32_t find_shared(const cost_shape *shape, uint32_t spread) {
  uint32_t shared = spread & shape->moving & ~shape->alone;
  if (!(shared & (shared - 1))) return 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < shape->sum_count; i++) {
      const uint32_t axes = shape->sums[i].dimensions & shared;
      if (axes && !(axes & (axes - 1))) shared &= ~axes, changed = true;
    }
  }
  return shared;
}

/* Does every rank have two of the shared axes or none, and every axis one
   rank? */
static bool only_pairs(const cost_shape *shape, uint32_t shared) {
  if (!shared) return true;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    const uint32_t axes = shape->sums[i].dimensions & shared;
    if (!axes) continue;
    if (bits_count_word(axes) != 2 || axes & seen) return false;
    seen |= axes;
  }
  return true;
}

static bool multiply_pairs(cost_scratch *s, const cost_shape *shape,
                           uint32_t level, uint32_t shared) {
  const double *below = cost_frame_below(&s->frame, level);
  const double *wide = s->frame.wide[level];
  for (uint32_t i = 0; i < shape->sum_count; i++) {
    const uint32_t axes = shape->sums[i].dimensions & shared;
    if (!axes) continue;
    const uint32_t p = bits_lowest(axes), q = bits_lowest(axes & (axes - 1));
    const cost_sum *sum = &shape->sums[i];
    double v = 0, w = 0;
    for (uint32_t k = 0; k < sum->term_count; k++) {
      if (sum->term_dimensions[k] == p) v = sum->coefficients[k] * below[p];
      if (sum->term_dimensions[k] == q) w = sum->coefficients[k] * below[q];
    }
    if (!multiply_pair(s, wide[p] / below[p], v, wide[q] / below[q], w))
      return false;
  }
  return true;
}

/* Axes that set all elements apart, or none. */
static void multiply_axes(cost_scratch *s, const cost_shape *shape,
                          const cost_spread *spread, uint32_t shared) {
  const accel_loop *loops = s->frame.nest->loops;
  double multicast = 1, scatter = 1;
  for (uint32_t i = spread->first_loop; i < spread->last_loop; i++) {
    const uint32_t d = loops[i].dimension;
    if (shared >> d & 1) continue;
    if (shape->moving >> d & 1)
      scatter *= cost_real(loops[i].bound);
    else
      multicast *= cost_real(loops[i].bound);
  }
  s->bins[0] = (cost_bin){multicast, scatter, 0};
}

bool cost_spatial_bins(cost_scratch *s, uint32_t tensor, uint32_t level) {
  const cost_shape *shape = &s->tables.shapes[tensor];
  const cost_spread *spread = &s->frame.spreads[level];
  s->bins[0] = (cost_bin){1, 1, 0};
  s->bin_count = 1;
  if (!spread->dimensions) return true;
  const uint32_t shared = find_shared(shape, spread->dimensions);
  if (s->tables.stores[level].needs_hops || !only_pairs(shape, shared))
    return enumerate(s, shape, level);
  multiply_axes(s, shape, spread, shared);
  return !shared || multiply_pairs(s, shape, level, shared);
}
