#include "order/order_bound.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
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

/* `u` has run, and so has what comes before it. */
static void mark_run(cut_problem *k, uint32_t u) {
  mark(k, u, k->core->pred_begin, k->core->preds, FLOW_SOURCE);
}

/* `u` has not run, nor has what comes after it. */
static void mark_waiting(cut_problem *k, uint32_t u) {
  mark(k, u, k->core->succ_begin, k->core->succs, FLOW_SINK);
}

static void choose_sides(cut_problem *k, uint32_t v) {
  memset(k->flow.side, FLOW_INNER, k->flow.node_count);
  mark_run(k, v);
  mark_waiting(k, v);
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

/* What v costs where the sides are chosen, or anything at least `enough`. */
static uint64_t bound_of(cut_problem *k, uint32_t v, uint64_t enough) {
  const uint64_t own = own_bytes(k, v, false);
  const uint64_t cut =
      own >= enough ? 0 : order_flow_run(&k->flow, enough - own);
  own_bytes(k, v, true);
  return own + cut;
}

/* ---- Single operators ---------------------------------------------------- */

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
    choose_sides(k, ranked[i].op);
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

/* ---- Groups -------------------------------------------------------------- */

/*
 * Of several operators one runs last, and by then the others have run; which
 * one it is nobody knows, but the one for which that is cheapest costs no more
 * than the one that it is.  So too with the first, when the others wait.
 *
 * Groups that are worth a look: who might be the last to read a buffer (it is
 * live until then), or the first to begin it, and the neighbours of an
 * operator.  In a known order some member is last; what it costs there is above
 * the bound of the group, so groups are tried by that, the dearest first.
 */
typedef struct bound_group {
  uint64_t bytes; /* its bound is at most this */
  const uint32_t *ops;
  uint32_t count;
  bool last; /* or first */
} bound_group;

typedef struct group_list {
  bound_group *groups;
  uint32_t count;
  const uint64_t *op_bytes;
  const uint32_t *place; /* operator: its position in the known order */
} group_list;

/* The member that is last or first in the known order. */
static uint32_t find_end(const group_list *list, const bound_group *g) {
  uint32_t end = g->ops[0];
  for (uint32_t i = 1; i < g->count; i++)
    if ((list->place[g->ops[i]] > list->place[end]) == g->last) end = g->ops[i];
  return end;
}

static void list_group(group_list *list, const uint32_t *begin,
                       const uint32_t *ops, uint32_t row, bool last) {
  bound_group g = {.ops = ops + begin[row],
                   .count = begin[row + 1] - begin[row],
                   .last = last};
  if (g.count < 2) return;
  g.bytes = list->op_bytes[find_end(list, &g)];
  list->groups[list->count++] = g;
}

/* Ties are as they were listed: by the room of their operators. */
static int compare_groups(const void *a, const void *b) {
  const bound_group *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->count != y->count) return x->count < y->count ? -1 : 1;
  if (x->last != y->last) return x->last ? -1 : 1;
  for (uint32_t i = 0; i < x->count; i++)
    if (x->ops[i] != y->ops[i]) return x->ops[i] < y->ops[i] ? -1 : 1;
  return 0;
}

static calm_status list_groups(group_list *list, const order_core *c,
                               const order_known *known, arena *a) {
  uint32_t *place;
  ARENA_ARRAY(a, place, c->op_count);
  ARENA_ARRAY(a, list->groups,
              c->deaths.count + c->births.count + 4 * (size_t)c->op_count);
  for (uint32_t i = 0; i < c->op_count; i++) place[known->sequence[i]] = i;
  list->place = place;
  list->op_bytes = known->op_bytes;
  for (uint32_t g = 0; g < c->deaths.count; g++)
    list_group(list, c->deaths.begin, c->deaths.ops, g, true);
  for (uint32_t g = 0; g < c->births.count; g++)
    list_group(list, c->births.begin, c->births.ops, g, false);
  for (uint32_t u = 0; u < c->op_count; u++)
    for (int last = 0; last < 2; last++) {
      list_group(list, c->pred_begin, c->preds, u, last);
      list_group(list, c->succ_begin, c->succs, u, last);
    }
  qsort(list->groups, list->count, sizeof *list->groups, compare_groups);
  return CALM_OK;
}

/* False: v must run before (after) another one and is never last (first). */
static bool choose_group_sides(cut_problem *k, const bound_group *g,
                               uint32_t v) {
  const order_flow_side others = g->last ? FLOW_SOURCE : FLOW_SINK;
  choose_sides(k, v);
  for (uint32_t i = 0; i < g->count; i++) {
    const uint32_t u = g->ops[i];
    if (u == v || k->flow.side[u] == others) continue;
    if (k->flow.side[u] != FLOW_INNER) return false;
    if (g->last)
      mark_run(k, u);
    else
      mark_waiting(k, u);
  }
  k->flow.side[v] = FLOW_SINK;
  return true;
}

/* The least that the last one costs, or anything at most `bound` if that is no
   more. */
static uint64_t bound_of_group(cut_problem *k, const bound_group *g,
                               uint64_t bound, uint64_t peak) {
  uint64_t least = peak;
  for (uint32_t i = 0; i < g->count && least > bound; i++)
    if (choose_group_sides(k, g, g->ops[i]))
      least = number_smaller(least, bound_of(k, g->ops[i], least));
  return least;
}

static calm_status raise_by_groups(uint64_t *bound, cut_problem *k,
                                   const order_known *known, uint64_t ticks,
                                   limits *l, arena *a) {
  group_list list = {0};
  const uint64_t end = l->ticks + ticks;
  TRY(list_groups(&list, k->core, known, a));
  TRY(build_network(k, a));
  for (uint32_t i = 0; i < list.count && *bound < known->peak; i++) {
    if (list.groups[i].bytes <= *bound || l->ticks >= end) break;
    if (i && compare_groups(&list.groups[i - 1], &list.groups[i]) == 0)
      continue;
    const uint64_t b = bound_of_group(k, &list.groups[i], *bound, known->peak);
    if (b > *bound) *bound = b;
    if (limits_spend(l, k->flow.ticks / 16)) break;
    k->flow.ticks = 0;
  }
  return CALM_OK;
}

calm_status order_bound_groups(uint64_t *bound, const order_core *core,
                               const order_known *known, uint64_t ticks,
                               limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  cut_problem k = {.core = core};
  const calm_status status =
      raise_by_groups(bound, &k, known, ticks, l, &scratch);
  arena_free(&scratch);
  return status;
}
