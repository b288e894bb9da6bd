/*
 * Sets of regions and what the judge said of each: nobody is asked twice.
 */
#include <string.h>

#include "base/hash.h"
#include "tile/tile_search_parts.h"

enum { QUESTION_TICKS = 1000 /* beside those that the judge spends */ };

calm_status tile_search_init(tile_searcher *s, const graph *g,
                             const tile_judge *judge, const tile_goal *goal,
                             uint64_t seed, limits *l, arena *a) {
  *s = (tile_searcher){.g = g,
                       .judge = judge,
                       .goal = goal,
                       .l = l,
                       .a = a,
                       .random = random_from_seed(seed),
                       .slot_count = 64,
                       .op_count = g->ops.count};
  ARENA_ARRAY(a, s->slots, s->slot_count);
  return tile_search_measure(s);
}

void tile_search_free(tile_searcher *s) {
  VECTOR_FREE(s->a->context, &s->nodes);
  VECTOR_FREE(s->a->context, &s->moves);
  VECTOR_FREE(s->a->context, &s->open);
  VECTOR_FREE(s->a->context, &s->front);
}

uint64_t tile_search_arena(const tile_searcher *s, const tile_score *score) {
  return s->goal->head ? score->head_bytes
                       : score->head_bytes + score->tail_bytes;
}

/* ---- Which set is that? -------------------------------------------------- */

static bool is_same(const tile_region *a, const tile_region *b) {
  return a->first == b->first && a->last == b->last && a->rows == b->rows &&
         a->columns == b->columns && a->mode == b->mode;
}

static bool is_state(const tile_state *state, const tile_region *regions,
                     uint32_t count) {
  if (state->count != count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!is_same(&state->regions[i], &regions[i])) return false;
  return true;
}

/* Of numbers, so that padding does not count. */
static uint64_t hash_regions(const tile_region *regions, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t words[] = {hash,
                              regions[i].first,
                              regions[i].last,
                              regions[i].rows,
                              regions[i].columns,
                              regions[i].mode};
    hash = hash_bytes(words, sizeof words);
  }
  return hash;
}

static uint32_t *find_slot(const tile_searcher *s, uint64_t hash,
                           const tile_region *regions, uint32_t count) {
  uint32_t at = (uint32_t)hash & (s->slot_count - 1);
  for (;; at = (at + 1) & (s->slot_count - 1)) {
    const uint32_t node = s->slots[at];
    if (node == 0) return &s->slots[at];
    if (s->nodes.data[node - 1].hash == hash &&
        is_state(&s->nodes.data[node - 1].state, regions, count))
      return &s->slots[at];
  }
}

static calm_status grow_slots(tile_searcher *s) {
  if ((uint64_t)s->nodes.count * 2 < s->slot_count) return CALM_OK;
  s->slot_count *= 2;
  ARENA_ARRAY(s->a, s->slots, s->slot_count);
  for (uint32_t i = 0; i < s->nodes.count; i++) {
    const tile_node *node = &s->nodes.data[i];
    *find_slot(s, node->hash, node->state.regions, node->state.count) = i + 1;
  }
  return CALM_OK;
}

/* ---- Asking -------------------------------------------------------------- */

static calm_status judge(tile_searcher *s, tile_node *node) {
  const tile_judge *j = s->judge;
  tile_score score = {0};
  TRY(j->score(&score, &node->possible, j->payload, node->state.regions,
               node->state.count));
  node->state.score = score;
  s->judged++;
  limits_spend(s->l, QUESTION_TICKS);
  limits_look(s->l);
  return CALM_OK;
}

calm_status tile_search_ask(uint32_t *out, bool *fresh, tile_searcher *s,
                            const tile_region *regions, uint32_t count) {
  TRY(grow_slots(s));
  tile_node node = {.hash = hash_regions(regions, count)};
  tile_region *copy;
  uint32_t *slot = find_slot(s, node.hash, regions, count);
  *fresh = *slot == 0;
  if (*slot) return *out = *slot - 1, CALM_OK;
  ARENA_ARRAY(s->a, copy, count);
  if (count) memcpy(copy, regions, count * sizeof *copy);
  node.state = (tile_state){.regions = copy, .count = count};
  TRY(judge(s, &node));
  *slot = s->nodes.count + 1;
  *out = s->nodes.count;
  VECTOR_PUSH(s->a->context, &s->nodes, node);
  return tile_search_keep(s, *out);
}
