/*
 * Timeloop's walk over the tiles of one tensor at one level, each loop once per
 * state.  Nests whose factors are perfect are the case of equal bounds and
 * residuals.
 */
#include <assert.h>
#include <string.h>

#include "cost/cost_replay_parts.h"

/* Some iterations of a loop: `count` of them from `first`, each standing for
   `weight` of them. */
typedef struct leg {
  uint64_t first, count, weight;
  bool last; /* in the last pass of the dimension, if the loop is */
  bool echo; /* counted as the iteration before, if the tile is the child */
} leg;
enum { MOST_LEGS = 4 };

static leg single(uint64_t index, uint64_t weight, uint64_t residual) {
  return (leg){index, 1, weight, index + 1 >= residual, false};
}

/*
 * Timeloop's choice of iterations: the first two, the second for all others.
 * If some loop of the dimension further in is imperfect, and this one is in its
 * last pass, then the last iteration is walked too, for its pass differs, and
 * the one before it if this loop is imperfect itself.
 */
static uint32_t plan_two(leg *legs, uint64_t n, bool apart,
                         const replay_loop *loop) {
  const uint64_t residual = loop->residual;
  uint32_t count = 0;
  legs[count++] = single(0, 1, residual);
  if (!apart) {
    if (n >= 2) legs[count++] = single(1, n - 1, residual);
    return count;
  }
  const bool two = loop->bound != residual;
  if (n >= (two ? 4 : 3))
    legs[count++] = single(1, n - (two ? 3 : 2), residual);
  if (two && n >= 3) {
    legs[count] = single(n - 2, 1, residual);
    legs[count++].echo = n >= 4;
  }
  if (n >= 2) {
    legs[count] = single(n - 1, 1, residual);
    legs[count++].echo = !two && n >= 3;
  }
  return count;
}

/* All iterations; the last one by itself where its pass differs. */
static uint32_t plan_all(leg *legs, uint64_t n, bool apart) {
  uint32_t count = 0;
  if (apart && n > 1) legs[count++] = (leg){0, n - 1, 1, false, false};
  legs[count] =
      apart ? (leg){n - 1, 1, 1, true, false} : (leg){0, n, 1, false, false};
  return count + 1;
}

static uint32_t plan_legs(leg *legs, const replay *r, uint32_t depth,
                          uint32_t last) {
  const replay_loop *loop = &r->nest.loops[depth - 1];
  const uint64_t n = cost_replay_bound(loop, last);
  const bool apart = last & r->nest.felt[depth - 1] & loop->dimension;
  return r->question->visits == COST_VISIT_ALL ? plan_all(legs, n, apart)
                                               : plan_two(legs, n, apart, loop);
}

/* A loop on the way: where it stands, and what has been found. */
typedef struct walk {
  uint32_t depth, last;
  uint64_t index; /* of the iteration that `state` is relative to */
  int64_t *state;
  uint32_t edges;
  uint32_t mark; /* the iteration that a repetition is looked for of */
  uint64_t mark_index, next_mark;
} walk;

static calm_status visit(uint32_t *out, replay *r, uint32_t depth,
                         uint32_t last, const int64_t *state);

/* What is remembered, seen from another iteration's tile. */
static void move_to(const replay *r, walk *w, uint64_t index) {
  const int64_t *step = r->nest.loops[w->depth - 1].step;
  const int64_t steps = (int64_t)index - (int64_t)w->index;
  int64_t *offset = cost_replay_vector(r, w->state, VECTOR_OFFSET);
  int64_t *place = cost_replay_vector(r, w->state, VECTOR_PLACE);
  w->index = index;
  if (w->state[STATE_HAS] & HAS_TILE)
    for (uint32_t k = 0; k < r->nest.rank_count; k++)
      offset[k] -= steps * step[k];
  if (w->state[STATE_HAS] & HAS_DELTA)
    for (uint32_t k = 0; k < r->nest.rank_count; k++)
      place[k] -= steps * step[k];
}

static calm_status add_edge(replay *r, walk *w, uint32_t node, double times) {
  VECTOR_PUSH(r->scratch.context, &r->graph.edges,
              (replay_edge){node, w->edges, times});
  w->edges = r->graph.edges.count - 1;
  return CALM_OK;
}

/*
 * Iterations of a leg differ in nothing but where their tiles lie.  So if one
 * begins in the same relative state (hence is the same node) as one before,
 * whatever came between comes again, in the same order, and as often as it
 * fits into the rest of the leg: these rounds are counted without walking them.
 * The iteration that is compared with moves on at powers of two (Brent), which
 * finds a period whatever leads up to it.  Returns the iterations passed over.
 */
static uint64_t skip_rounds(replay *r, walk *w, uint32_t node, uint64_t done,
                            uint64_t count) {
  if (node != w->mark) {
    if (done == w->next_mark) {
      w->mark = node;
      w->mark_index = done;
      w->next_mark = 2 * done + 1;
    }
    return 0;
  }
  assert(done > w->mark_index);
  const uint64_t period = done - w->mark_index;
  const uint64_t rounds = (count - 1 - done) / period;
  uint32_t edge = w->edges;
  for (uint64_t i = 0; i < period; i++) {
    r->graph.edges.data[edge].times += (double)rounds;
    edge = r->graph.edges.data[edge].older;
  }
  w->index += rounds * period;
  w->mark = CALM_NONE;
  w->next_mark = UINT64_MAX;
  return rounds * period;
}

static calm_status walk_leg(replay *r, walk *w, const leg *l) {
  const replay_loop *loop = &r->nest.loops[w->depth - 1];
  const uint32_t last = l->last ? w->last : w->last & ~loop->dimension;
  const bool echo = l->echo && w->depth == 1 && r->nest.direct;
  w->mark = CALM_NONE;
  w->next_mark = 0;
  for (uint64_t i = 0; i < l->count; i++) {
    uint32_t node;
    TRY(cost_replay_spend(r, 1));
    move_to(r, w, l->first + i);
    TRY(visit(&node, r, w->depth - 1, last, w->state));
    i += skip_rounds(r, w, node, i, l->count);
    memcpy(w->state, cost_replay_left(r, node),
           r->graph.state_words * sizeof *w->state);
    if (echo)
      r->graph.edges.data[w->edges].times += 1;
    else
      TRY(add_edge(r, w, node, (double)l->weight));
  }
  return CALM_OK;
}

/* Walk a loop, from `state` to what it leaves. */
static calm_status walk_loop(replay_node *out, replay *r, uint32_t depth,
                             uint32_t last, int64_t *state) {
  leg legs[MOST_LEGS];
  const uint32_t count = plan_legs(legs, r, depth, last);
  walk w = {.depth = depth, .last = last, .state = state, .edges = CALM_NONE};
  for (uint32_t i = 0; i < count; i++) TRY(walk_leg(r, &w, &legs[i]));
  move_to(r, &w, 0);
  *out = (replay_node){.edges = w.edges};
  return CALM_OK;
}

/* Spatial loops around the tile stay at their first element, which is in the
   last pass of the dimension only if there is none other. */
static uint32_t pass_spatial(const replay *r, uint32_t depth, uint32_t *last) {
  for (; depth > 0; depth--) {
    const replay_loop *loop = &r->nest.loops[depth - 1];
    if (loop->kind == ACCEL_TEMPORAL) break;
    if (loop->residual > 1) *last &= ~loop->dimension;
  }
  return depth;
}

/*
 * The node of what is at `depth` in this state; walked if it is not known.  The
 * recursion is as deep as there are loops: 53 a dimension at most, for the
 * product of a dimension's bounds stays below 2^53.
 */
static calm_status visit(uint32_t *out, replay *r, uint32_t depth,
                         uint32_t last, const int64_t *state) {
  depth = pass_spatial(r, depth, &last);
  last &= r->nest.felt[depth];
  int64_t *key = r->frames + (size_t)depth * 2 * r->graph.state_words;
  int64_t *on_the_way = key + r->graph.state_words;
  memcpy(key, state, r->graph.state_words * sizeof *key);
  key[STATE_DEPTH] = depth;
  key[STATE_LAST] = last;
  const uint64_t hash = cost_replay_hash(r, key);
  *out = cost_replay_find(r, key, hash);
  if (*out != CALM_NONE) return CALM_OK;
  memcpy(on_the_way, key, r->graph.state_words * sizeof *key);
  replay_node node;
  TRY(depth ? walk_loop(&node, r, depth, last, on_the_way)
            : cost_replay_tile(&node, r, last, on_the_way));
  node.hash = hash;
  return cost_replay_keep(out, r, key, on_the_way, &node);
}

calm_status cost_replay_walk(replay *r) {
  const uint32_t depth = r->nest.depth, words = r->graph.state_words;
  ARENA_ARRAY(&r->scratch, r->frames, (depth + (size_t)2) * 2 * words);
  ARENA_ARRAY(&r->scratch, r->delta, 6 * (size_t)r->nest.rank_count);
  const int64_t *nothing = r->frames + (depth + (size_t)1) * 2 * words;
  uint32_t root;
  return visit(&root, r, depth, UINT32_MAX, nothing);
}
