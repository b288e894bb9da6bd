#include "cost/cost_spatial.h"
#include "cost/cost_stream.h"

/*
 * The words that cross one boundary, for perfect loops and without links.
 *
 * The loops above a tile step through it like the digits of a number.  Those
 * inside the innermost one that moves the tensor change nothing.  That one
 * makes sweeps: a full tile, then bound - 1 strips (the part of the tile that
 * the one before did not hold).  At the end of a sweep some outer loop k steps
 * on while all loops inside it go back to their beginning: a shift of
 *
 *     w = v_k - sum over j inside k of m_j v_j
 *
 * where v is by how much one step of a loop shifts the tile and m how many
 * steps the loop had made: all, n - 1, or one if only the first two iterations
 * are visited.  A shift of nothing delivers nothing.  A shift like that of the
 * last step continues the sweep: a strip.  Any other is a new tile, in full.
 */

/* The part of a tile that is new after a step of dimension d. */
static double strip_of(const cost_shape *s, const double *extents, double words,
                       const cost_step *step) {
  double kept = words;
  for (uint32_t i = 0; i < s->sum_count; i++) {
    const cost_sum *sum = &s->sums[i];
    if (!(sum->dimensions >> step->dimension & 1)) continue;
    double extent = sum->base, shift = 0;
    for (uint32_t k = 0; k < sum->term_count; k++) {
      const uint32_t d = sum->term_dimensions[k];
      extent += sum->coefficients[k] * extents[d];
      if (d == step->dimension) shift = sum->coefficients[k] * step->scale;
    }
    if (shift >= extent) return words;
    kept = kept / extent * (extent - shift);
  }
  return words - kept;
}

static double slide(const cost_shape *s, const double *extents, double words,
                    const cost_step *steps, uint32_t count,
                    cost_visits visits) {
  const cost_step *first = &steps[0];
  const double strip = strip_of(s, extents, words, first);
  const double ahead = s->address[first->dimension] * first->scale;
  double total = first->outer * (words + (first->bound - 1) * strip);
  double back = ahead * (visits == COST_VISIT_ALL ? first->bound - 1 : 1);
  for (uint32_t k = 1; k < count; k++) {
    const cost_step *step = &steps[k];
    /* From here on every shift leads somewhere else. */
    if (s->alone >> step->dimension & 1) break;
    const double shift = s->address[step->dimension] * step->scale;
    const double turns = (step->bound - 1) * step->outer;
    if (shift == back)
      total -= words * turns;
    else if (shift - back == ahead)
      total -= (words - strip) * turns;
    back += shift * (visits == COST_VISIT_ALL ? step->bound - 1 : 1);
  }
  return total;
}

/* From the innermost step that moves the tile. */
static inline double deliver(const cost_shape *s, const double *extents,
                             double words, const cost_step *steps,
                             uint32_t count, cost_visits visits) {
  if (s->alone >> steps->dimension & 1)
    return words * steps->bound * steps->outer;
  return slide(s, extents, words, steps, count, visits);
}

double cost_delivered(const cost_shape *s, const double *extents, double words,
                      const cost_step *steps, uint32_t count,
                      cost_visits visits) {
  uint32_t k = 0;
  while (k < count && !(s->moving >> steps[k].dimension & 1)) k++;
  if (k == count) return words;
  return deliver(s, extents, words, &steps[k], count - k, visits);
}

/* Bit k: step k moves the tensor. */
static uint64_t find_moves(const cost_frame *f, const cost_shape *s) {
  uint64_t moves = 0;
  for (uint32_t left = s->moving; left; left &= left - 1)
    moves |= f->steps_of[bits_lowest(left)];
  return moves;
}

/* Axes that are factors of the tile, or nothing to it, set all elements apart,
   or none. */
static inline void set_plain_group(cost_flow *out, double elements, double each,
                                   double scatter) {
  out->fanout = cost_whole(elements);
  out->group_count = 1;
  out->groups[0] = (cost_group){cost_whole(elements / scatter),
                                cost_whole(scatter), each * scatter, 0};
}

static bool set_groups(cost_flow *out, cost_scratch *s,
                       const cost_spread *spread, double each) {
  if (s->bin_count > out->group_capacity) return cost_spatial_crowded(s);
  out->fanout = cost_whole(spread->x * spread->y);
  out->group_count = s->bin_count;
  for (uint32_t i = 0; i < s->bin_count; i++) {
    const cost_bin *bin = &s->bins[i];
    out->groups[i] =
        (cost_group){cost_whole(bin->multicast), cost_whole(bin->scatter),
                     each * bin->scatter, each * bin->hops};
  }
  return true;
}

/*
 * The distinct places below the level are all served alike: `each` is how much,
 * or below the innermost level how often.
 */
static inline bool close_stream(cost_flow *out, cost_scratch *s,
                                uint32_t tensor, uint32_t level, uint64_t moves,
                                cost_visits visits) {
  const cost_tables *t = &s->tables;
  const cost_frame *f = &s->frame;
  const cost_shape *shape = &t->shapes[tensor];
  const cost_spread *spread = &f->spreads[level];
  const double *below = cost_frame_below(f, level);
  const double words = cost_row_words(t, below)[tensor];
  const uint64_t outer = moves >> spread->first_step;
  double each = level ? words : f->compute_cycles;
  if (level && outer) {
    const uint32_t k = spread->first_step + bits_lowest(outer);
    each =
        deliver(shape, below, words, &f->steps[k], f->step_count - k, visits);
  }
  out->links = 0;
  if (spread->dimensions & shape->summed || t->stores[level].needs_hops)
    return cost_spatial_bins(s, tensor, level) &&
           set_groups(out, s, spread, each);
  set_plain_group(out, spread->x * spread->y, each,
                  cost_row_words(t, f->wide[level])[tensor] / words);
  return true;
}

bool cost_stream_closed(cost_flow *out, cost_scratch *s, uint32_t tensor,
                        uint32_t level, cost_visits visits) {
  const uint64_t moves = find_moves(&s->frame, &s->tables.shapes[tensor]);
  return close_stream(out, s, tensor, level, moves, visits);
}

uint32_t cost_streams_closed(cost_flow *out, cost_scratch *s, uint32_t tensor,
                             cost_visits visits) {
  const uint64_t moves = find_moves(&s->frame, &s->tables.shapes[tensor]);
  for (uint32_t level = 0; level < s->tables.level_count; level++) {
    if (!close_stream(out, s, tensor, level, moves, visits)) return level;
    out += s->tables.tensor_count;
  }
  return CALM_NONE;
}
