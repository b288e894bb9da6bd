/*
 * Divide and conquer.  The paper cuts where a single node separates the graph:
 * every path from a source to a sink passes it.  Every operator lies on such a
 * path, so that node stands before or after every other one, and at the
 * boundary behind it every order has run the same operators.  That is all the
 * method needs, so we cut at every boundary of this kind: at a down-set D that
 * all orders pass.
 *
 * Why the parts may be solved alone.  mem(D) and the cost of every later step
 * depend on the set of operators run, so a part's costs do not depend on the
 * orders of the other parts, an order of the whole is a concatenation of orders
 * of the parts, and its peak is the largest of theirs.  Each part's optimum
 * together is an optimum of the whole.  Counts follow: orders multiply, and
 * down-sets add, the shared ends counted once.
 *
 * Where are they?  All orders pass D iff everything in D precedes everything
 * outside.  The order 0, 1, 2, ... passes it, so D = {0 .. k-1}.  Call m < k
 * maximal if its successors are all >= k, and s >= k minimal if its
 * predecessors are all < k.  A path from a maximal to a minimal operator cannot
 * have an inner node, so D is a cut iff there is an edge from each maximal one
 * to each minimal one:
 *
 *     edges (m, s) with m maximal and s minimal  =  maximal * minimal
 *
 * With first(m) the lowest successor and last(s) the highest predecessor, m is
 * maximal for k in (m, first(m)], s is minimal for k in (last(s), s], and the
 * edge counts for k in (last(s), first(m)].  Three sums of differences give all
 * numbers for all k in linear time.
 */
#include "order/order_dp.h"

/* Differences of the three numbers from one boundary to the next. */
typedef struct boundary {
  int64_t maximal, minimal, edges;
} boundary;

static uint32_t first_successor(const order_problem *p, uint32_t u) {
  const uint32_t at = p->succ_begin[u];
  return at == p->succ_begin[u + 1] ? p->op_count : p->succs[at];
}

/* One past the highest predecessor, 0 if there is none. */
static uint32_t behind_predecessors(const order_problem *p, uint32_t u) {
  const uint32_t end = p->pred_begin[u + 1];
  return end == p->pred_begin[u] ? 0 : p->preds[end - 1] + 1;
}

static void count_edges(boundary *at, const order_problem *p, uint32_t u) {
  const uint32_t from = behind_predecessors(p, u);
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++) {
    const uint32_t to = first_successor(p, p->preds[i]);
    if (from > to) continue;
    at[from].edges++;
    at[to + 1].edges--;
  }
}

static void count_differences(boundary *at, const order_problem *p) {
  for (uint32_t u = 0; u < p->op_count; u++) {
    at[u + 1].maximal++;
    at[first_successor(p, u) + 1].maximal--;
    at[behind_predecessors(p, u)].minimal++;
    at[u + 1].minimal--;
    count_edges(at, p, u);
  }
}

calm_status order_dp_find_cuts(uint32_t **out_cuts, uint32_t *out_count,
                               const order_problem *p, arena *a) {
  boundary *at, sum = {0, 0, 0};
  uint32_t *cuts, count = 0;
  ARENA_ARRAY(a, at, (size_t)p->op_count + 2);
  ARENA_ARRAY(a, cuts, (size_t)p->op_count + 1);
  count_differences(at, p);
  for (uint32_t k = 0; k <= p->op_count; k++) {
    sum.maximal += at[k].maximal;
    sum.minimal += at[k].minimal;
    sum.edges += at[k].edges;
    if (sum.edges == sum.maximal * sum.minimal) cuts[count++] = k;
  }
  *out_cuts = cuts;
  *out_count = count - 1;
  return CALM_OK;
}

calm_status order_dp_parts_begin(order_dp_parts *out, const order_problem *p,
                                 arena *a) {
  order_dp_parts parts = {.next = 0};
  TRY(order_walk_begin(&parts.walk, p, a));
  ARENA_ARRAY(a, parts.local, p->buffer_count);
  for (uint32_t b = 0; b < p->buffer_count; b++) parts.local[b] = CALM_NONE;
  *out = parts;
  return CALM_OK;
}

/* A part being cut out: operators next .. end - 1, and its buffers. */
typedef struct cutting {
  const order_problem *p;
  uint32_t next, end;
  uint32_t *buffers, buffer_count;
  uint32_t *local; /* per buffer of p: place in buffers, or CALM_NONE */
} cutting;

static void number_buffers(cutting *c) {
  const order_problem *p = c->p;
  for (uint32_t i = p->uses_begin[c->next]; i < p->uses_begin[c->end]; i++) {
    if (c->local[p->uses[i]] != CALM_NONE) continue;
    c->local[p->uses[i]] = c->buffer_count;
    c->buffers[c->buffer_count++] = p->uses[i];
  }
}

static void forget_numbers(cutting *c) {
  for (uint32_t i = 0; i < c->buffer_count; i++)
    c->local[c->buffers[i]] = CALM_NONE;
}

/* Begun before: live from the beginning.  Needed afterwards: live to the end.
 */
static order_buffer pinned_by_others(const cutting *c, uint32_t b) {
  const order_problem *p = c->p;
  order_buffer buffer = p->buffers[b];
  if (p->touch[p->touch_begin[b]] < c->next) buffer.pinned_start = true;
  if (p->touch[p->touch_begin[b + 1] - 1] >= c->end) buffer.pinned_end = true;
  return buffer;
}

/* The buffers of the part, and one more that stands for everything that is
   live at its beginning and not touched in it. */
static calm_status cut_buffers(order_problem *out, const cutting *c,
                               uint64_t live_bytes, arena *a) {
  ARENA_ARRAY(a, out->buffers, (size_t)c->buffer_count + 1);
  for (uint32_t i = 0; i < c->buffer_count; i++) {
    out->buffers[i] = pinned_by_others(c, c->buffers[i]);
    if (out->buffers[i].pinned_start) live_bytes -= out->buffers[i].bytes;
  }
  out->buffers[c->buffer_count] = (order_buffer){live_bytes, true, true};
  out->buffer_count = c->buffer_count + 1;
  return CALM_OK;
}

/* From the operators' side: a buffer that the whole network reads must not be
   scanned again for each part. */
static calm_status cut_touches(order_problem *out, const cutting *c, arena *a) {
  const order_problem *p = c->p;
  const uint32_t first = p->uses_begin[c->next];
  uint32_t *to;
  ARENA_ARRAY(a, to, (size_t)out->buffer_count + 2);
  ARENA_ARRAY(a, out->touch, p->uses_begin[c->end] - first);
  for (uint32_t i = first; i < p->uses_begin[c->end]; i++)
    to[c->local[p->uses[i]] + 2]++;
  for (uint32_t b = 0; b < out->buffer_count; b++) to[b + 2] += to[b + 1];
  for (uint32_t u = c->next; u < c->end; u++)
    for (uint32_t i = p->uses_begin[u]; i < p->uses_begin[u + 1]; i++)
      out->touch[to[c->local[p->uses[i]] + 1]++] = u - c->next;
  out->touch_begin = to;
  return CALM_OK;
}

static calm_status cut_operators(order_problem *out, const cutting *c,
                                 arena *a) {
  const order_problem *p = c->p;
  const uint32_t edges = p->pred_begin[c->end] - p->pred_begin[c->next];
  uint32_t filled = 0;
  out->workspace = p->workspace + c->next;
  ARENA_ARRAY(a, out->pred_begin, (size_t)out->op_count + 1);
  ARENA_ARRAY(a, out->preds, edges);
  for (uint32_t u = c->next; u < c->end; u++) {
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      if (p->preds[i] >= c->next) out->preds[filled++] = p->preds[i] - c->next;
    out->pred_begin[u - c->next + 1] = filled;
  }
  return CALM_OK;
}

/* A permission holds in the part as it does in the whole: the pins say who else
   needs the input, or had the output. */
static calm_status cut_reuses(order_problem *out, const cutting *c, arena *a) {
  const order_problem *p = c->p;
  const uint32_t first = p->reuse_begin[c->next];
  out->reuse_count = p->reuse_begin[c->end] - first;
  ARENA_ARRAY(a, out->reuses, out->reuse_count);
  for (uint32_t i = 0; i < out->reuse_count; i++) {
    const order_reuse *r = &p->reuses[first + i];
    out->reuses[i] = (order_reuse){r->op - c->next, c->local[r->input],
                                   c->local[r->output], r->bytes};
  }
  return CALM_OK;
}

static calm_status cut(order_problem *out, cutting *c, uint64_t live_bytes,
                       arena *a) {
  order_problem part = {.op_count = c->end - c->next};
  number_buffers(c);
  TRY(cut_buffers(&part, c, live_bytes, a));
  TRY(cut_touches(&part, c, a));
  TRY(cut_operators(&part, c, a));
  TRY(cut_reuses(&part, c, a));
  TRY(order_problem_finish(&part, a));
  *out = part;
  return CALM_OK;
}

calm_status order_dp_parts_next(order_problem *out, order_dp_parts *parts,
                                uint32_t end, arena *a) {
  const order_problem *p = parts->walk.p;
  cutting c = {p, parts->next, end, NULL, 0, parts->local};
  ARENA_ARRAY(a, c.buffers, p->uses_begin[end] - p->uses_begin[parts->next]);
  TRY(cut(out, &c, parts->walk.live_bytes, a));
  forget_numbers(&c);
  for (; parts->next < end; parts->next++)
    order_walk_run(&parts->walk, parts->next);
  return CALM_OK;
}
