/*
 * Order problems for tests: a builder that takes edges and buffers in any
 * order, random problems of every kind, and two referees that know nothing of
 * the solvers: all permutations, and dynamic programming over bit masks
 * straight from the definition in order/order.h.
 */
#ifndef CALM_TESTS_ORDER_CASES_H
#define CALM_TESTS_ORDER_CASES_H

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "order/order.h"
#include "order_random.h"

enum { CASE_EDGES = 8192, CASE_BUFFERS = 1024, CASE_TOUCHES = 8192 };

typedef struct problem_builder {
  uint32_t op_count, edge_count, buffer_count, touch_count, reuse_count;
  uint32_t edges[CASE_EDGES][2]; /* from, to */
  order_buffer buffers[CASE_BUFFERS];
  uint32_t touches[CASE_TOUCHES][2]; /* buffer, operator */
  order_reuse reuses[CASE_BUFFERS];
  uint64_t workspace[CASE_BUFFERS];
} problem_builder;

static inline uint32_t build_op(problem_builder *b) { return b->op_count++; }

static inline void build_edge(problem_builder *b, uint32_t from, uint32_t to) {
  b->edges[b->edge_count][0] = from;
  b->edges[b->edge_count++][1] = to;
}

static inline uint32_t build_buffer(problem_builder *b, uint64_t bytes,
                                    bool pinned_start, bool pinned_end) {
  b->buffers[b->buffer_count] = (order_buffer){bytes, pinned_start, pinned_end};
  return b->buffer_count++;
}

static inline void build_touch(problem_builder *b, uint32_t buffer,
                               uint32_t op) {
  b->touches[b->touch_count][0] = buffer;
  b->touches[b->touch_count++][1] = op;
}

/* A network in which each node makes one tensor from those of earlier nodes. */
typedef struct case_node {
  uint64_t bytes;
  uint32_t inputs[12], input_count;
} case_node;

#define NODE(bytes, ...)                                     \
  {                                                          \
    (bytes), {__VA_ARGS__},                                  \
        sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t) \
  }

/* Add the nodes.  Node 0 is a tensor that is there already: `input`, made by
   `maker`, or CALM_NONE if it is given from outside.  Yields the last tensor,
   which is made by the operator added last. */
static inline uint32_t build_nodes(problem_builder *b, const case_node *nodes,
                                   uint32_t count, uint32_t input,
                                   uint32_t maker) {
  uint32_t tensors[64] = {input}, makers[64] = {maker};
  for (uint32_t i = 1; i < count; i++) {
    makers[i] = build_op(b);
    tensors[i] = build_buffer(b, nodes[i].bytes, false, false);
    build_touch(b, tensors[i], makers[i]);
    for (uint32_t k = 0; k < nodes[i].input_count; k++) {
      const uint32_t from = nodes[i].inputs[k];
      if (makers[from] != CALM_NONE) build_edge(b, makers[from], makers[i]);
      build_touch(b, tensors[from], makers[i]);
    }
  }
  return tensors[count - 1];
}

static inline int compare_pairs(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

static inline int compare_reuses(const void *a, const void *b) {
  const order_reuse *x = a, *y = b;
  return (x->op > y->op) - (x->op < y->op);
}

/* Pairs (row, value), sorted and each once, as compressed rows. */
static inline bool build_rows(uint32_t **begin, uint32_t **list,
                              uint32_t (*pairs)[2], uint32_t count,
                              uint32_t rows, arena *a) {
  qsort(pairs, count, sizeof *pairs, compare_pairs);
  *begin = arena_calloc(a, rows + 1, sizeof **begin);
  *list = arena_calloc(a, count, sizeof **list);
  if (!*begin || !*list) return false;
  uint32_t kept = 0;
  for (uint32_t i = 0, row = 0; i < count; i++) {
    if (i && !compare_pairs(pairs[i], pairs[i - 1])) continue;
    while (row < pairs[i][0]) (*begin)[++row] = kept;
    (*list)[kept++] = pairs[i][1];
    (*begin)[row + 1] = kept;
  }
  for (uint32_t row = 0; row < rows; row++)
    if ((*begin)[row + 1] < (*begin)[row]) (*begin)[row + 1] = (*begin)[row];
  return true;
}

static inline calm_status build_problem(order_problem *out, problem_builder *b,
                                        arena *a) {
  order_problem p = {.op_count = b->op_count,
                     .buffer_count = b->buffer_count,
                     .reuse_count = b->reuse_count};
  uint32_t reversed[CASE_EDGES][2];
  for (uint32_t i = 0; i < b->edge_count; i++) {
    reversed[i][0] = b->edges[i][1];
    reversed[i][1] = b->edges[i][0];
  }
  qsort(b->reuses, b->reuse_count, sizeof *b->reuses, compare_reuses);
  if (!build_rows(&p.pred_begin, &p.preds, reversed, b->edge_count, p.op_count,
                  a) ||
      !build_rows(&p.touch_begin, &p.touch, b->touches, b->touch_count,
                  p.buffer_count, a))
    return context_no_memory(a->context);
  ARENA_ARRAY(a, p.buffers, p.buffer_count);
  ARENA_ARRAY(a, p.reuses, p.reuse_count);
  ARENA_ARRAY(a, p.workspace, p.op_count);
  memcpy(p.buffers, b->buffers, p.buffer_count * sizeof *p.buffers);
  memcpy(p.reuses, b->reuses, p.reuse_count * sizeof *p.reuses);
  memcpy(p.workspace, b->workspace, p.op_count * sizeof *p.workspace);
  TRY(order_problem_finish(&p, a));
  *out = p;
  return CALM_OK;
}

/* What random problems may contain. */
enum { WITH_WORKSPACE = 1, WITH_REUSE = 2, WITH_CUTS = 4 };

static inline uint64_t random_size(random_state *r) {
  return random_below(r, 6) ? 1 + random_below(r, 9) : 0;
}

/* A tensor: made by one operator or given, read by some later ones. */
static inline void add_random_tensor(problem_builder *b, random_state *r) {
  const uint32_t n = b->op_count, maker = random_below(r, n);
  const bool given = random_below(r, 8) == 0;
  const uint64_t bytes = random_size(r);
  const uint32_t buffer =
      build_buffer(b, bytes, given, random_below(r, 8) == 0);
  if (!given) build_touch(b, buffer, maker);
  for (uint32_t u = given ? 0 : maker + 1; u < n; u++) {
    if (random_below(r, n) >= 2) continue;
    build_touch(b, buffer, u);
    if (!given) build_edge(b, maker, u);
  }
}

/* Any operators may touch it, with no edge between them: several first and
   several last touchers, as views and accumulators have. */
static inline void add_random_hyperedge(problem_builder *b, random_state *r) {
  const uint64_t bytes = random_size(r);
  const bool at_start = random_below(r, 6) == 0;
  const uint32_t buffer =
      build_buffer(b, bytes, at_start, random_below(r, 6) == 0);
  for (uint32_t i = random_below(r, 5); i > 0; i--)
    build_touch(b, buffer, random_below(r, b->op_count));
}

static inline void add_random_reuse(problem_builder *b, random_state *r) {
  if (b->touch_count == 0) return;
  const uint32_t *x = b->touches[random_below(r, b->touch_count)];
  const uint32_t *y = b->touches[random_below(r, b->touch_count)];
  if (x[1] != y[1] || x[0] == y[0]) return;
  const uint64_t in = b->buffers[x[0]].bytes, out = b->buffers[y[0]].bytes;
  const uint64_t most = in < out ? in : out;
  const uint64_t bytes = random_below(r, 2) ? most : most / 2;
  b->reuses[b->reuse_count++] = (order_reuse){x[1], x[0], y[0], bytes};
}

/* A random problem with n operators. */
static inline void build_random(problem_builder *b, uint32_t n, unsigned with,
                                random_state *r) {
  *b = (problem_builder){.op_count = n};
  for (uint32_t i = 0; i < n + 2; i++) add_random_tensor(b, r);
  for (uint32_t i = random_below(r, 4); i > 0; i--) add_random_hyperedge(b, r);
  for (uint32_t i = random_below(r, n); i > 0 && n > 1; i--) {
    const uint32_t to = 1 + random_below(r, n - 1);
    build_edge(b, random_below(r, to), to);
  }
  for (uint32_t u = 0; u < n && with & WITH_WORKSPACE; u++)
    if (random_below(r, 3) == 0) b->workspace[u] = random_below(r, 12);
  for (uint32_t i = 0; i < 40 && with & WITH_REUSE; i++) add_random_reuse(b, r);
  if (with & WITH_CUTS) /* every order passes {0 .. cut - 1} */
    for (uint32_t k = random_below(r, 3); k > 0; k--) {
      const uint32_t cut = random_below(r, n + 1);
      for (uint32_t u = 0; u < cut; u++)
        for (uint32_t v = cut; v < n; v++) build_edge(b, u, v);
    }
}

/* ---- Referee ------------------------------------------------------------- */

typedef struct order_answer {
  uint64_t peak, downsets, orders;
} order_answer;

/* Optimum and counts from the definition, by all subsets; n <= 16. */
static inline order_answer solve_by_subsets(const order_problem *p) {
  const uint32_t full = (UINT32_C(1) << p->op_count) - 1;
  uint64_t *orders = calloc(full + (size_t)1, sizeof *orders);
  order_answer answer = {.peak = order_referee_optimum(p)};
  if (!orders) abort();
  orders[0] = 1;
  for (uint32_t done = 0; done <= full; done++) {
    if (orders[done] == 0) continue;
    answer.downsets++;
    for (uint32_t u = 0; u < p->op_count; u++)
      if (!(done >> u & 1) && !(order_referee_preds(p, u) & ~done))
        orders[done | UINT32_C(1) << u] += orders[done];
  }
  answer.orders = orders[full];
  free(orders);
  return answer;
}

/* A random topological order. */
static inline void random_order(uint32_t *sequence, const order_problem *p,
                                random_state *r) {
  uint32_t *left = calloc(p->op_count + 1, sizeof *left);
  uint32_t *ready = calloc(p->op_count + 1, sizeof *ready), count = 0;
  for (uint32_t u = 0; u < p->op_count; u++) {
    left[u] = p->pred_begin[u + 1] - p->pred_begin[u];
    if (left[u] == 0) ready[count++] = u;
  }
  for (uint32_t step = 0; step < p->op_count; step++) {
    const uint32_t at = random_below(r, count), u = ready[at];
    ready[at] = ready[--count];
    sequence[step] = u;
    for (uint32_t i = p->succ_begin[u]; i < p->succ_begin[u + 1]; i++)
      if (--left[p->succs[i]] == 0) ready[count++] = p->succs[i];
  }
  free(left);
  free(ready);
}

#endif
