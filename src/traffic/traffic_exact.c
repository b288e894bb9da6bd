#include "traffic/traffic_exact.h"

#include <assert.h>

#include "base/number.h"

calm_status traffic_search_init(traffic_search *out, const traffic_core *core,
                                const traffic_options *options, arena *a) {
  traffic_search s = {.core = core, .prune = options->bound};
  TRY(traffic_bound_build(&s.bound, core, a));
  TRY(traffic_expansion_init(&s.expansion, core, options, a));
  ARENA_ARRAY(a, s.start_row, traffic_row_words(core));
  ARENA_ARRAY(a, s.sequence, core->op_count);
  ARENA_ARRAY(a, s.out, (size_t)core->op_count * core->buffer_words);
  traffic_store_init(&s.store, core, options->dominance, a->context);
  *out = s;
  return CALM_OK;
}

void traffic_search_free(traffic_search *s) {
  VECTOR_FREE(s->store.context, &s->open);
  traffic_outlook_free(&s->outlook);
  s->looks = false;
  traffic_store_free(&s->store);
}

uint64_t traffic_search_bytes(const traffic_search *s) {
  return traffic_store_bytes(&s->store) + traffic_outlook_bytes(&s->outlook) +
         s->open.capacity * (uint64_t)sizeof *s->open.data;
}

calm_status traffic_search_look(traffic_search *s, limits *l) {
  if (s->looks) return CALM_OK;
  traffic_outlook_free(&s->outlook);
  return traffic_outlook_build(&s->looks, &s->outlook, s->core,
                               s->store.context, l);
}

/* What a state that costs so much leads to at least; no more than to say that
   it reaches the ceiling. */
static uint64_t find_least(traffic_search *s, uint64_t cost,
                           const traffic_sets *sets, uint64_t ceiling,
                           limits *l) {
  uint64_t ticks = 1, outlook = 0;
  if (s->looks)
    outlook = traffic_outlook_of(&s->outlook, sets) +
              traffic_bound_oversize(&s->bound, sets);
  if (s->prune && cost + outlook < ceiling)
    outlook = number_larger(outlook, traffic_bound_of(&s->bound, sets, &ticks));
  limits_spend(l, ticks);
  return cost + outlook;
}

uint64_t traffic_search_root(traffic_search *s, limits *l) {
  const traffic_sets start = traffic_sets_of(s->core, s->start_row);
  return find_least(s, 0, &start, UINT64_MAX, l);
}

calm_status traffic_search_begin(uint32_t *out_id, traffic_search *s,
                                 limits *l) {
  const traffic_sets start = traffic_sets_of(s->core, s->start_row);
  const traffic_state state = {
      .least = traffic_search_root(s, l), .parent = CALM_NONE, .op = CALM_NONE};
  uint64_t ticks = 0;
  s->found = false;
  traffic_store_clear(&s->store);
  return traffic_store_add(out_id, &s->store, &state, &start, &ticks);
}

calm_status traffic_search_follow(uint32_t *out_id, traffic_search *s,
                                  uint32_t id, uint64_t ceiling, limits *l) {
  const traffic_expansion *e = &s->expansion;
  const traffic_state *from = &s->store.states[id];
  traffic_state to = {
      .cost = e->cost, .parent = id, .op = e->op, .size = from->size + 1};
  uint64_t ticks = 0;
  *out_id = CALM_NONE;
  if (to.cost >= ceiling) return CALM_OK;
  to.least = find_least(s, to.cost, &e->to, ceiling, l);
  if (to.least < from->least) to.least = from->least;
  if (to.least >= ceiling) return CALM_OK;
  TRY(traffic_store_add(out_id, &s->store, &to, &e->to, &ticks));
  limits_spend(l, ticks);
  return CALM_OK;
}

void traffic_search_trace(traffic_search *s, uint32_t id) {
  const traffic_core *core = s->core;
  s->found = true;
  s->cost = s->store.states[id].cost;
  assert(s->store.states[id].size == core->op_count);
  for (uint32_t i = core->op_count; i-- > 0;) {
    s->sequence[i] = s->store.states[id].op;
    id = s->store.states[id].parent;
    memcpy(traffic_core_buffers(core, s->out, i),
           traffic_store_sets(&s->store, id).out,
           core->buffer_words * sizeof *s->out);
  }
}

/* ---- Best first ---------------------------------------------------------- */

/* What promises less goes first, then who is farther, then who came first. */
static bool goes_before(const traffic_search *s, uint32_t a, uint32_t b) {
  const traffic_state *x = &s->store.states[a], *y = &s->store.states[b];
  if (x->least != y->least) return x->least < y->least;
  if (x->size != y->size) return x->size > y->size;
  return a < b;
}

static calm_status push_open(traffic_search *s, uint32_t id) {
  VECTOR_PUSH(s->store.context, &s->open, id);
  uint32_t *heap = s->open.data, i = s->open.count - 1;
  for (; i && goes_before(s, id, heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = id;
  return CALM_OK;
}

static uint32_t pop_open(traffic_search *s) {
  uint32_t *heap = s->open.data;
  const uint32_t top = heap[0], last = heap[--s->open.count];
  const uint32_t count = s->open.count;
  uint32_t i = 0;
  for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && goes_before(s, heap[child + 1], heap[child]))
      child++;
    if (!goes_before(s, heap[child], last)) break;
    heap[i] = heap[child];
  }
  heap[i] = last;
  return top;
}

/* All steps from a state into the heap; an end lowers the ceiling. */
static calm_status expand_open(traffic_search *s, uint32_t id,
                               uint64_t *ceiling, uint32_t *best, limits *l) {
  const traffic_sets sets = traffic_store_sets(&s->store, id);
  traffic_expand(&s->expansion, &sets, s->store.states[id].cost, *ceiling);
  while (l->reason == LIMITS_NONE && traffic_expand_next(&s->expansion)) {
    uint32_t next;
    TRY(traffic_search_follow(&next, s, id, *ceiling, l));
    limits_spend(l, s->expansion.ticks);
    s->expansion.ticks = 0;
    limits_memory(l, traffic_search_bytes(s));
    if (next == CALM_NONE) continue;
    if (s->store.states[next].size < s->core->op_count) {
      TRY(push_open(s, next));
    } else {
      *ceiling = s->store.states[next].cost;
      *best = next;
    }
  }
  limits_spend(l, s->expansion.ticks);
  return CALM_OK;
}

calm_status traffic_search_best_first(traffic_verdict *out, traffic_search *s,
                                      uint64_t ceiling, limits *l) {
  uint32_t id, best = CALM_NONE;
  s->open.count = 0;
  s->expansion.most_sets = UINT32_MAX;
  TRY(traffic_search_begin(&id, s, l));
  s->least = s->store.states[id].least;
  TRY(push_open(s, id));
  while (s->open.count && l->reason == LIMITS_NONE) {
    id = pop_open(s);
    const traffic_state *state = &s->store.states[id];
    if (state->dropped) continue;
    if (state->least >= ceiling) break;
    s->least = state->least;
    TRY(expand_open(s, id, &ceiling, &best, l));
  }
  if (l->reason == LIMITS_NONE) s->least = ceiling;
  if (best != CALM_NONE) traffic_search_trace(s, best);
  *out = l->reason != LIMITS_NONE ? TRAFFIC_STOPPED
         : best != CALM_NONE      ? TRAFFIC_REACHED
                                  : TRAFFIC_DEAD;
  return CALM_OK;
}
