/*
 * One visit of a tile: what of it must be delivered.  Timeloop's rule, per
 * tensor and level, with t the step from the last tile's middle to this one's:
 *
 *     no last tile          all of the tile
 *     t = 0                 what the last tile did not hold
 *     no step remembered    the same; t is remembered
 *     t as remembered       the same
 *     otherwise             all of the tile; no step is remembered
 *
 * At the innermost level each operation takes its words anew.
 */
#include <string.h>

#include "cost/cost_replay_parts.h"

/* From the middle of the box at `offset` to the middle of that at 0, halves
   rounded away from zero. */
static int64_t middle_step(int64_t extent, int64_t offset, int64_t old) {
  const int64_t twice = extent - old - 2 * offset;
  return twice >= 0 ? (twice + 1) / 2 : -((1 - twice) / 2);
}

static double volume(const int64_t *extent, uint32_t ranks) {
  double words = 1;
  for (uint32_t k = 0; k < ranks; k++) words *= (double)extent[k];
  return words;
}

/* The delta is the whole tile. */
static double take_all(replay *r, const int64_t *extent) {
  const uint32_t n = r->nest.rank_count;
  memset(r->delta, 0, 4 * n * sizeof *r->delta);
  memcpy(r->delta + n, extent, n * sizeof *extent);
  return volume(extent, n);
}

/*
 * The delta is the tile without the last one, whose part within it is [low,
 * high).  Cut off on one side of one axis it is a box again, and equal to any
 * other such box; else its shape is the tile and what is missing from it.
 */
static double take_difference(replay *r, const int64_t *extent,
                              const int64_t *offset, const int64_t *old) {
  const uint32_t n = r->nest.rank_count;
  int64_t *place = r->delta, *box = place + n, *low = box + n, *high = low + n;
  double common = 1;
  uint32_t cuts = 0, axis = 0;
  for (uint32_t k = 0; k < n; k++) {
    const int64_t end = offset[k] + old[k];
    low[k] = offset[k] > 0 ? offset[k] : 0;
    high[k] = end < extent[k] ? end : extent[k];
    if (high[k] <= low[k]) return take_all(r, extent);
    common *= (double)(high[k] - low[k]);
    if (low[k] == 0 && high[k] == extent[k]) continue;
    cuts += low[k] > 0 && high[k] < extent[k] ? 2 : 1;
    axis = k;
  }
  if (cuts == 0) return 0;
  const double words = volume(extent, n) - common;
  memset(place, 0, n * sizeof *place);
  memcpy(box, extent, n * sizeof *box);
  if (cuts > 1) return words;
  place[axis] = low[axis] > 0 ? 0 : high[axis];
  box[axis] = low[axis] > 0 ? low[axis] : extent[axis] - high[axis];
  memset(low, 0, 2 * n * sizeof *low);
  return words;
}

static double move_tile(replay *r, int64_t *state, const int64_t *extent) {
  const uint32_t n = r->nest.rank_count;
  const int64_t *offset = cost_replay_vector(r, state, VECTOR_OFFSET);
  const int64_t *old = cost_replay_vector(r, state, VECTOR_EXTENT);
  int64_t *step = cost_replay_vector(r, state, VECTOR_STEP);
  if (!(state[STATE_HAS] & HAS_TILE)) return take_all(r, extent);
  const bool remembers = state[STATE_HAS] & HAS_STEP;
  bool still = true, same = true;
  for (uint32_t k = 0; k < n; k++) {
    const int64_t t = middle_step(extent[k], offset[k], old[k]);
    still &= t == 0;
    same &= t == step[k];
  }
  if (still || (remembers && same))
    return take_difference(r, extent, offset, old);
  state[STATE_HAS] ^= HAS_STEP;
  for (uint32_t k = 0; k < n; k++)
    step[k] = remembers ? 0 : middle_step(extent[k], offset[k], old[k]);
  return remembers ? take_all(r, extent)
                   : take_difference(r, extent, offset, old);
}

/* The current tile becomes the last one. */
static void remember_tile(replay *r, int64_t *state, const int64_t *extent) {
  const size_t bytes = r->nest.rank_count * sizeof *extent;
  state[STATE_HAS] |= HAS_TILE;
  memset(cost_replay_vector(r, state, VECTOR_OFFSET), 0, bytes);
  memcpy(cost_replay_vector(r, state, VECTOR_EXTENT), extent, bytes);
}

_Static_assert(VECTOR_BOX == VECTOR_PLACE + 1 && VECTOR_LOW == VECTOR_BOX + 1 &&
                   VECTOR_HIGH == VECTOR_LOW + 1,
               "a delta is four vectors in a row");

static void remember_delta(replay *r, int64_t *state, uint32_t members,
                           bool empty) {
  int64_t *kept = cost_replay_vector(r, state, VECTOR_PLACE);
  const size_t bytes = 4 * r->nest.rank_count * sizeof *kept;
  state[STATE_HAS] = (state[STATE_HAS] & ~HAS_DELTA) | (empty ? 0 : HAS_DELTA);
  state[STATE_MEMBERS] = empty ? 0 : members;
  if (empty)
    memset(kept, 0, bytes);
  else
    memcpy(kept, r->delta, bytes);
}

/*
 * Neighbours may serve members if the delta has the shape of the last one: a
 * member then gets what a neighbour got before wherever their tiles lie as far
 * apart as the deltas do.
 */
static calm_status choose_pattern(uint32_t *out, replay *r, uint32_t members,
                                  int64_t *state, int64_t *apart) {
  const uint32_t n = r->nest.rank_count;
  const int64_t *last = cost_replay_vector(r, state, VECTOR_PLACE);
  if (!(state[STATE_HAS] & HAS_DELTA) ||
      memcmp(last + n, r->delta + n, 3 * n * sizeof *last)) {
    *out = r->mesh.members.data[members].pattern;
    return CALM_OK;
  }
  for (uint32_t k = 0; k < n; k++) apart[k] = r->delta[k] - last[k];
  return cost_replay_pattern(out, r, members, (uint32_t)state[STATE_MEMBERS],
                             apart);
}

/* Of spatial loops only the first element is walked; it is in the last pass of
   a dimension if there is none other. */
static uint32_t last_of_first(const replay *r, uint32_t last) {
  for (uint32_t i = 0; i < r->nest.spread_count; i++)
    if (r->nest.spread[i].residual > 1) last &= ~r->nest.spread[i].dimension;
  return last;
}

/* An operation: without fan-out below the innermost level one of its loops is
   walked at once. */
static double operations(const replay *r, uint32_t last) {
  return r->nest.base ? (double)cost_replay_bound(r->nest.base, last) : 1;
}

calm_status cost_replay_tile(replay_node *out, replay *r, uint32_t last,
                             int64_t *state) {
  int64_t *extent = r->delta + 4 * (size_t)r->nest.rank_count;
  uint32_t members;
  TRY(cost_replay_members(&members, r, last));
  cost_replay_extents(extent, r, last_of_first(r, last));
  double words;
  if (r->nest.innermost)
    words = take_all(r, extent) * operations(r, last);
  else
    words = move_tile(r, state, extent);
  uint32_t pattern = r->mesh.members.data[members].pattern;
  if (words > 0 && r->links)
    TRY(choose_pattern(&pattern, r, members, state,
                       extent + r->nest.rank_count));
  *out = (replay_node){.edges = CALM_NONE,
                       .pattern = pattern,
                       .members = members,
                       .words = words};
  if (!r->nest.innermost) remember_tile(r, state, extent);
  if (r->links) remember_delta(r, state, members, words == 0);
  return CALM_OK;
}
