/* Orders of parts beside each other that wait for the same buffers: whoever is
   last frees them, so it matters who begins early and who ends early. */
#include <stdlib.h>
#include <string.h>

#include "order/order_series_merge.h"

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
  order_series_merge(s, 0, at);
  start_parts(s, at);
  order_series_merge(s, at, s->part_count);
  judge(s, node, best);
  forget_starts(s);
  start_parts(s, at);
  order_series_merge(s, 0, s->part_count);
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

calm_status order_series_fork(series *s, uint32_t node, arena *a) {
  const uint32_t m = s->part_count;
  series_rating best = {INT64_MAX, 0};
  ranked_part *ranked;
  ARENA_ARRAY(a, ranked, m);
  list_starters(s, node);
  order_series_merge(s, 0, m);
  judge(s, node, &best);
  start_parts(s, 0);
  order_series_merge(s, 0, m);
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
