/*
 * Timeloop's walk over the tiles of one tensor at one level, and what it counts
 * on the way.  Nests whose factors are perfect are the case of equal bounds and
 * residuals.
 */
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
  const replay_loop *loop = &r->loops[depth - 1];
  const uint64_t n = last & loop->dimension ? loop->residual : loop->bound;
  const bool apart = last & r->matter[depth - 1] & loop->dimension;
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
  const int64_t *step = r->loops[w->depth - 1].step;
  const int64_t steps = (int64_t)index - (int64_t)w->index;
  int64_t *offset = cost_state_vector(r, w->state, VECTOR_OFFSET);
  int64_t *place = cost_state_vector(r, w->state, VECTOR_PLACE);
  w->index = index;
  if (w->state[STATE_HAS] & HAS_TILE)
    for (uint32_t k = 0; k < r->rank_count; k++) offset[k] -= steps * step[k];
  if (w->state[STATE_HAS] & HAS_DELTA)
    for (uint32_t k = 0; k < r->rank_count; k++) place[k] -= steps * step[k];
}

static calm_status add_edge(replay *r, walk *w, uint32_t node, double times) {
  VECTOR_PUSH(r->scratch.context, &r->edges,
              (replay_edge){node, w->edges, times});
  w->edges = r->edges.count - 1;
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
  const uint64_t period = done - w->mark_index;
  const uint64_t rounds = (count - 1 - done) / period;
  uint32_t edge = w->edges;
  for (uint64_t i = 0; i < period; i++) {
    r->edges.data[edge].times += (double)rounds;
    edge = r->edges.data[edge].older;
  }
  w->index += rounds * period;
  w->mark = CALM_NONE;
  w->next_mark = UINT64_MAX;
  return rounds * period;
}

static calm_status walk_leg(replay *r, walk *w, const leg *l) {
  const replay_loop *loop = &r->loops[w->depth - 1];
  const uint32_t last = l->last ? w->last : w->last & ~loop->dimension;
  const bool echo = l->echo && w->depth == 1 && r->direct;
  w->mark = CALM_NONE;
  w->next_mark = 0;
  for (uint64_t i = 0; i < l->count; i++) {
    uint32_t node;
    TRY(cost_replay_spend(r, 1));
    move_to(r, w, l->first + i);
    TRY(visit(&node, r, w->depth - 1, last, w->state));
    i += skip_rounds(r, w, node, i, l->count);
    memcpy(w->state, cost_replay_left(r, node),
           r->state_words * sizeof *w->state);
    if (echo)
      r->edges.data[w->edges].times += 1;
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
    const replay_loop *loop = &r->loops[depth - 1];
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
  last &= r->matter[depth];
  int64_t *key = r->frames + (size_t)depth * 2 * r->state_words;
  int64_t *on_the_way = key + r->state_words;
  memcpy(key, state, r->state_words * sizeof *key);
  key[STATE_DEPTH] = depth;
  key[STATE_LAST] = last;
  const uint64_t hash = cost_replay_hash(r, key);
  *out = cost_replay_find(r, key, hash);
  if (*out != CALM_NONE) return CALM_OK;
  memcpy(on_the_way, key, r->state_words * sizeof *key);
  replay_node node;
  TRY(depth ? walk_loop(&node, r, depth, last, on_the_way)
            : cost_replay_tile(&node, r, last, on_the_way));
  node.hash = hash;
  return cost_replay_keep(out, r, key, on_the_way, &node);
}

/* A node comes after all it leads to, so that going back from the last one, the
   root, each knows how often it is visited before it passes that on. */
static void count_visits(replay *r) {
  r->nodes.data[r->nodes.count - 1].times = 1;
  for (uint32_t i = r->nodes.count; i-- > 0;) {
    const replay_node *node = &r->nodes.data[i];
    for (uint32_t e = node->edges; e != CALM_NONE; e = r->edges.data[e].older)
      r->nodes.data[r->edges.data[e].node].times +=
          node->times * r->edges.data[e].times;
    if (node->edges == CALM_NONE)
      r->patterns.data[node->pattern].words += node->times * node->words;
  }
}

/* Operations per multiplier: those of all visits, over the multipliers that
   took part in any. */
static double count_computes(const replay *r) {
  double sum = 0;
  uint32_t most = 1;
  for (uint32_t i = 0; i < r->nodes.count; i++) {
    const replay_node *node = &r->nodes.data[i];
    if (node->edges != CALM_NONE) continue;
    const uint32_t elements = r->members.data[node->members].count;
    sum += node->times * (r->base ? node->words : 1) * elements;
    if (elements > most) most = elements;
  }
  return sum / most;
}

static bool comes_before(const cost_group *g, const replay_share *share) {
  return g->multicast != share->multicast ? g->multicast < share->multicast
                                          : g->scatter < share->scatter;
}

static calm_status grow_groups(cost_stream *stream, arena *a) {
  const uint32_t capacity = 2 * stream->group_capacity + 4;
  cost_group *groups;
  ARENA_ARRAY(a, groups, capacity);
  for (uint32_t i = 0; i < stream->group_count; i++)
    groups[i] = stream->groups[i];
  stream->groups = groups;
  stream->group_capacity = capacity;
  return CALM_OK;
}

/* The group of this multicast and scatter, made where it is not there yet. */
static calm_status find_group(cost_group **out, cost_stream *stream,
                              const replay_share *share, arena *a) {
  uint32_t at = 0;
  while (at < stream->group_count && comes_before(&stream->groups[at], share))
    at++;
  if (at == stream->group_count ||
      stream->groups[at].multicast != share->multicast ||
      stream->groups[at].scatter != share->scatter) {
    if (stream->group_count == stream->group_capacity)
      TRY(grow_groups(stream, a));
    cost_group *groups = stream->groups;
    for (uint32_t i = stream->group_count++; i > at; i--)
      groups[i] = groups[i - 1];
    groups[at] = (cost_group){share->multicast, share->scatter, 0, 0};
  }
  *out = &stream->groups[at];
  return CALM_OK;
}

static calm_status sum_up(cost_stream *out, const replay *r, arena *a) {
  for (uint32_t p = 0; p < r->patterns.count; p++) {
    const replay_pattern *pattern = &r->patterns.data[p];
    if (pattern->words == 0) continue;
    out->links += pattern->words * pattern->served;
    for (uint32_t i = 0; i < pattern->share_count; i++) {
      const replay_share *share = &r->shares.data[pattern->first_share + i];
      cost_group *group;
      TRY(find_group(&group, out, share, a));
      group->accesses += pattern->words * (double)share->scatter;
      group->hops += pattern->words * share->hops;
    }
  }
  out->fanout = r->fanout;
  return CALM_OK;
}

static calm_status walk_nest(replay *r) {
  TRY(cost_replay_nest(r));
  TRY(cost_links_init(r));
  r->links = r->question->links && r->spread_count;
  r->direct =
      !r->innermost && !r->spread_count && r->depth && r->loops[0].own_level;
  const uint32_t vectors = r->links ? VECTORS_WITH_LINKS : VECTORS_WITHOUT;
  r->state_words = STATE_HEADER + vectors * r->rank_count;
  ARENA_ARRAY(&r->scratch, r->frames,
              (r->depth + (size_t)2) * 2 * r->state_words);
  ARENA_ARRAY(&r->scratch, r->delta, 6 * (size_t)r->rank_count);
  const int64_t *nothing =
      r->frames + (r->depth + (size_t)1) * 2 * r->state_words;
  uint32_t root;
  TRY(visit(&root, r, r->depth, UINT32_MAX, nothing));
  count_visits(r);
  return CALM_OK;
}

static void free_replay(replay *r) {
  calm_context *context = r->scratch.context;
  VECTOR_FREE(context, &r->members);
  VECTOR_FREE(context, &r->patterns);
  VECTOR_FREE(context, &r->shares);
  VECTOR_FREE(context, &r->relations);
  VECTOR_FREE(context, &r->states);
  VECTOR_FREE(context, &r->nodes);
  VECTOR_FREE(context, &r->edges);
  arena_free(&r->scratch);
}

calm_status cost_replay(cost_stream *out, double *computes,
                        const cost_question *question, arena *a) {
  replay r = {.question = question};
  arena_init(&r.scratch, a->context);
  out->group_count = 0;
  out->links = 0;
  calm_status status = walk_nest(&r);
  if (status == CALM_OK) status = sum_up(out, &r, a);
  if (status == CALM_OK && computes) *computes = count_computes(&r);
  free_replay(&r);
  out->too_large = status == REPLAY_TOO_LARGE;
  return out->too_large ? CALM_OK : status;
}
