/*
 * The nest as a replay sees it: the tile, the spatial loops that spread it, and
 * the loops around, each with the step by which it moves the tile.
 */
#include "cost/cost_replay_parts.h"

/* A dimension's loops, and a tensor's coordinates, are refused beyond these. */
#define LONGEST_DIMENSION ACCEL_MAX_COUNT
#define FARTHEST (UINT64_C(1) << 60)

static const accel_tensor *tensor_of(const replay *r) {
  const cost_question *q = r->question;
  return &q->problem->layer->tensors[q->tensor];
}

/* How far one step of a dimension moves a rank; a rank may name it twice. */
static uint64_t coefficient_of(const accel_rank *rank, uint32_t dimension) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < rank->term_count; i++)
    if (rank->terms[i].dimension == dimension)
      sum += rank->terms[i].coefficient;
  return sum;
}

static bool too_long(uint64_t a, uint64_t b, uint64_t limit) {
  return b && a > limit / b;
}

/* No product of bounds, and no coordinate, leaves 64 bits below.  With this,
   the number of loops is bounded too: no dimension has more than 53. */
static calm_status check_sizes(replay *r, uint64_t *lengths) {
  const accel_layer *layer = r->question->problem->layer;
  const accel_nest *nest = r->question->nest;
  for (uint32_t d = 0; d < layer->dimension_count; d++) lengths[d] = 1;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    if (too_long(lengths[l->dimension], l->bound, LONGEST_DIMENSION))
      return REPLAY_TOO_LARGE;
    lengths[l->dimension] *= l->bound;
  }
  const accel_tensor *t = tensor_of(r);
  for (uint32_t k = 0; k < t->rank_count; k++) {
    uint64_t reach = 0;
    for (uint32_t i = 0; i < t->ranks[k].term_count; i++) {
      const accel_term *term = &t->ranks[k].terms[i];
      uint64_t length = lengths[term->dimension];
      if (too_long(term->coefficient, length, FARTHEST))
        return REPLAY_TOO_LARGE;
      reach += term->coefficient * length;
      if (reach > FARTHEST) return REPLAY_TOO_LARGE;
    }
  }
  return CALM_OK;
}

/* Ranks that no loop moves are 1 wide in every tile: they are left out. */
static calm_status choose_ranks(replay *r, const uint64_t *lengths) {
  const accel_tensor *t = tensor_of(r);
  ARENA_ARRAY(&r->scratch, r->ranks, t->rank_count);
  for (uint32_t k = 0; k < t->rank_count; k++) {
    bool moves = false;
    for (uint32_t i = 0; i < t->ranks[k].term_count; i++)
      moves |= t->ranks[k].terms[i].coefficient > 0 &&
               lengths[t->ranks[k].terms[i].dimension] > 1;
    if (moves) r->ranks[r->rank_count++] = k;
  }
  return CALM_OK;
}

static calm_status make_loop(replay_loop *out, replay *r, const accel_loop *l,
                             uint64_t scale) {
  const accel_tensor *t = tensor_of(r);
  int64_t *step;
  ARENA_ARRAY(&r->scratch, step, r->rank_count);
  for (uint32_t k = 0; k < r->rank_count; k++)
    step[k] =
        (int64_t)(coefficient_of(&t->ranks[r->ranks[k]], l->dimension) * scale);
  *out = (replay_loop){l->bound, l->residual,
                       step,     UINT32_C(1) << l->dimension,
                       l->kind,  l->level == r->question->level};
  return CALM_OK;
}

/*
 * Each loop goes to the tile, to the spatial loops of the level, or around.
 * Without spatial loops below the innermost level the innermost loop of that
 * level is walked within the operation.  A last pass is felt wherever a loop of
 * its dimension further in is imperfect.
 */
static calm_status place_loop(replay *r, const accel_loop *l, uint64_t scale,
                              uint32_t *felt) {
  const uint32_t level = r->question->level;
  if (l->level < level) {
    r->rest[l->dimension] += r->whole[l->dimension] * (l->residual - 1);
    r->whole[l->dimension] *= l->bound;
  } else if (l->level == level && l->kind != ACCEL_TEMPORAL) {
    TRY(make_loop(&r->spread[r->spread_count++], r, l, scale));
  } else {
    TRY(make_loop(&r->loops[r->depth++], r, l, scale));
  }
  if (l->residual != l->bound) *felt |= UINT32_C(1) << l->dimension;
  r->matter[r->depth] = *felt;
  return CALM_OK;
}

static void set_base_loop(replay *r) {
  if (!r->innermost || r->spread_count || !r->depth || !r->loops[0].own_level)
    return;
  r->base = r->loops++;
  r->depth--;
  r->matter++;
}

calm_status cost_replay_nest(replay *r) {
  const cost_question *q = r->question;
  const uint32_t dimensions = q->problem->layer->dimension_count;
  uint64_t *lengths;
  ARENA_ARRAY(&r->scratch, lengths, dimensions);
  TRY(check_sizes(r, lengths));
  TRY(choose_ranks(r, lengths));
  ARENA_ARRAY(&r->scratch, r->loops, q->nest->loop_count);
  ARENA_ARRAY(&r->scratch, r->spread, q->nest->loop_count);
  ARENA_ARRAY(&r->scratch, r->matter, q->nest->loop_count + 1);
  ARENA_ARRAY(&r->scratch, r->whole, dimensions);
  ARENA_ARRAY(&r->scratch, r->rest, dimensions);
  uint64_t *scale = lengths;
  for (uint32_t d = 0; d < dimensions; d++)
    scale[d] = r->whole[d] = r->rest[d] = 1;
  uint32_t felt = 0;
  for (uint32_t i = 0; i < q->nest->loop_count; i++) {
    const accel_loop *l = &q->nest->loops[i];
    TRY(place_loop(r, l, scale[l->dimension], &felt));
    scale[l->dimension] *= l->bound;
  }
  r->innermost = q->level == 0;
  set_base_loop(r);
  return CALM_OK;
}

void cost_replay_extents(int64_t *out, const replay *r, uint32_t last) {
  const accel_tensor *t = tensor_of(r);
  for (uint32_t k = 0; k < r->rank_count; k++) {
    const accel_rank *rank = &t->ranks[r->ranks[k]];
    uint64_t extent = 1;
    for (uint32_t i = 0; i < rank->term_count; i++) {
      const uint32_t d = rank->terms[i].dimension;
      const uint64_t length = last >> d & 1 ? r->rest[d] : r->whole[d];
      extent += rank->terms[i].coefficient * (length - 1);
    }
    out[k] = (int64_t)extent;
  }
}
