#include "order/order_bound.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "order/order_flow.h"

/* Problems with more operators try only the most expensive ones. */
enum { LARGE_PROBLEM = 600, LARGE_TRIES = 100 };

/*
 * The network.  The source side of a cut is a set S of operators, together with
 * the groups of buffers that have begun, and the groups whose end may have
 * come:
 *
 *     u --------> each predecessor     unbounded: S is a down-set
 *     u --------> birth group          unbounded: u in S begins it
 *     death group --> its operators    unbounded: it ends with all of them
 *     birth ----> death                the bytes of a span: live at the cut
 *
 * For operator v, its ancestors are sources, v and its descendants sinks, what
 * v touches costs nothing here (it is live at v in any case), and spans that
 * are pinned become sources and sinks by a node of their own.
 */
typedef struct cut_problem {
  const order_core *core;
  order_flow flow;
  uint32_t source, sink; /* nodes of the pinned spans */
  uint32_t *pair_of;     /* span -> pair of the network */
  uint32_t *stack;
} cut_problem;

static void add_order_arcs(cut_problem *k) {
  const order_core *c = k->core;
  const uint32_t n = c->op_count;
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t i = c->pred_begin[u]; i < c->pred_begin[u + 1]; i++)
      order_flow_add(&k->flow, u, c->preds[i], ORDER_FLOW_UNBOUNDED);
  for (uint32_t g = 0; g < c->births.count; g++)
    for (uint32_t i = c->births.begin[g]; i < c->births.begin[g + 1]; i++)
      order_flow_add(&k->flow, c->births.ops[i], n + g, ORDER_FLOW_UNBOUNDED);
  for (uint32_t g = 0; g < c->deaths.count; g++)
    for (uint32_t i = c->deaths.begin[g]; i < c->deaths.begin[g + 1]; i++)
      order_flow_add(&k->flow, n + c->births.count + g, c->deaths.ops[i],
                     ORDER_FLOW_UNBOUNDED);
}

/* A span that one operator both begins and ends is live at no cut. */
static void add_span_arcs(cut_problem *k) {
  const order_core *c = k->core;
  for (uint32_t s = 0; s < c->span_count; s++) {
    const order_span *span = &c->spans[s];
    const uint32_t from = span->birth == CALM_NONE ? k->source : span->birth;
    const uint32_t to = span->death == CALM_NONE ? k->sink : span->death;
    k->pair_of[s] = CALM_NONE;
    if (from == to) continue;
    k->pair_of[s] = k->flow.pair_count;
    order_flow_add(&k->flow, from, to, span->bytes);
  }
}

static calm_status build_network(cut_problem *k, arena *a) {
  const order_core *c = k->core;
  const uint32_t n = c->op_count;
  const uint32_t pairs = c->pred_begin[n] + c->births.begin[c->births.count] +
                         c->deaths.begin[c->deaths.count] + c->span_count;
  k->source = n + c->births.count + c->deaths.count;
  k->sink = k->source + 1;
  TRY(order_flow_init(&k->flow, k->sink + 1, pairs, a));
  ARENA_ARRAY(a, k->pair_of, c->span_count);
  ARENA_ARRAY(a, k->stack, n);
  add_order_arcs(k);
  add_span_arcs(k);
  return order_flow_finish(&k->flow, a);
}

/* Put u and all that is reachable from it along `rows` on a side. */
static void mark(cut_problem *k, uint32_t u, const uint32_t *begin,
                 const uint32_t *rows, order_flow_side side) {
  uint32_t depth = 0;
  k->flow.side[u] = (uint8_t)side;
  k->stack[depth++] = u;
  while (depth) {
    const uint32_t v = k->stack[--depth];
    for (uint32_t i = begin[v]; i < begin[v + 1]; i++) {
      if (k->flow.side[rows[i]] == side) continue;
      k->flow.side[rows[i]] = (uint8_t)side;
      k->stack[depth++] = rows[i];
    }
  }
}

static void choose_sides(cut_problem *k, uint32_t v) {
  const order_core *c = k->core;
  memset(k->flow.side, FLOW_INNER, k->flow.node_count);
  mark(k, v, c->pred_begin, c->preds, FLOW_SOURCE);
  mark(k, v, c->succ_begin, c->succs, FLOW_SINK);
  k->flow.side[k->source] = FLOW_SOURCE;
  k->flow.side[k->sink] = FLOW_SINK;
}

/* What v itself has in memory when it runs, at least.  Its spans are taken out
   of the network or, with `back`, put in again. */
static uint64_t own_bytes(cut_problem *k, uint32_t v, bool back) {
  const order_core *c = k->core;
  const order_problem *p = c->problem;
  uint64_t bytes = c->fixed_bytes + c->workspace[v] - c->reuse[v];
  for (uint32_t i = p->uses_begin[v]; i < p->uses_begin[v + 1]; i++) {
    const uint32_t s = c->span_of[p->uses[i]];
    if (s == CALM_NONE) continue;
    bytes += c->spans[s].bytes;
    if (k->pair_of[s] != CALM_NONE)
      k->flow.capacity[k->flow.arc_of[k->pair_of[s]]] =
          back ? c->spans[s].bytes : 0;
  }
  return bytes;
}

static uint64_t bound_of(cut_problem *k, uint32_t v, uint64_t peak) {
  choose_sides(k, v);
  const uint64_t own = own_bytes(k, v, false);
  const uint64_t cut = own >= peak ? 0 : order_flow_run(&k->flow, peak - own);
  own_bytes(k, v, true);
  return own + cut;
}

/* Operators above the bound, by falling cost. */
typedef struct ranked_op {
  uint64_t bytes;
  uint32_t op;
} ranked_op;

static int compare_ranked(const void *a, const void *b) {
  const ranked_op *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

static calm_status rank_ops(ranked_op **out, uint32_t *out_count,
                            const order_core *core, const uint64_t *step_bytes,
                            uint64_t above, arena *a) {
  ranked_op *ranked;
  uint32_t count = 0;
  ARENA_ARRAY(a, ranked, core->op_count);
  for (uint32_t u = 0; u < core->op_count; u++)
    if (step_bytes[u] > above) ranked[count++] = (ranked_op){step_bytes[u], u};
  qsort(ranked, count, sizeof *ranked, compare_ranked);
  *out = ranked;
  *out_count = count;
  return CALM_OK;
}

static calm_status raise_bound(uint64_t *bound, cut_problem *k,
                               const uint64_t *step_bytes, uint64_t peak,
                               limits *l, arena *a) {
  ranked_op *ranked = NULL;
  uint32_t count = 0;
  TRY(rank_ops(&ranked, &count, k->core, step_bytes, *bound, a));
  if (k->core->op_count > LARGE_PROBLEM && count > LARGE_TRIES)
    count = LARGE_TRIES;
  if (count) TRY(build_network(k, a));
  for (uint32_t i = 0; i < count && *bound < peak; i++) {
    if (ranked[i].bytes <= *bound) break;
    const uint64_t cut = bound_of(k, ranked[i].op, peak);
    if (cut > *bound) *bound = cut < peak ? cut : peak;
    if (limits_spend(l, k->flow.ticks / 16)) break;
    k->flow.ticks = 0;
  }
  return CALM_OK;
}

calm_status order_bound_flow(uint64_t *bound, const order_core *core,
                             const uint64_t *step_bytes, uint64_t peak,
                             limits *l, calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  cut_problem k = {.core = core};
  const calm_status status =
      raise_bound(bound, &k, step_bytes, peak, l, &scratch);
  arena_free(&scratch);
  return status;
}
