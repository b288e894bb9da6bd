/*
 * The Pareto front over arena, multiply-accumulates and operators, kept as
 * states are judged, and what the goal asks for of it.
 */
#include "base/number.h"
#include "tile/tile_search_parts.h"

bool tile_search_allows(const tile_searcher *s, const tile_score *score) {
  const uint64_t untiled = s->nodes.data[0].state.score.macs;
  return score->macs <= s->goal->most_macs || score->macs <= untiled;
}

/* Is `a` no worse than `b` in anything? */
static bool covers(const tile_searcher *s, const tile_score *a,
                   const tile_score *b) {
  return tile_search_arena(s, a) <= tile_search_arena(s, b) &&
         a->macs <= b->macs && a->op_count <= b->op_count;
}

/* What is as good in all is not added: the first one stays. */
calm_status tile_search_keep(tile_searcher *s, uint32_t node) {
  const tile_score *score = &s->nodes.data[node].state.score;
  uint32_t kept = 0;
  if (node && !s->nodes.data[node].possible) return CALM_OK;
  for (uint32_t i = 0; i < s->front.count; i++)
    if (covers(s, &s->nodes.data[s->front.data[i]].state.score, score))
      return CALM_OK;
  for (uint32_t i = 0; i < s->front.count; i++) {
    const uint32_t other = s->front.data[i];
    if (other == 0 || !covers(s, score, &s->nodes.data[other].state.score))
      s->front.data[kept++] = other;
  }
  s->front.count = kept;
  VECTOR_PUSH(s->a->context, &s->front, node);
  return CALM_OK;
}

/* Ascending by arena, then by what it costs. */
static bool comes_before(const tile_searcher *s, const tile_state *a,
                         const tile_state *b) {
  const uint64_t p = tile_search_arena(s, &a->score);
  const uint64_t q = tile_search_arena(s, &b->score);
  if (p != q) return p < q;
  if (a->score.macs != b->score.macs) return a->score.macs < b->score.macs;
  return a->score.op_count < b->score.op_count;
}

static void insert(tile_choice *out, const tile_searcher *s,
                   const tile_state *state) {
  uint32_t at = out->front_count++;
  for (; at > 0 && comes_before(s, state, &out->front[at - 1]); at--)
    out->front[at] = out->front[at - 1];
  out->front[at] = *state;
}

/* Is `a` what the goal asks for rather than `b`? */
static bool is_better(const tile_searcher *s, const tile_score *a,
                      const tile_score *b) {
  const uint64_t p = tile_search_arena(s, a), q = tile_search_arena(s, b);
  const uint64_t budget = s->goal->budget_bytes;
  if (tile_search_allows(s, a) != tile_search_allows(s, b))
    return tile_search_allows(s, a);
  if (budget != UINT64_MAX && (p <= budget) != (q <= budget))
    return p <= budget;
  if (budget != UINT64_MAX && p <= budget && a->macs != b->macs)
    return a->macs < b->macs;
  if (p != q) return p < q;
  if (a->macs != b->macs) return a->macs < b->macs;
  return a->op_count < b->op_count;
}

/* Into a list of the best so far, places [from, most). */
static void insert_near(tile_choice *out, const tile_searcher *s,
                        const tile_state *state, uint32_t from, uint32_t most) {
  uint32_t at = out->near_count;
  if (at == most) {
    if (at == from || !is_better(s, &state->score, &out->near[at - 1].score))
      return;
    at--;
  } else {
    out->near_count++;
  }
  for (; at > from && is_better(s, &state->score, &out->near[at - 1].score);
       at--)
    out->near[at] = out->near[at - 1];
  out->near[at] = *state;
}

/* Near enough to be better, after all; with a budget also what just misses
   it. */
static bool is_near(const tile_searcher *s, const tile_state *state,
                    const tile_state *best) {
  const uint64_t arena = tile_search_arena(s, &state->score);
  const uint64_t least = tile_search_arena(s, &best->score);
  const uint64_t wanted = s->goal->budget_bytes == UINT64_MAX
                              ? least
                              : number_larger(least, s->goal->budget_bytes);
  return (state->count == 0 || tile_search_allows(s, &state->score)) &&
         arena <= wanted + wanted / 12;
}

static bool is_listed(const tile_choice *out, const tile_state *state) {
  for (uint32_t i = 0; i < out->near_count; i++)
    if (out->near[i].regions == state->regions) return true;
  return false;
}

/* First the front, which is manifold, then others. */
static calm_status list_near(tile_choice *out, const tile_searcher *s) {
  const tile_state *best = &out->front[out->chosen];
  ARENA_ARRAY(s->a, out->near, TILE_NEAR);
  for (uint32_t i = 0; i < out->front_count; i++)
    if (is_near(s, &out->front[i], best))
      insert_near(out, s, &out->front[i], 0, TILE_NEAR * 3 / 4);
  const uint32_t from = out->near_count;
  for (uint32_t i = 0; i < s->nodes.count; i++) {
    const tile_state *state = &s->nodes.data[i].state;
    if (s->nodes.data[i].possible && is_near(s, state, best) &&
        !is_listed(out, state))
      insert_near(out, s, state, from, TILE_NEAR);
  }
  return CALM_OK;
}

calm_status tile_search_front(tile_choice *out, const tile_searcher *s) {
  ARENA_ARRAY(s->a, out->front, s->front.count);
  for (uint32_t i = 0; i < s->front.count; i++)
    insert(out, s, &s->nodes.data[s->front.data[i]].state);
  for (uint32_t i = 1; i < out->front_count; i++)
    if (is_better(s, &out->front[i].score, &out->front[out->chosen].score))
      out->chosen = i;
  return list_near(out, s);
}
