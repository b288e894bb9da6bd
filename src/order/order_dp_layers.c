/*
 * Algorithm 1: dynamic programming over zero-indegree sets, layer by layer.
 *
 * After i operators, a partial order is known by z, the set of operators that
 * are ready: all predecessors have run, the operator itself has not.  z says
 * which operators have run: those that are neither in z nor behind something in
 * z.  (Whatever has not run has a minimal element of what has not run before
 * or equal to it, and the minimal elements are z.)  So z and the down-set of
 * what has run determine each other, and either may be the key; we look up the
 * down-set and keep z beside it to know what can run.  Which bytes are live and
 * what the next operator costs depend on the down-set alone (order.h), reuse
 * and buffers with several first or last touchers included.  Hence of two
 * partial orders with the same z the one with the smaller peak is as good in
 * every continuation, and only that is kept.
 *
 *     layer 0     {}                     all predecessors of layer i + 1 are in
 *     layer 1   {a}  {b}                 layer i, so only two layers need their
 *     layer 2     {a,b}  {a,c}           sets; the path back needs one operator
 *     ...                                and one parent of each state
 */
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/vector.h"
#include "order/order_dp.h"
#include "order/order_walk.h"

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 64 };
#endif

typedef struct dp_state {
  uint64_t live_bytes, peak_bytes;
  uint64_t orders; /* that lead here, saturating */
} dp_state;

/* State i has two sets of words: what has run, and what is ready. */
typedef struct dp_layer {
  VECTOR(dp_state) states;
  VECTOR(uint64_t) sets;
} dp_layer;

/* How a state was reached; states are numbered through all layers. */
typedef struct dp_step {
  uint32_t parent, op;
} dp_step;

typedef struct dp_search {
  const order_problem *p;
  calm_context *context;
  limits *l;
  uint32_t words; /* of one set */
  uint64_t budget_bytes;
  uint64_t dropped_bytes; /* the smallest peak beyond the budget */
  dp_layer now, next;
  VECTOR(dp_step) steps;
  uint32_t now_first,
      next_first;         /* numbers of the first states of the layers */
  VECTOR(uint32_t) slots; /* of the next layer: state + 1, or 0 */
  uint32_t mask;
  uint64_t states;
} dp_search;

static uint64_t *done_set(const dp_search *s, const dp_layer *layer,
                          uint32_t i) {
  return layer->sets.data + (size_t)i * 2 * s->words;
}

static uint64_t *ready_set(const dp_search *s, const dp_layer *layer,
                           uint32_t i) {
  return done_set(s, layer, i) + s->words;
}

/* ---- Memory -------------------------------------------------------------- */

static uint64_t layer_bytes(const dp_layer *layer) {
  return (uint64_t)layer->states.capacity * sizeof *layer->states.data +
         (uint64_t)layer->sets.capacity * sizeof *layer->sets.data;
}

/* Room for one more state, or a stop.  Vectors double: ask before they do. */
static bool memory_is_short(dp_search *s) {
  const dp_layer *n = &s->next;
  const bool grows = n->states.count == n->states.capacity ||
                     n->sets.count + 2 * s->words > n->sets.capacity ||
                     s->steps.count == s->steps.capacity;
  if (!grows) return false;
  const uint64_t bytes = layer_bytes(&s->now) + 2 * layer_bytes(n) +
                         2 * (uint64_t)s->steps.capacity * sizeof(dp_step) +
                         (uint64_t)s->slots.capacity * sizeof(uint32_t);
  const uint32_t most = UINT32_MAX / 4; /* ids and counts have 32 bits */
  if (s->l->reason == LIMITS_NONE &&
      (s->steps.count >= most || n->sets.count >= most))
    s->l->reason = LIMITS_MEMORY;
  return limits_memory(s->l, bytes);
}

static void free_layer(dp_search *s, dp_layer *layer) {
  VECTOR_FREE(s->context, &layer->states);
  VECTOR_FREE(s->context, &layer->sets);
}

static void free_search(dp_search *s) {
  free_layer(s, &s->now);
  free_layer(s, &s->next);
  VECTOR_FREE(s->context, &s->steps);
  VECTOR_FREE(s->context, &s->slots);
}

/* ---- The table of the next layer ----------------------------------------- */

/* `count` empty slots; the memory stays for larger layers. */
static calm_status clear_slots(dp_search *s, uint32_t count) {
  s->slots.count = 0;
  VECTOR_RESERVE(s->context, &s->slots, count);
  memset(s->slots.data, 0, count * sizeof *s->slots.data);
  s->mask = count - 1;
  return CALM_OK;
}

/* The slot of a down-set: where it is, or where it belongs. */
static uint32_t *find_slot(const dp_search *s, const uint64_t *done) {
  uint32_t i = (uint32_t)hash_bytes(done, s->words * sizeof *done) & s->mask;
  for (; s->slots.data[i]; i = (i + 1) & s->mask)
    if (bits_equal(done_set(s, &s->next, s->slots.data[i] - 1), done, s->words))
      break;
  return &s->slots.data[i];
}

static calm_status double_slots(dp_search *s) {
  TRY(clear_slots(s, (s->mask + 1) * 2));
  for (uint32_t i = 0; i < s->next.states.count; i++)
    *find_slot(s, done_set(s, &s->next, i)) = i + 1;
  return CALM_OK;
}

/* ---- What an operator costs ---------------------------------------------- */

static bool begins(const order_problem *p, uint32_t buffer,
                   const uint64_t *done) {
  if (p->buffers[buffer].pinned_start) return false;
  for (uint32_t i = p->touch_begin[buffer]; i < p->touch_begin[buffer + 1]; i++)
    if (bits_has(done, p->touch[i])) return false;
  return true;
}

/* u is its last toucher.  From the end, where the missing ones mostly are. */
static bool dies(const order_problem *p, uint32_t buffer, uint32_t u,
                 const uint64_t *done) {
  if (p->buffers[buffer].pinned_end) return false;
  for (uint32_t i = p->touch_begin[buffer + 1]; i-- > p->touch_begin[buffer];)
    if (p->touch[i] != u && !bits_has(done, p->touch[i])) return false;
  return true;
}

static uint64_t reused(const order_problem *p, uint32_t u,
                       const uint64_t *done) {
  uint64_t best = 0;
  for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++) {
    const order_reuse *r = &p->reuses[i];
    if (r->bytes > best && begins(p, r->output, done) &&
        dies(p, r->input, u, done))
      best = r->bytes;
  }
  return best;
}

/* The paper's update of mu and its peak, for the problem in order.h. */
static dp_state run(const order_problem *p, const dp_state *from, uint32_t u,
                    const uint64_t *done) {
  dp_state to = *from;
  uint64_t freed = 0;
  for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++) {
    const uint64_t bytes = p->buffers[p->uses[i]].bytes;
    if (begins(p, p->uses[i], done)) to.live_bytes += bytes;
    if (dies(p, p->uses[i], u, done)) freed += bytes;
  }
  const uint64_t during = to.live_bytes + p->workspace[u] - reused(p, u, done);
  if (during > to.peak_bytes) to.peak_bytes = during;
  to.live_bytes -= freed;
  return to;
}

/* ---- Layers -------------------------------------------------------------- */

static bool is_ready(const order_problem *p, uint32_t u, const uint64_t *done) {
  for (uint32_t i = p->pred_begin[u + 1]; i-- > p->pred_begin[u];)
    if (!bits_has(done, p->preds[i])) return false;
  return true;
}

/* Behind the states of the next layer, the sets of state `from` plus u. */
static calm_status draft_sets(dp_search *s, uint32_t from, uint32_t u) {
  const order_problem *p = s->p;
  const uint32_t count = s->next.states.count;
  s->next.sets.count = count * 2 * s->words;
  VECTOR_RESERVE(s->context, &s->next.sets, 2 * s->words);
  uint64_t *done = done_set(s, &s->next, count);
  uint64_t *ready = ready_set(s, &s->next, count);
  memcpy(done, done_set(s, &s->now, from), 2 * s->words * sizeof *done);
  bits_add(done, u);
  bits_remove(ready, u);
  for (uint32_t i = p->succ_begin[u]; i < p->succ_begin[u + 1]; i++)
    if (is_ready(p, p->succs[i], done)) bits_add(ready, p->succs[i]);
  return CALM_OK;
}

static void add_saturating(uint64_t *sum, uint64_t more) {
  *sum = *sum > UINT64_MAX - more ? UINT64_MAX : *sum + more;
}

/* Two ways to one set: keep the one with the smaller peak. */
static void merge(dp_search *s, uint32_t i, dp_state state, dp_step step) {
  dp_state *kept = &s->next.states.data[i];
  add_saturating(&kept->orders, state.orders);
  if (state.peak_bytes >= kept->peak_bytes) return;
  kept->peak_bytes = state.peak_bytes;
  s->steps.data[s->next_first + i] = step;
}

static calm_status add_state(dp_search *s, dp_state state, dp_step step) {
  const uint32_t i = s->next.states.count;
  uint32_t *slot = find_slot(s, done_set(s, &s->next, i));
  if (*slot) {
    merge(s, *slot - 1, state, step);
    return CALM_OK;
  }
  *slot = i + 1;
  VECTOR_PUSH(s->context, &s->next.states, state);
  VECTOR_PUSH(s->context, &s->steps, step);
  s->states++;
  if (i + UINT64_C(1) > s->mask / 2) return double_slots(s);
  return CALM_OK;
}

static calm_status extend(dp_search *s, uint32_t from, uint32_t u) {
  const dp_state state =
      run(s->p, &s->now.states.data[from], u, done_set(s, &s->now, from));
  if (state.peak_bytes > s->budget_bytes) {
    if (state.peak_bytes < s->dropped_bytes)
      s->dropped_bytes = state.peak_bytes;
    return CALM_OK;
  }
  if (memory_is_short(s)) return CALM_OK;
  TRY(draft_sets(s, from, u));
  return add_state(s, state, (dp_step){s->now_first + from, u});
}

/* Every ready operator of one state; the ticks are their number. */
static calm_status expand(dp_search *s, uint32_t from, uint64_t *ticks) {
  for (uint32_t w = 0; w < s->words; w++) {
    uint64_t word = ready_set(s, &s->now, from)[w];
    for (; word; word &= word - 1) {
      ++*ticks;
      TRY(extend(s, from, w * 64 + bits_lowest(word)));
    }
  }
  return CALM_OK;
}

/* The next layer from this one; false in *out_done if it took too long. */
static calm_status expand_layer(dp_search *s, bool *out_done,
                                uint64_t step_ticks) {
  uint64_t layer_ticks = 0;
  *out_done = false;
  s->next_first = s->steps.count;
  TRY(clear_slots(s, FIRST_SLOTS));
  for (uint32_t from = 0; from < s->now.states.count; from++) {
    uint64_t ticks = 0;
    TRY(expand(s, from, &ticks));
    layer_ticks += ticks;
    if (limits_spend(s->l, ticks) || layer_ticks > step_ticks) return CALM_OK;
  }
  *out_done = true;
  return CALM_OK;
}

/* What was next is now; its memory serves the layer after it. */
static void turn_over(dp_search *s) {
  const dp_layer old = s->now;
  s->now = s->next;
  s->next = old;
  s->next.states.count = s->next.sets.count = 0;
  s->now_first = s->next_first;
}

/* Layer 0: nothing has run. */
static calm_status begin(dp_search *s, arena *scratch) {
  order_walk walk;
  TRY(order_walk_begin(&walk, s->p, scratch));
  VECTOR_RESERVE(s->context, &s->now.sets, 2 * s->words);
  memset(s->now.sets.data, 0, 2 * s->words * sizeof *s->now.sets.data);
  for (uint32_t u = 0; u < s->p->op_count; u++)
    if (s->p->pred_begin[u] == s->p->pred_begin[u + 1])
      bits_add(ready_set(s, &s->now, 0), u);
  const dp_state empty = {walk.live_bytes, walk.live_bytes, 1};
  VECTOR_PUSH(s->context, &s->now.states, empty);
  VECTOR_PUSH(s->context, &s->steps, (dp_step){CALM_NONE, CALM_NONE});
  s->states = 1;
  return CALM_OK;
}

static void trace_back(const dp_search *s, uint32_t *sequence) {
  uint32_t at = s->now_first;
  for (uint32_t i = s->p->op_count; i-- > 0; at = s->steps.data[at].parent)
    sequence[i] = s->steps.data[at].op;
}

static calm_status search(order_dp_trial *trial, uint32_t *sequence,
                          dp_search *s, uint64_t step_ticks) {
  if (s->now.states.data[0].peak_bytes > s->budget_bytes) {
    trial->outcome = ORDER_DP_NONE;
    trial->bound_bytes = s->now.states.data[0].peak_bytes;
    return CALM_OK;
  }
  for (uint32_t layer = 0; layer < s->p->op_count; layer++) {
    bool done;
    TRY(expand_layer(s, &done, step_ticks));
    trial->outcome = s->l->reason ? ORDER_DP_STOPPED : ORDER_DP_TIMEOUT;
    if (!done) return CALM_OK;
    /* every order runs into a step that was dropped, or one at least as high */
    trial->outcome = ORDER_DP_NONE;
    trial->bound_bytes = s->dropped_bytes;
    if (s->next.states.count == 0) return CALM_OK;
    turn_over(s);
  }
  trial->outcome = ORDER_DP_SOLUTION;
  trial->peak_bytes = trial->bound_bytes = s->now.states.data[0].peak_bytes;
  trial->orders = s->now.states.data[0].orders;
  if (sequence) trace_back(s, sequence);
  return CALM_OK;
}

calm_status order_dp_try(order_dp_trial *out, uint32_t *out_sequence,
                         const order_problem *p, uint64_t budget_bytes,
                         uint64_t step_ticks, limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  dp_search s = {.p = p,
                 .context = l->context,
                 .l = l,
                 .words = p->op_count ? bits_words(p->op_count) : 1,
                 .budget_bytes = budget_bytes,
                 .dropped_bytes = UINT64_MAX};
  order_dp_trial trial = {.outcome = ORDER_DP_STOPPED};
  calm_status status = begin(&s, &scratch);
  if (status == CALM_OK) status = search(&trial, out_sequence, &s, step_ticks);
  trial.states = s.states;
  free_search(&s);
  arena_free(&scratch);
  if (status == CALM_OK) *out = trial;
  return status;
}
