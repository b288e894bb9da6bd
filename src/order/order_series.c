/*
 * A part is a range of `sequence`, as its leaves stand in the tree, and its
 * best order is what stands there once it is done.  A row is done when its
 * parts are: they follow each other.  For parts beside each other:
 *
 * An order climbs and falls.  Cut it into stretches, each with its hill (the
 * most above where it begins) and its net (where it ends).  Those with net <= 0
 * give memory back: they go first, the lower hill first.  The others take: they
 * go last, and read backwards they give, too, so that the larger hill - net
 * goes first.  Where two neighbours of one part stand against that rule,
 * nothing is lost if they stay together, and they become one stretch.  Then the
 * stretches of all parts are merged by the rule (order_series_merge.c).
 *
 * That is optimal if each operator's net is known.  It is not where several
 * operators might be the last to read a buffer: the readers of a fork.
 *
 * - The bound: say which of them frees it, whether it is the last or not.  Then
 *   no order costs more than it did, so the optimum of that problem is a bound
 * of ours.  Those that were last in a good order are named.
 * - The order: a buffer is freed by whoever happens to be last in the order of
 *   the smallest part that holds all that might, and of several orders of that
 *   part the best is kept: merged as if the buffer were not there; with all its
 *   readers first, so that it is soon gone; and some parts to their ends before
 *   the others begin.
 */
#include "order/order_series.h"

#include <string.h>

#include "base/number.h"
#include "order/order_series_merge.h"

/* Bounds by the deaths of so many orders. */
enum { BOUND_ROUNDS = 8 };
/* Ticks per operator after which only few orders of a part are tried. */
enum { PATIENCE = 2000 };

static calm_status order_node(series *s, uint32_t node, arena *a) {
  order_series_list_parts(s, node);
  s->trial_count = 0;
  for (uint32_t i = 0; i < s->part_count; i++)
    s->rank[i] = s->parts[i].rank = i;
  if (s->shared_begin[node] == s->shared_begin[node + 1])
    order_series_merge(s, 0, s->part_count);
  else
    TRY(order_series_fork(s, node, a));
  memcpy(&s->sequence[s->begin[node]], s->trial,
         s->trial_count * sizeof *s->sequence);
  return CALM_OK;
}

static calm_status order_all(series *s) {
  arena scratch;
  calm_status status = CALM_OK;
  arena_init(&scratch, s->l->context);
  for (uint32_t v = s->p->op_count; v < s->tree.node_count; v++) {
    if (s->tree.kind[v] != SERIES_BESIDE || s->top[v] != v) continue;
    if (s->l->reason != LIMITS_NONE || status != CALM_OK) break;
    status = order_node(s, v, &scratch);
  }
  arena_free(&scratch);
  return status;
}

/* ---- Births and deaths --------------------------------------------------- */

static void add_births(series *s, uint32_t buffer, uint32_t op) {
  const order_buffer *b = &s->p->buffers[buffer];
  if (b->pinned_start) return;
  s->hill[op] += (int64_t)b->bytes;
  s->net[op] += (int64_t)b->bytes;
}

static void begin_costs(series *s) {
  const order_problem *p = s->p;
  for (uint32_t u = 0; u < p->op_count; u++) {
    s->hill[u] = (int64_t)p->workspace[u];
    s->net[u] = 0;
  }
}

/* As in the order that `place` tells: who touches a buffer first and last. */
static void settle_by_order(series *s, const uint32_t *order) {
  const order_problem *p = s->p;
  begin_costs(s);
  for (uint32_t i = 0; i < p->op_count; i++) s->place[order[i]] = i;
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const uint32_t begin = p->touch_begin[b], end = p->touch_begin[b + 1];
    if (begin == end) continue;
    uint32_t first = p->touch[begin], last = first;
    for (uint32_t i = begin; i < end; i++) {
      const uint32_t u = p->touch[i];
      if (s->place[u] < s->place[first]) first = u;
      if (s->place[u] > s->place[last]) last = u;
    }
    add_births(s, b, first);
    if (!p->buffers[b].pinned_end) s->net[last] -= (int64_t)p->buffers[b].bytes;
  }
}

/* The most that a permission saves counts, whether it can be used or not. */
static void save_reuses(series *s) {
  const order_problem *p = s->p;
  for (uint32_t u = 0; u < p->op_count; u++) {
    uint64_t most = 0;
    for (uint32_t i = p->reuse_begin[u]; i < p->reuse_begin[u + 1]; i++)
      most = number_larger(most, p->reuses[i].bytes);
    s->hill[u] -= (int64_t)most;
  }
}

/* The highest node in which another toucher stands beside the last one; the
   last one itself if there is none. */
static uint32_t death_node(series *s, uint32_t buffer) {
  const order_problem *p = s->p;
  const series_tree *t = &s->tree;
  const uint32_t begin = p->touch_begin[buffer],
                 end = p->touch_begin[buffer + 1];
  const uint32_t last = p->touch[end - 1];
  uint32_t highest = last;
  s->stamp++;
  for (uint32_t v = last; v != CALM_NONE; v = t->parent[s->top[v]])
    s->rank[s->top[v]] = s->stamp;
  for (uint32_t i = begin; i + 1 < end; i++) {
    uint32_t v = s->top[p->touch[i]];
    while (s->rank[v] != s->stamp) v = s->top[t->parent[v]];
    limits_spend(s->l, 1);
    if (t->kind[v] == SERIES_BESIDE &&
        s->end[v] - s->begin[v] > s->end[highest] - s->begin[highest])
      highest = v;
  }
  return highest;
}

/* Buffers that are freed by one operator in any order, and the others by the
   node that holds all that might. */
static calm_status settle_by_tree(series *s, arena *a) {
  const order_problem *p = s->p;
  const uint32_t nodes = s->tree.node_count;
  uint32_t *node, *at;
  ARENA_ARRAY(a, node, p->buffer_count);
  ARENA_ARRAY(a, at, nodes + 1);
  begin_costs(s);
  memset(s->shared_begin, 0, (nodes + 1) * sizeof *s->shared_begin);
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    node[b] = CALM_NONE;
    if (p->touch_begin[b] == p->touch_begin[b + 1]) continue;
    add_births(s, b, p->touch[p->touch_begin[b]]);
    if (p->buffers[b].pinned_end) continue;
    node[b] = death_node(s, b);
    if (node[b] < p->op_count)
      s->net[node[b]] -= (int64_t)p->buffers[b].bytes;
    else
      s->shared_begin[node[b] + 1]++;
  }
  for (uint32_t v = 0; v < nodes; v++) {
    s->shared_begin[v + 1] += s->shared_begin[v];
    at[v] = s->shared_begin[v];
  }
  for (uint32_t b = 0; b < p->buffer_count; b++)
    if (node[b] != CALM_NONE && node[b] >= p->op_count)
      s->shared[at[node[b]]++] = b;
  return CALM_OK;
}

/* ---- The whole ----------------------------------------------------------- */

static calm_status allocate(series *s, arena *a) {
  const uint32_t n = s->p->op_count, nodes = 2 * n;
  ARENA_ARRAY(a, s->top, nodes);
  ARENA_ARRAY(a, s->begin, nodes);
  ARENA_ARRAY(a, s->end, nodes);
  ARENA_ARRAY(a, s->sequence, n);
  ARENA_ARRAY(a, s->trial, n);
  ARENA_ARRAY(a, s->best, n);
  ARENA_ARRAY(a, s->hill, n);
  ARENA_ARRAY(a, s->net, n);
  ARENA_ARRAY(a, s->shared_begin, nodes + 1);
  ARENA_ARRAY(a, s->shared, s->p->buffer_count);
  ARENA_ARRAY(a, s->place, n);
  ARENA_ARRAY(a, s->stamped, n);
  ARENA_ARRAY(a, s->parts, n);
  ARENA_ARRAY(a, s->stack, nodes);
  ARENA_ARRAY(a, s->rank, nodes);
  ARENA_ARRAY(a, s->stretches, n);
  ARENA_ARRAY(a, s->starters, n);
  ARENA_ARRAY(a, s->early, n);
  return CALM_OK;
}

static bool is_live_at_start(const order_problem *p, uint32_t buffer) {
  const order_buffer *b = &p->buffers[buffer];
  const bool touched = p->touch_begin[buffer] < p->touch_begin[buffer + 1];
  return b->pinned_start && (b->pinned_end || touched);
}

/* The least peak for given births and deaths, and its order. */
static calm_status solve_settled(uint64_t *out_bytes, series *s) {
  const uint32_t nodes = s->tree.node_count;
  int64_t live = 0, most = 0;
  memset(s->shared_begin, 0, (nodes + 1) * sizeof *s->shared_begin);
  order_series_lay_out(s);
  TRY(order_all(s));
  for (uint32_t b = 0; b < s->p->buffer_count; b++)
    if (is_live_at_start(s->p, b)) live += (int64_t)s->p->buffers[b].bytes;
  for (uint32_t i = 0; i < s->p->op_count; i++) {
    const uint32_t u = s->sequence[i];
    if (live + s->hill[u] > most) most = live + s->hill[u];
    live += s->net[u];
  }
  *out_bytes = (uint64_t)most;
  return CALM_OK;
}

static calm_status adopt(series *s, uint32_t *sequence, uint64_t *peak_bytes) {
  uint64_t bytes;
  TRY(order_replay(&bytes, s->p, s->sequence, NULL, s->l->context));
  if (bytes >= *peak_bytes) return CALM_OK;
  *peak_bytes = bytes;
  memcpy(sequence, s->sequence, s->p->op_count * sizeof *sequence);
  return CALM_OK;
}

static calm_status solve(series *s, uint32_t *sequence, uint64_t *peak_bytes,
                         uint64_t *bound_bytes, arena *a) {
  TRY(allocate(s, a));
  order_series_find_tops(s);
  order_series_lay_out(s);
  TRY(settle_by_tree(s, a));
  TRY(order_all(s));
  if (s->l->reason != LIMITS_NONE) return CALM_OK;
  TRY(adopt(s, sequence, peak_bytes));
  memcpy(s->best, sequence, s->p->op_count * sizeof *sequence);
  for (int i = 0; i < BOUND_ROUNDS && *bound_bytes < *peak_bytes; i++) {
    uint64_t bytes;
    settle_by_order(s, s->best);
    save_reuses(s);
    TRY(solve_settled(&bytes, s));
    if (s->l->reason != LIMITS_NONE) return CALM_OK;
    *bound_bytes = number_larger(*bound_bytes, bytes);
    TRY(adopt(s, sequence, peak_bytes));
    memcpy(s->best, s->sequence, s->p->op_count * sizeof *sequence);
  }
  return CALM_OK;
}

calm_status order_series(uint32_t *sequence, uint64_t *peak_bytes,
                         uint64_t *bound_bytes, const order_problem *p,
                         limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  series s = {
      .p = p, .l = l, .patience = l->ticks + PATIENCE * (uint64_t)p->op_count};
  calm_status status = order_series_tree(&s.tree, p, &scratch, l);
  if (status == CALM_OK && s.tree.root != CALM_NONE)
    status = solve(&s, sequence, peak_bytes, bound_bytes, &scratch);
  arena_free(&scratch);
  return status;
}
