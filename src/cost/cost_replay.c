/*
 * From what a replay has walked to a stream: how often each tile is visited,
 * which words are delivered by which pattern, and what that is in groups.
 */
#include <assert.h>

#include "cost/cost_replay_parts.h"

/* A node comes after all it leads to, so that going back from the last one, the
   root, each knows how often it is visited before it passes that on. */
static void count_visits(replay *r) {
  replay_node *nodes = r->graph.nodes.data;
  const replay_edge *edges = r->graph.edges.data;
  nodes[r->graph.nodes.count - 1].times = 1;
  for (uint32_t i = r->graph.nodes.count; i-- > 0;) {
    const replay_node *node = &nodes[i];
    for (uint32_t e = node->edges; e != CALM_NONE; e = edges[e].older) {
      assert(edges[e].node < i);
      nodes[edges[e].node].times += node->times * edges[e].times;
    }
    if (node->edges == CALM_NONE)
      r->mesh.patterns.data[node->pattern].words += node->times * node->words;
  }
}

/* Operations per multiplier: those of all visits, over the multipliers that
   took part in any. */
static double count_computes(const replay *r) {
  double sum = 0;
  uint32_t most = 1;
  for (uint32_t i = 0; i < r->graph.nodes.count; i++) {
    const replay_node *node = &r->graph.nodes.data[i];
    if (node->edges != CALM_NONE) continue;
    const uint32_t elements = r->mesh.members.data[node->members].count;
    sum += node->times * (r->nest.base ? node->words : 1) * elements;
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
  for (uint32_t p = 0; p < r->mesh.patterns.count; p++) {
    const replay_pattern *pattern = &r->mesh.patterns.data[p];
    if (pattern->words == 0) continue;
    out->links += pattern->words * pattern->served;
    for (uint32_t i = 0; i < pattern->share_count; i++) {
      const replay_share *share =
          &r->mesh.shares.data[pattern->first_share + i];
      cost_group *group;
      TRY(find_group(&group, out, share, a));
      group->accesses += pattern->words * (double)share->scatter;
      group->hops += pattern->words * share->hops;
    }
  }
  out->fanout = r->mesh.elements;
  return CALM_OK;
}

/* States are shorter where nobody has to know what was sent last. */
static calm_status walk_nest(replay *r) {
  TRY(cost_replay_make_nest(r));
  TRY(cost_replay_make_mesh(r));
  r->links = r->question->links && r->nest.spread_count;
  const uint32_t vectors = r->links ? VECTORS_WITH_LINKS : VECTORS_WITHOUT;
  r->graph.state_words = STATE_HEADER + vectors * r->nest.rank_count;
  TRY(cost_replay_walk(r));
  count_visits(r);
  return CALM_OK;
}

static void free_replay(replay *r) {
  calm_context *context = r->scratch.context;
  VECTOR_FREE(context, &r->mesh.members);
  VECTOR_FREE(context, &r->mesh.patterns);
  VECTOR_FREE(context, &r->mesh.shares);
  VECTOR_FREE(context, &r->mesh.relations);
  VECTOR_FREE(context, &r->graph.states);
  VECTOR_FREE(context, &r->graph.nodes);
  VECTOR_FREE(context, &r->graph.edges);
  arena_free(&r->scratch);
}

calm_status cost_replay(cost_stream *out, double *computes,
                        const cost_question *question, arena *a) {
  replay r = {.question = question, .steps = COST_REPLAY_STEPS};
  if (question->steps) r.steps = *question->steps;
  arena_init(&r.scratch, a->context);
  out->group_count = 0;
  out->links = 0;
  calm_status status = walk_nest(&r);
  if (status == CALM_OK) status = sum_up(out, &r, a);
  if (status == CALM_OK && computes) *computes = count_computes(&r);
  free_replay(&r);
  if (question->steps) *question->steps = r.steps;
  out->excess = r.excess;
  return status == REPLAY_STOPPED ? CALM_OK : status;
}
