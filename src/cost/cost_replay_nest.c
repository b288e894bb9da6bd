/* The loops of a nest sorted into the tile, its fan-out, and what is around. */
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
      return cost_replay_too_large(r);
    lengths[l->dimension] *= l->bound;
  }
  const accel_tensor *t = tensor_of(r);
  for (uint32_t k = 0; k < t->rank_count; k++) {
    uint64_t reach = 0;
    for (uint32_t i = 0; i < t->ranks[k].term_count; i++) {
      const accel_term *term = &t->ranks[k].terms[i];
      uint64_t length = lengths[term->dimension];
      if (too_long(term->coefficient, length, FARTHEST))
        return cost_replay_too_large(r);
      reach += term->coefficient * length;
      if (reach > FARTHEST) return cost_replay_too_large(r);
    }
  }
  return CALM_OK;
}

/* Ranks that no loop moves are 1 wide in every tile: they are left out. */
static calm_status choose_ranks(replay *r, const uint64_t *lengths) {
  const accel_tensor *t = tensor_of(r);
  ARENA_ARRAY(&r->scratch, r->nest.ranks, t->rank_count);
  for (uint32_t k = 0; k < t->rank_count; k++) {
    bool moves = false;
    for (uint32_t i = 0; i < t->ranks[k].term_count; i++)
      moves |= t->ranks[k].terms[i].coefficient > 0 &&
               lengths[t->ranks[k].terms[i].dimension] > 1;
    if (moves) r->nest.ranks[r->nest.rank_count++] = k;
  }
  return CALM_OK;
}

static calm_status make_loop(replay_loop *out, replay *r, const accel_loop *l,
                             uint64_t scale) {
  const accel_tensor *t = tensor_of(r);
  int64_t *step;
  ARENA_ARRAY(&r->scratch, step, r->nest.rank_count);
  for (uint32_t k = 0; k < r->nest.rank_count; k++)
    step[k] =
        (int64_t)(coefficient_of(&t->ranks[r->nest.ranks[k]], l->dimension) *
                  scale);
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
    r->nest.last_tile[l->dimension] +=
        r->nest.full_tile[l->dimension] * (l->residual - 1);
    r->nest.full_tile[l->dimension] *= l->bound;
  } else if (l->level == level && l->kind != ACCEL_TEMPORAL) {
    TRY(make_loop(&r->nest.spread[r->nest.spread_count++], r, l, scale));
  } else {
    TRY(make_loop(&r->nest.loops[r->nest.depth++], r, l, scale));
  }
  if (l->residual != l->bound) *felt |= UINT32_C(1) << l->dimension;
  r->nest.felt[r->nest.depth] = *felt;
  return CALM_OK;
}

/* Without fan-out the innermost loop is next to the tile, if it is of the
 * level.
 */
static void set_next_loop(replay_nest *n) {
  if (n->spread_count || !n->depth || !n->loops[0].own_level) return;
  n->direct = !n->innermost;
  if (n->direct) return;
  n->base = n->loops++;
  n->depth--;
  n->felt++;
}

static calm_status reserve_nest(replay_nest *n, const cost_question *q,
                                arena *a) {
  const uint32_t dimensions = q->problem->layer->dimension_count;
  ARENA_ARRAY(a, n->loops, q->nest->loop_count);
  ARENA_ARRAY(a, n->spread, q->nest->loop_count);
  ARENA_ARRAY(a, n->felt, q->nest->loop_count + 1);
  ARENA_ARRAY(a, n->full_tile, dimensions);
  ARENA_ARRAY(a, n->last_tile, dimensions);
  for (uint32_t d = 0; d < dimensions; d++)
    n->full_tile[d] = n->last_tile[d] = 1;
  return CALM_OK;
}

calm_status cost_replay_make_nest(replay *r) {
  const cost_question *q = r->question;
  const uint32_t dimensions = q->problem->layer->dimension_count;
  uint64_t *lengths;
  ARENA_ARRAY(&r->scratch, lengths, dimensions);
  TRY(check_sizes(r, lengths));
  TRY(choose_ranks(r, lengths));
  TRY(reserve_nest(&r->nest, q, &r->scratch));
  uint64_t *scale = lengths;
  for (uint32_t d = 0; d < dimensions; d++) scale[d] = 1;
  uint32_t felt = 0;
  for (uint32_t i = 0; i < q->nest->loop_count; i++) {
    const accel_loop *l = &q->nest->loops[i];
    TRY(place_loop(r, l, scale[l->dimension], &felt));
    scale[l->dimension] *= l->bound;
  }
  r->nest.innermost = q->level == 0;
  set_next_loop(&r->nest);
  return CALM_OK;
}

void cost_replay_extents(int64_t *out, const replay *r, uint32_t last) {
  const accel_tensor *t = tensor_of(r);
  for (uint32_t k = 0; k < r->nest.rank_count; k++) {
    const accel_rank *rank = &t->ranks[r->nest.ranks[k]];
    uint64_t extent = 1;
    for (uint32_t i = 0; i < rank->term_count; i++) {
      const uint32_t d = rank->terms[i].dimension;
      const uint64_t length =
          last >> d & 1 ? r->nest.last_tile[d] : r->nest.full_tile[d];
      extent += rank->terms[i].coefficient * (length - 1);
    }
    out[k] = (int64_t)extent;
  }
}
