/*
 * Two rules shrink a graph of parts, each an operator at first: a part that has
 * one successor, whose only predecessor it is, joins it in a row; two parts
 * with the same predecessors and successors stand beside each other.  What ends
 * as one part was series-parallel.
 *
 * A part is entered as its first operator was, and left as its last; so parts
 * go by two names, and when a row is made no list has to be touched.
 */
#include "order/order_series_tree.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"

/* So many steps for each edge may be spent on edges that others imply. */
enum { STEPS_PER_EDGE = 64 };

typedef struct part {
  uint32_t in, out; /* operators whose edges come in and go out */
  uint32_t tree;    /* node of the tree */
  uint32_t ins, outs;
  uint64_t in_hash, out_hash; /* of the sets of neighbours */
  bool gone, listed;
} part;

typedef struct reducer {
  const order_problem *p;
  limits *l;
  arena *a;
  series_tree *tree;
  bool *implied; /* per predecessor entry: not needed */
  uint64_t *hash;
  part *parts;
  uint32_t *by_in, *by_out; /* the part that has this name */
  bool *in_gone, *out_gone;
  uint32_t *succ_begin, *succs; /* without what is implied */
  uint32_t *work, work_count;
  uint32_t *table, *chain, *chained, table_mask, chain_count, chain_most;
  uint32_t *seen, stamp;
  uint32_t part_count;
} reducer;

/* ---- Edges that others imply --------------------------------------------- */

/* Walk back from the predecessors of `u`; one that is met on the way is
   implied. False: too many steps. */
static bool drop_implied(reducer *r, uint32_t u, uint32_t *stack,
                         uint64_t *steps) {
  const order_problem *p = r->p;
  const uint32_t begin = p->pred_begin[u], end = p->pred_begin[u + 1];
  if (end - begin < 2) return true;
  const uint32_t least = p->preds[begin], stamp = ++r->stamp;
  uint32_t depth = 0;
  for (uint32_t i = begin; i < end; i++) stack[depth++] = p->preds[i];
  while (depth) {
    const uint32_t v = stack[--depth];
    for (uint32_t i = p->pred_begin[v]; i < p->pred_begin[v + 1]; i++) {
      const uint32_t w = p->preds[i];
      if (w < least || r->seen[w] == stamp) continue;
      r->seen[w] = stamp;
      stack[depth++] = w;
      if (*steps == 0) return false;
      --*steps;
    }
  }
  for (uint32_t i = begin; i < end; i++)
    r->implied[i] = r->seen[p->preds[i]] == stamp;
  return true;
}

static calm_status drop_all_implied(bool *done, reducer *r) {
  const order_problem *p = r->p;
  const uint64_t edges = p->pred_begin[p->op_count];
  uint64_t steps = STEPS_PER_EDGE * (edges + p->op_count);
  const uint64_t most = steps;
  uint32_t *stack;
  ARENA_ARRAY(r->a, stack, edges + p->op_count);
  *done = true;
  for (uint32_t u = 0; u < p->op_count && *done; u++)
    *done = drop_implied(r, u, stack, &steps);
  limits_spend(r->l, most - steps + edges);
  return CALM_OK;
}

static calm_status list_successors(reducer *r) {
  const order_problem *p = r->p;
  uint32_t *at;
  ARENA_ARRAY(r->a, r->succ_begin, p->op_count + 1);
  ARENA_ARRAY(r->a, r->succs, p->pred_begin[p->op_count]);
  ARENA_ARRAY(r->a, at, p->op_count);
  for (uint32_t i = 0; i < p->pred_begin[p->op_count]; i++)
    if (!r->implied[i]) r->succ_begin[p->preds[i] + 1]++;
  for (uint32_t u = 0; u < p->op_count; u++) {
    r->succ_begin[u + 1] += r->succ_begin[u];
    at[u] = r->succ_begin[u];
  }
  for (uint32_t u = 0; u < p->op_count; u++)
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      if (!r->implied[i]) r->succs[at[p->preds[i]]++] = u;
  return CALM_OK;
}

/* ---- Parts --------------------------------------------------------------- */

static void list_part(reducer *r, uint32_t at) {
  part *x = &r->parts[at];
  if (x->gone || x->listed) return;
  x->listed = true;
  r->work[r->work_count++] = at;
}

static void begin_parts(reducer *r) {
  const order_problem *p = r->p;
  random_state random = random_from_seed(p->op_count);
  for (uint32_t u = 0; u < p->op_count; u++) r->hash[u] = random_next(&random);
  for (uint32_t u = p->op_count; u-- > 0;) {
    part *x = &r->parts[u];
    *x = (part){.in = u, .out = u, .tree = u};
    r->by_in[u] = r->by_out[u] = u;
    for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++)
      if (!r->implied[i]) {
        x->ins++;
        x->in_hash ^= r->hash[p->preds[i]];
      }
    for (uint32_t i = r->succ_begin[u]; i < r->succ_begin[u + 1]; i++) {
      x->outs++;
      x->out_hash ^= r->hash[r->succs[i]];
    }
    list_part(r, u);
  }
  r->part_count = p->op_count;
}

static uint32_t new_node(series_tree *t, series_kind kind, uint32_t left,
                         uint32_t right) {
  const uint32_t node = t->node_count++;
  t->kind[node] = kind;
  t->first[node] = left;
  t->next[left] = right;
  t->parent[left] = t->parent[right] = node;
  t->parent[node] = t->next[node] = t->next[right] = CALM_NONE;
  return node;
}

/* The only successor, if it has no other predecessor; CALM_NONE. */
static uint32_t find_follower(const reducer *r, const part *x) {
  if (x->outs != 1) return CALM_NONE;
  for (uint32_t i = r->succ_begin[x->out]; i < r->succ_begin[x->out + 1]; i++)
    if (!r->in_gone[r->succs[i]]) {
      const uint32_t at = r->by_in[r->succs[i]];
      return r->parts[at].ins == 1 ? at : CALM_NONE;
    }
  return CALM_NONE;
}

static void join_row(reducer *r, uint32_t at, uint32_t follower) {
  part *x = &r->parts[at], *y = &r->parts[follower];
  x->tree = new_node(r->tree, SERIES_ROW, x->tree, y->tree);
  x->out = y->out;
  x->outs = y->outs;
  x->out_hash = y->out_hash;
  r->by_out[x->out] = at;
  y->gone = true;
  r->part_count--;
}

/* ---- Parts that stand beside each other ---------------------------------- */

static bool same_ins(reducer *r, const part *x, const part *y) {
  const order_problem *p = r->p;
  const uint32_t stamp = ++r->stamp;
  uint32_t met = 0;
  for (uint32_t i = p->pred_begin[x->in]; i < p->pred_begin[x->in + 1]; i++)
    if (!r->implied[i]) r->seen[p->preds[i]] = stamp;
  for (uint32_t i = p->pred_begin[y->in]; i < p->pred_begin[y->in + 1]; i++)
    if (!r->implied[i] && !r->out_gone[p->preds[i]])
      met += r->seen[p->preds[i]] == stamp;
  return met == x->ins && met == y->ins;
}

static bool same_outs(reducer *r, const part *x, const part *y) {
  const uint32_t stamp = ++r->stamp;
  uint32_t met = 0;
  for (uint32_t i = r->succ_begin[x->out]; i < r->succ_begin[x->out + 1]; i++)
    r->seen[r->succs[i]] = stamp;
  for (uint32_t i = r->succ_begin[y->out]; i < r->succ_begin[y->out + 1]; i++)
    if (!r->in_gone[r->succs[i]]) met += r->seen[r->succs[i]] == stamp;
  return met == x->outs && met == y->outs;
}

/* Another part with the same neighbours, CALM_NONE; from now on this one can be
   found, too. */
static uint32_t find_twin(reducer *r, uint32_t at) {
  const part *x = &r->parts[at];
  const uint64_t mixed =
      (x->in_hash * UINT64_C(0x9e3779b97f4a7c15)) ^ x->out_hash;
  uint32_t *slot = &r->table[(uint32_t)(mixed >> 32) & r->table_mask];
  for (uint32_t i = *slot; i != CALM_NONE; i = r->chain[i]) {
    const uint32_t other = r->chained[i];
    const part *y = &r->parts[other];
    if (other != at && !y->gone && y->in_hash == x->in_hash &&
        y->out_hash == x->out_hash && same_ins(r, x, y) && same_outs(r, x, y))
      return other;
  }
  assert(r->chain_count < r->chain_most);
  r->chained[r->chain_count] = at;
  r->chain[r->chain_count] = *slot;
  *slot = r->chain_count++;
  return CALM_NONE;
}

/* `y` leaves its neighbours' sets, and they are looked at again. */
static void leave_neighbours(reducer *r, const part *y) {
  const order_problem *p = r->p;
  r->in_gone[y->in] = r->out_gone[y->out] = true;
  for (uint32_t i = p->pred_begin[y->in]; i < p->pred_begin[y->in + 1]; i++) {
    const uint32_t name = p->preds[i];
    if (r->implied[i] || r->out_gone[name]) continue;
    part *x = &r->parts[r->by_out[name]];
    x->outs--;
    x->out_hash ^= r->hash[y->in];
    list_part(r, r->by_out[name]);
  }
  for (uint32_t i = r->succ_begin[y->out]; i < r->succ_begin[y->out + 1]; i++) {
    const uint32_t name = r->succs[i];
    if (r->in_gone[name]) continue;
    part *x = &r->parts[r->by_in[name]];
    x->ins--;
    x->in_hash ^= r->hash[y->out];
    list_part(r, r->by_in[name]);
  }
}

static void join_beside(reducer *r, uint32_t at, uint32_t twin) {
  part *x = &r->parts[at], *y = &r->parts[twin];
  x->tree = new_node(r->tree, SERIES_BESIDE, y->tree, x->tree);
  y->gone = true;
  leave_neighbours(r, y);
  r->part_count--;
}

static void reduce(reducer *r) {
  while (r->work_count) {
    const uint32_t at = r->work[--r->work_count];
    part *x = &r->parts[at];
    x->listed = false;
    limits_spend(r->l, 1);
    if (x->gone) continue;
    uint32_t other;
    bool changed = false;
    while ((other = find_follower(r, x)) != CALM_NONE) {
      join_row(r, at, other);
      changed = true;
    }
    while ((other = find_twin(r, at)) != CALM_NONE) {
      join_beside(r, at, other);
      changed = true;
    }
    /* Who comes before may now have this one as its only follower. */
    if (changed) {
      list_part(r, at);
      const order_problem *p = r->p;
      for (uint32_t i = p->pred_begin[x->in]; i < p->pred_begin[x->in + 1]; i++)
        if (!r->implied[i] && !r->out_gone[p->preds[i]] && x->ins == 1)
          list_part(r, r->by_out[p->preds[i]]);
    }
  }
}

/* ---- The tree ------------------------------------------------------------ */

static calm_status make_tree(series_tree *t, uint32_t ops, arena *a) {
  const size_t most = 2 * (size_t)ops;
  *t = (series_tree){.node_count = ops, .root = CALM_NONE};
  ARENA_ARRAY(a, t->parent, most);
  ARENA_ARRAY(a, t->kind, most);
  ARENA_ARRAY(a, t->first, most);
  ARENA_ARRAY(a, t->next, most);
  for (uint32_t u = 0; u < ops; u++)
    t->parent[u] = t->first[u] = t->next[u] = CALM_NONE;
  return CALM_OK;
}

static calm_status make_reducer(reducer *r) {
  const uint32_t n = r->p->op_count;
  const size_t edges = r->p->pred_begin[n];
  uint32_t size = 64;
  while (size < 2 * n) size *= 2;
  r->table_mask = size - 1;
  r->chain_most = (uint32_t)(2 * edges + 6 * (size_t)n + 16);
  ARENA_ARRAY(r->a, r->implied, edges);
  ARENA_ARRAY(r->a, r->hash, n);
  ARENA_ARRAY(r->a, r->parts, n);
  ARENA_ARRAY(r->a, r->by_in, n);
  ARENA_ARRAY(r->a, r->by_out, n);
  ARENA_ARRAY(r->a, r->in_gone, n);
  ARENA_ARRAY(r->a, r->out_gone, n);
  ARENA_ARRAY(r->a, r->work, n);
  ARENA_ARRAY(r->a, r->table, size);
  ARENA_ARRAY(r->a, r->chain, r->chain_most);
  ARENA_ARRAY(r->a, r->chained, r->chain_most);
  ARENA_ARRAY(r->a, r->seen, n);
  memset(r->table, 0xff, size * sizeof *r->table);
  return CALM_OK;
}

calm_status order_series_tree(series_tree *out, const order_problem *p,
                              arena *a, limits *l) {
  series_tree tree;
  reducer r = {.p = p, .l = l, .a = a, .tree = &tree};
  bool done;
  TRY(make_tree(&tree, p->op_count, a));
  *out = tree;
  if (p->op_count < 2 || p->pred_begin[p->op_count] > UINT32_MAX / 4)
    return CALM_OK;
  TRY(make_reducer(&r));
  TRY(drop_all_implied(&done, &r));
  if (!done) return CALM_OK;
  TRY(list_successors(&r));
  begin_parts(&r);
  reduce(&r);
  if (r.part_count == 1) tree.root = tree.node_count - 1;
  *out = tree;
  return CALM_OK;
}
