#include "order/order_search.h"

#include <assert.h>

#include "base/bits.h"

/* A pass of a certain width looks at this many operators near a state, at
   least; wide passes look at all. */
enum { LEAST_NEAR = 256, NEAR_PER_WIDTH = 4 };

/* Their rows may take this part of the memory. */
enum { NEAR_PART = 4 };

calm_status order_search_init(order_search *s, const order_problem *p,
                              uint64_t unit, const order_options *options,
                              arena *a) {
  *s = (order_search){.rules = {options->blocks, options->commit}};
  arena_init(&s->scratch, a->context);
  TRY(order_core_build(&s->core, p, unit, options->seed, a));
  for (uint32_t u = 0; u < p->op_count; u++) s->full_hash ^= s->core.key[u];
  ARENA_ARRAY(a, s->target, s->core.words);
  ARENA_ARRAY(a, s->sequence, p->op_count);
  return order_store_init(&s->store, a->context, p->op_count);
}

void order_search_free(order_search *s) {
  order_store_free(&s->store);
  arena_free(&s->scratch);
}

uint64_t order_search_bytes(const order_search *s) {
  return order_store_bytes(&s->store) + arena_bytes(&s->scratch);
}

/* Bytes of the rows of so many operators near a state, and of as many again of
   candidates, about. */
static uint64_t near_bytes(uint64_t near) { return near * near * 5 / 8; }

/* Scratch for as many operators near a state as the width deserves. */
static calm_status fit_expansion(order_search *s, uint32_t width,
                                 const limits *l) {
  uint64_t wanted = width * (uint64_t)NEAR_PER_WIDTH;
  if (wanted < LEAST_NEAR) wanted = LEAST_NEAR;
  if (wanted > s->core.op_count) wanted = s->core.op_count;
  while (wanted > LEAST_NEAR && near_bytes(wanted) > l->max_bytes / NEAR_PART)
    wanted /= 2;
  if (wanted <= s->near_capacity) return CALM_OK;
  arena_free(&s->scratch);
  s->near_capacity = 0;
  TRY(order_expansion_init(&s->expansion, &s->core, s->rules, (uint32_t)wanted,
                           &s->scratch));
  s->near_capacity = (uint32_t)wanted;
  return CALM_OK;
}

static calm_status add_start(order_search *s) {
  const order_state start = {.mem = s->core.start_bytes,
                             .peak = s->core.start_bytes,
                             .parent = CALM_NONE,
                             .cause = CALM_NONE,
                             .reach = s->core.last_source};
  memset(s->target, 0, s->core.words * sizeof *s->target);
  return order_store_add(&s->store, &start, s->target, 0);
}

static void enter_op(order_search *s, order_state *state, uint32_t u) {
  bits_add(s->target, u);
  state->hash ^= s->core.key[u];
  if (s->core.reach[u] > state->reach) state->reach = s->core.reach[u];
}

/* The set that a step leads to: into s->target, its number of operators. */
static uint32_t enter_step(order_search *s, order_state *state,
                           const order_step *step, uint32_t size) {
  const order_expansion *e = &s->expansion;
  memcpy(s->target, e->set, s->core.words * sizeof *s->target);
  if (step->op != CALM_NONE) {
    enter_op(s, state, step->op);
    return size + 1;
  }
  if (!step->ops) {
    for (uint32_t u = 0; u < s->core.op_count; u++) bits_add(s->target, u);
    state->hash = s->full_hash;
    return s->core.op_count;
  }
  for (uint32_t w = 0; w < e->words; w++)
    for (uint64_t rest = step->ops[w]; rest; rest &= rest - 1, size++)
      enter_op(s, state, e->op[w * 64 + bits_lowest(rest)]);
  return size;
}

static calm_status follow_step(order_search *s, const order_state *from,
                               uint32_t record, const order_step *step,
                               uint32_t size) {
  order_state next = *from;
  next.mem = step->mem;
  next.peak = step->cost > from->peak ? step->cost : from->peak;
  next.parent = record;
  next.cause = step->cause;
  const uint32_t next_size = enter_step(s, &next, step, size);
  assert(next_size > size && step->mem <= step->cost);
  return order_store_add(&s->store, &next, s->target, next_size);
}

/* Expand one state of the layer of sets with `size` operators. */
static calm_status expand_state(order_search *s, uint32_t id, uint64_t tau,
                                uint32_t size) {
  order_expansion *e = &s->expansion;
  const order_state from = s->store.states[id];
  memcpy(e->set, order_store_set(&s->store, id),
         s->core.words * sizeof *e->set);
  order_expand(e, from.mem, from.reach, tau);
  if (e->truncated) s->store.dropped++;
  if (e->pruned < s->bound) s->bound = e->pruned;
  if (e->step_count == 0) return CALM_OK;
  uint32_t record;
  TRY(order_store_record(&record, &s->store, &from));
  for (uint32_t i = 0; i < e->step_count; i++)
    TRY(follow_step(s, &from, record, &e->steps[i], size));
  return CALM_OK;
}

/* From the records back to the start, then forwards again step by step. */
static calm_status trace_path(order_search *s) {
  const order_layer *last = &s->store.layers[s->core.op_count];
  uint32_t slot = 0;
  while (!last->slots[slot]) slot++;
  const order_state *end = &s->store.states[last->slots[slot] - 1];
  arena scratch;
  arena_init(&scratch, s->store.context);
  const uint32_t n = s->core.op_count;
  uint32_t *causes = arena_calloc(&scratch, n, sizeof *causes);
  uint32_t *stack = arena_calloc(&scratch, n, sizeof *stack);
  uint32_t count = 0, done = 0;
  if (causes && stack) {
    causes[count++] = end->cause;
    for (uint32_t r = end->parent; s->store.path.data[r].parent != CALM_NONE;
         r = s->store.path.data[r].parent)
      causes[count++] = s->store.path.data[r].cause;
    memset(s->target, 0, s->core.words * sizeof *s->target);
    while (count)
      done += order_step_replay(s->sequence + done, &s->core, s->target,
                                causes[--count], stack);
    assert(done == n);
  }
  arena_free(&scratch);
  return causes && stack ? CALM_OK : context_no_memory(s->store.context);
}

/* Is there enough left of the limits, and of what the pass may cost?  One that
   may be given up is, before the memory ends that others could use. */
static bool may_go_on(order_search *s, const order_pass *pass, uint64_t enough,
                      limits *l) {
  const uint64_t bytes = pass->other_bytes + order_search_bytes(s);
  if (limits_spend(l, s->expansion.ticks) || l->ticks >= enough) return false;
  s->crowded = pass->ticks && bytes > l->max_bytes;
  return !s->crowded && !limits_memory(l, bytes);
}

static calm_status expand_layer(bool *out_done, order_search *s, uint32_t size,
                                const order_pass *pass, uint64_t enough,
                                limits *l) {
  TRY(order_store_open(&s->store, size));
  *out_done = true;
  for (uint32_t i = 0; i < s->store.open.count && *out_done; i++) {
    TRY(expand_state(s, s->store.open.data[i], pass->tau, size));
    *out_done = may_go_on(s, pass, enough, l);
  }
  order_store_release(&s->store);
  return CALM_OK;
}

/* Give the memory of a pass back to all. */
static calm_status empty_store(order_search *s) {
  calm_context *context = s->store.context;
  const uint64_t stored = s->store.stored;
  order_store_free(&s->store);
  TRY(order_store_init(&s->store, context, s->core.op_count));
  s->store.stored = stored;
  return CALM_OK;
}

static order_verdict judge(const order_search *s, const limits *l, bool done) {
  if (s->store.layers[s->core.op_count].count) return ORDER_REACHED;
  if (l->reason != LIMITS_NONE) return ORDER_STOPPED;
  if (!done || s->store.dropped) return ORDER_TRUNCATED;
  return ORDER_DEAD;
}

calm_status order_search_run(order_verdict *out, order_search *s,
                             const order_pass *pass, limits *l) {
  const uint32_t n = s->core.op_count;
  const uint64_t enough = pass->ticks ? l->ticks + pass->ticks : UINT64_MAX;
  bool done = true;
  s->crowded = false;
  TRY(fit_expansion(s, pass->width, l));
  order_store_clear(&s->store, pass->width);
  s->bound = UINT64_MAX;
  TRY(add_start(s));
  for (uint32_t size = 0; size < n && done; size++) {
    if (s->store.layers[n].count) break;
    if (s->store.layers[size].count)
      TRY(expand_layer(&done, s, size, pass, enough, l));
  }
  *out = judge(s, l, done);
  assert(*out != ORDER_DEAD || s->bound > pass->tau);
  if (*out == ORDER_REACHED) TRY(trace_path(s));
  return done ? CALM_OK : empty_store(s);
}
