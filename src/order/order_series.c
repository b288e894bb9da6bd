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
 * stretches of all parts are merged by the rule (merge_parts).
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

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "order/order_series_tree.h"

/* Bounds by the deaths of so many orders. */
enum { BOUND_ROUNDS = 8 };
/* Ticks per operator after which only few orders of a part are tried. */
enum { PATIENCE = 2000 };

typedef struct series_part {
  uint32_t begin, end; /* in the sequence */
  uint32_t rank;       /* s->rank[rank] is this part */
  int64_t hill, net;
} series_part;

/* An operator that a shared buffer waits for and that could run at once. */
typedef struct starter {
  int64_t fall; /* less is better */
  uint32_t op, part;
} starter;

typedef struct stretch {
  int64_t hill, net;
  uint32_t begin, end; /* in the sequence */
  uint32_t part;
} stretch;

typedef struct series {
  const order_problem *p;
  limits *l;
  series_tree tree;
  uint32_t *top;         /* node: the highest above it of the same kind */
  uint32_t *begin, *end; /* node: its range */
  uint32_t *sequence, *trial, *best;
  int64_t *hill, *net;              /* operator */
  uint32_t *shared_begin, *shared;  /* node: buffers that die inside it */
  uint32_t *place, *stamped, stamp; /* operators of a trial */
  series_part *parts;
  uint32_t part_count, *stack, *rank;
  starter *starters;
  uint32_t starter_count;
  bool *early; /* operator: has been put in front in this trial */
  stretch *stretches;
  uint32_t trial_count;
  uint64_t patience; /* ticks */
} series;

/* ---- Ranges -------------------------------------------------------------- */

static void find_tops(series *s) {
  const series_tree *t = &s->tree;
  for (uint32_t v = t->node_count; v-- > 0;) {
    const uint32_t parent = t->parent[v];
    const bool same = parent != CALM_NONE && t->kind[parent] == t->kind[v];
    s->top[v] = same ? s->top[parent] : v;
  }
}

/* Leaves from left to right, and the range of each node. */
static void lay_out(series *s) {
  const series_tree *t = &s->tree;
  uint32_t depth = 0, count = 0;
  s->stack[depth++] = t->root;
  while (depth) {
    const uint32_t v = s->stack[--depth];
    s->begin[v] = count;
    if (t->first[v] == CALM_NONE) {
      s->sequence[count++] = v;
      continue;
    }
    s->stack[depth++] = t->next[t->first[v]];
    s->stack[depth++] = t->first[v];
  }
  for (uint32_t v = 0; v < t->node_count; v++) {
    const uint32_t first = t->first[v];
    s->end[v] = first == CALM_NONE ? s->begin[v] + 1 : s->end[t->next[first]];
  }
}

/* The parts that stand beside each other in a node and those like it below. */
static void list_parts(series *s, uint32_t node) {
  const series_tree *t = &s->tree;
  uint32_t depth = 0;
  s->part_count = 0;
  s->stack[depth++] = node;
  while (depth) {
    const uint32_t v = s->stack[--depth];
    if (t->kind[v] == SERIES_BESIDE) {
      s->stack[depth++] = t->next[t->first[v]];
      s->stack[depth++] = t->first[v];
    } else {
      s->parts[s->part_count++] =
          (series_part){.begin = s->begin[v], .end = s->end[v]};
    }
  }
}

/* ---- Merging ------------------------------------------------------------- */

/* Does a go before b: less than 0. */
static int compare_stretches(const stretch *a, const stretch *b) {
  const bool gives[] = {a->net <= 0, b->net <= 0};
  if (gives[0] != gives[1]) return gives[0] ? -1 : 1;
  const int64_t x = gives[0] ? a->hill : b->hill - b->net;
  const int64_t y = gives[0] ? b->hill : a->hill - a->net;
  return (x > y) - (x < y);
}

static int by_rule(const void *left, const void *right) {
  const stretch *a = left, *b = right;
  const int order = compare_stretches(a, b);
  if (order) return order;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Append what stands in a range as stretches that follow the rule. */
static uint32_t cut(series *s, uint32_t count, uint32_t part, uint32_t begin,
                    uint32_t end) {
  const uint32_t least = count;
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t u = s->sequence[i];
    if (s->early[u]) continue;
    stretch next = {s->hill[u], s->net[u], i, i + 1, part};
    while (count > least &&
           compare_stretches(&s->stretches[count - 1], &next) > 0) {
      const stretch *last = &s->stretches[--count];
      const int64_t hill = last->net + next.hill;
      next.hill = last->hill > hill ? last->hill : hill;
      next.net += last->net;
      next.begin = last->begin;
    }
    s->stretches[count++] = next;
  }
  return count;
}

static void append(series *s, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++)
    if (!s->early[s->sequence[i]]) s->trial[s->trial_count++] = s->sequence[i];
}

/* Append those parts of `rank` in [from, to), by the rule. */
static void merge_parts(series *s, uint32_t from, uint32_t to) {
  uint32_t count = 0;
  for (uint32_t i = from; i < to; i++) {
    const series_part *x = &s->parts[s->rank[i]];
    count = cut(s, count, s->rank[i], x->begin, x->end);
  }
  qsort(s->stretches, count, sizeof *s->stretches, by_rule);
  for (uint32_t i = 0; i < count; i++)
    append(s, s->stretches[i].begin, s->stretches[i].end);
  limits_spend(s->l, s->trial_count + 8 * (uint64_t)count);
}

/* ---- Orders of a part ---------------------------------------------------- */

/* The operator that is last in the trial of those that touch a buffer. */
static uint32_t last_in_trial(const series *s, uint32_t buffer) {
  const order_problem *p = s->p;
  uint32_t last = CALM_NONE;
  for (uint32_t i = p->touch_begin[buffer]; i < p->touch_begin[buffer + 1];
       i++) {
    const uint32_t u = p->touch[i];
    if (s->stamped[u] == s->stamp &&
        (last == CALM_NONE || s->place[u] > s->place[last]))
      last = u;
  }
  return last;
}

/* The buffers that are shared in a node die in the order of its trial. */
static void settle_deaths(series *s, uint32_t node, int64_t sign) {
  for (uint32_t i = s->shared_begin[node]; i < s->shared_begin[node + 1]; i++) {
    const uint32_t u = last_in_trial(s, s->shared[i]);
    s->net[u] -= sign * (int64_t)s->p->buffers[s->shared[i]].bytes;
  }
}

typedef struct series_rating {
  int64_t hill;
  int64_t area; /* under the curve: of equal hills the lower one */
} series_rating;

static series_rating rate_trial(series *s, uint32_t node) {
  series_rating r = {0};
  int64_t live = 0;
  s->stamp++;
  for (uint32_t i = 0; i < s->trial_count; i++) {
    s->place[s->trial[i]] = i;
    s->stamped[s->trial[i]] = s->stamp;
  }
  settle_deaths(s, node, 1);
  for (uint32_t i = 0; i < s->trial_count; i++) {
    const uint32_t u = s->trial[i];
    if (live + s->hill[u] > r.hill) r.hill = live + s->hill[u];
    live += s->net[u];
    if (__builtin_add_overflow(r.area, live, &r.area)) r.area = INT64_MAX;
  }
  settle_deaths(s, node, -1);
  limits_spend(s->l, s->trial_count);
  return r;
}

/* Keep the trial if it is better than the best one; begin another. */
static void judge(series *s, uint32_t node, series_rating *best) {
  const series_rating r = rate_trial(s, node);
  const uint32_t count = s->trial_count;
  s->trial_count = 0;
  if (r.hill > best->hill || (r.hill == best->hill && r.area >= best->area))
    return;
  *best = r;
  memcpy(s->best, s->trial, count * sizeof *s->best);
}

static int by_fall(const void *left, const void *right) {
  const starter *a = left, *b = right;
  if (a->fall != b->fall) return a->fall < b->fall ? -1 : 1;
  return (a->op > b->op) - (a->op < b->op);
}

/* Does nothing in the node have to run before it? */
static bool is_source(const series *s, uint32_t node, uint32_t u) {
  const order_problem *p = s->p;
  for (uint32_t i = p->pred_begin[u]; i < p->pred_begin[u + 1]; i++) {
    const uint32_t at = s->begin[p->preds[i]];
    if (s->begin[node] <= at && at < s->end[node]) return false;
  }
  return true;
}

static void list_starters(series *s, uint32_t node) {
  const order_problem *p = s->p;
  s->stamp++;
  for (uint32_t i = s->shared_begin[node]; i < s->shared_begin[node + 1]; i++) {
    const uint32_t b = s->shared[i];
    for (uint32_t k = p->touch_begin[b]; k < p->touch_begin[b + 1]; k++)
      s->stamped[p->touch[k]] = s->stamp;
  }
  s->starter_count = 0;
  for (uint32_t i = 0; i < s->part_count; i++)
    for (uint32_t k = s->parts[i].begin; k < s->parts[i].end; k++) {
      const uint32_t u = s->sequence[k];
      if (s->stamped[u] == s->stamp && is_source(s, node, u))
        s->starters[s->starter_count++] =
            (starter){s->net[u] - s->hill[u], u, i};
    }
  qsort(s->starters, s->starter_count, sizeof *s->starters, by_fall);
}

/* Put the starters of parts with at least that rank in front. */
static void start_parts(series *s, uint32_t from) {
  for (uint32_t i = 0; i < s->starter_count; i++) {
    const starter *x = &s->starters[i];
    if (s->parts[x->part].rank < from) continue;
    s->trial[s->trial_count++] = x->op;
    s->early[x->op] = true;
  }
}

static void forget_starts(series *s) {
  for (uint32_t i = 0; i < s->starter_count; i++)
    s->early[s->starters[i].op] = false;
}

/* The first `cut` parts to their ends, then the others; or begin the others
   first. */
static void try_split(series *s, uint32_t node, uint32_t at,
                      series_rating *best) {
  merge_parts(s, 0, at);
  start_parts(s, at);
  merge_parts(s, at, s->part_count);
  judge(s, node, best);
  forget_starts(s);
  start_parts(s, at);
  merge_parts(s, 0, s->part_count);
  judge(s, node, best);
  forget_starts(s);
}

typedef struct ranked_part {
  int64_t key, second;
  uint32_t part;
} ranked_part;

static int by_rank(const void *left, const void *right) {
  const ranked_part *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->second != b->second) return a->second < b->second ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

static void measure_parts(series *s) {
  for (uint32_t i = 0; i < s->part_count; i++) {
    series_part *x = &s->parts[i];
    int64_t live = 0;
    x->hill = 0;
    for (uint32_t k = x->begin; k < x->end; k++) {
      const uint32_t u = s->sequence[k];
      if (live + s->hill[u] > x->hill) x->hill = live + s->hill[u];
      live += s->net[u];
    }
    x->net = live;
  }
}

static void rank_parts(series *s, const ranked_part *ranked) {
  for (uint32_t i = 0; i < s->part_count; i++) {
    s->rank[i] = ranked[i].part;
    s->parts[ranked[i].part].rank = i;
  }
}

static void try_splits(series *s, uint32_t node, ranked_part *ranked,
                       series_rating *best) {
  const uint32_t m = s->part_count;
  const uint32_t splits[] = {1, 2, 3, m / 4, m / 2, m - m / 4, m - 2, m - 1};
  for (int falls = 0; falls < 2; falls++) {
    for (uint32_t i = 0; i < m; i++) {
      const series_part *x = &s->parts[i];
      const int64_t fall = x->net - x->hill;
      ranked[i] = (ranked_part){falls ? fall : x->net, x->hill, i};
    }
    qsort(ranked, m, sizeof *ranked, by_rank);
    rank_parts(s, ranked);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
      if (splits[i] > 0 && splits[i] < m &&
          (i == 0 || splits[i] > splits[i - 1]) && s->l->ticks < s->patience)
        try_split(s, node, splits[i], best);
  }
}

/* With buffers that several parts wait for: the best of several orders. */
static calm_status order_shared(series *s, uint32_t node, arena *a) {
  const uint32_t m = s->part_count;
  series_rating best = {INT64_MAX, 0};
  ranked_part *ranked;
  ARENA_ARRAY(a, ranked, m);
  list_starters(s, node);
  merge_parts(s, 0, m);
  judge(s, node, &best);
  start_parts(s, 0);
  merge_parts(s, 0, m);
  judge(s, node, &best);
  forget_starts(s);
  measure_parts(s);
  try_splits(s, node, ranked, &best);
  memcpy(s->trial, s->best, (s->end[node] - s->begin[node]) * sizeof *s->trial);
  s->trial_count = s->end[node] - s->begin[node];
  rate_trial(s, node);
  settle_deaths(s, node, 1);
  return CALM_OK;
}

static calm_status order_node(series *s, uint32_t node, arena *a) {
  list_parts(s, node);
  s->trial_count = 0;
  for (uint32_t i = 0; i < s->part_count; i++)
    s->rank[i] = s->parts[i].rank = i;
  if (s->shared_begin[node] == s->shared_begin[node + 1])
    merge_parts(s, 0, s->part_count);
  else
    TRY(order_shared(s, node, a));
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
  lay_out(s);
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
  find_tops(s);
  lay_out(s);
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
