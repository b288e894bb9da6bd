/*
 * The search as a beam.  The states after each number of operators are a layer,
 * one behind the other in the store.  While a layer fills, it is cut to its
 * best states again and again, so that it never holds much more than its width.
 */
#include <stdlib.h>

#include "base/select.h"
#include "traffic/traffic_exact.h"

enum {
  SETS_PER_WIDTH = 4, /* sets tried per operator, per state of the width */
  LEAST_SETS = 64,
  ROOM = 4 /* a layer is cut when it is so many times too wide */
};

typedef struct beam {
  traffic_search *s;
  uint32_t width;
  uint64_t ceiling;
  uint32_t first; /* state of the layer that is filled */
  bool dropped;   /* something was left behind */
  limits *l;
} beam;

/* Who promises less is better, then who has less to carry, then who came
   first. */
static bool is_better(const void *store, uint32_t a, uint32_t b) {
  const traffic_store *s = store;
  const traffic_state *x = &s->states[a], *y = &s->states[b];
  if (x->least != y->least) return x->least < y->least;
  if (x->cost != y->cost) return x->cost < y->cost;
  return a < b;
}

static int compare_ids(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Cut the layer that is filled to its best states. */
static calm_status trim_layer(beam *b) {
  traffic_search *s = b->s;
  s->open.count = 0;
  VECTOR_RESERVE(s->store.context, &s->open, s->store.count - b->first);
  for (uint32_t id = b->first; id < s->store.count; id++)
    if (!s->store.states[id].dropped) s->open.data[s->open.count++] = id;
  limits_spend(b->l, s->store.count - b->first);
  if (s->open.count > b->width) {
    select_best(s->open.data, s->open.count, b->width, is_better, &s->store);
    b->dropped = true;
    s->open.count = b->width;
    qsort(s->open.data, s->open.count, sizeof *s->open.data, compare_ids);
  }
  return traffic_store_compact(&s->store, b->first, s->open.data,
                               s->open.count);
}

static calm_status expand_state(beam *b, uint32_t id) {
  traffic_search *s = b->s;
  const traffic_sets sets = traffic_store_sets(&s->store, id);
  traffic_expand(&s->expansion, &sets, s->store.states[id].cost, b->ceiling);
  while (b->l->reason == LIMITS_NONE && traffic_expand_next(&s->expansion)) {
    uint32_t next;
    TRY(traffic_search_follow(&next, s, id, b->ceiling, b->l));
    limits_spend(b->l, s->expansion.ticks);
    s->expansion.ticks = 0;
    if ((s->store.count - b->first) / ROOM > b->width) TRY(trim_layer(b));
    limits_memory(b->l, traffic_search_bytes(s));
  }
  b->dropped |= s->expansion.cut;
  limits_spend(b->l, s->expansion.ticks);
  return CALM_OK;
}

/* From the layer [first, end) to the next one. */
static calm_status advance(beam *b) {
  traffic_store *store = &b->s->store;
  const uint32_t first = b->first, end = store->count;
  traffic_store_seal(store);
  b->first = end;
  for (uint32_t id = first; id < end && b->l->reason == LIMITS_NONE; id++)
    TRY(expand_state(b, id));
  return trim_layer(b);
}

calm_status traffic_search_beam(traffic_verdict *out, traffic_search *s,
                                uint64_t ceiling, uint32_t width, limits *l) {
  beam b = {.s = s, .width = width, .ceiling = ceiling, .l = l};
  uint32_t id;
  s->expansion.most_sets =
      width < LEAST_SETS / SETS_PER_WIDTH ? LEAST_SETS : width * SETS_PER_WIDTH;
  s->rough = false;
  TRY(traffic_search_begin(&id, s, l));
  s->least = s->store.states[id].least;
  for (uint32_t size = 0; size < s->core->op_count; size++) {
    if (b.first == s->store.count || l->reason != LIMITS_NONE) break;
    TRY(advance(&b));
  }
  const bool stopped = l->reason != LIMITS_NONE;
  for (id = b.first; !stopped && id < s->store.count; id++)
    if (!s->found || s->store.states[id].cost < s->cost)
      traffic_search_trace(s, id);
  if (!stopped && !b.dropped) s->least = s->found ? s->cost : ceiling;
  *out = stopped     ? TRAFFIC_STOPPED
         : s->found  ? b.dropped ? TRAFFIC_IMPROVED : TRAFFIC_REACHED
         : b.dropped ? TRAFFIC_TRUNCATED
                     : TRAFFIC_DEAD;
  return CALM_OK;
}
