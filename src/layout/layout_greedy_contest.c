/*
 * Orders of first fit in several threads.  The choice and the ticks are those
 * of one order after the other:
 *
 *   - An order may go on for longer than it would have, because an order before
 *     it is not finished yet and has not lowered the arena to beat.  So while
 *     the arena grows it is noted how many ticks that took; once the results of
 *     all orders before are known, so is where it would have been given up.
 *   - It is never given up too early: only orders before it count.
 *   - Results are taken in the order of the list.  From where one is enough, or
 *     the tick limit ends all, whatever was found behind is forgotten.
 */
#include "layout/layout_greedy_parts.h"

#include <string.h>

#include "base/workers.h"

/* A worker's own. */
typedef struct lane {
  greedy g; /* `best` is the best of this lane */
  arena arena;
  limits limits;
  uint32_t kept; /* the attempt whose offsets those are */
  bool ready;
} lane;

typedef struct contest {
  greedy *g; /* what was found before, then what is chosen */
  uint64_t enough;
  const order *orders;
  workers *crew;
  lane *lanes;
  attempt attempts[LAYOUT_GREEDY_REST];
  uint32_t winner; /* whose offsets g->best has yet to get, or CALM_NONE */
} contest;

static calm_status prepare_lane(contest *k, uint32_t worker) {
  lane *own = &k->lanes[worker];
  const limits *l = k->g->l;
  limits_init(&own->limits, workers_context(k->crew, worker));
  own->limits.max_ticks = l->max_ticks - l->ticks;
  own->limits.deadline = l->deadline;
  if (own->ready) return CALM_OK;
  own->ready = true;
  arena_init(&own->arena, own->limits.context);
  return layout_greedy_prepare(&own->g, k->g->p, &own->arena, &own->arena,
                               &own->limits);
}

/* Orders behind an attempt have to be better than that. */
static void tell_later(contest *k, uint32_t item) {
  const uint64_t found = k->attempts[item].arena_bytes;
  for (uint32_t i = item + 1; i < LAYOUT_GREEDY_REST; i++) {
    _Atomic(uint64_t) *to_beat = &k->attempts[i].to_beat;
    uint64_t known = atomic_load(to_beat);
    while (found < known &&
           !atomic_compare_exchange_weak(to_beat, &known, found))
      continue;
  }
}

static void keep_offsets(lane *own, uint32_t item, uint64_t arena_bytes) {
  greedy *g = &own->g;
  if (arena_bytes >= g->best.arena_bytes) return;
  uint64_t *spare = g->best.offsets;
  g->best = (layout_placement){g->offsets, arena_bytes};
  g->offsets = spare;
  own->kept = item;
}

static calm_status make_attempt(void *payload, uint32_t item, uint32_t worker) {
  contest *k = payload;
  lane *own = &k->lanes[worker];
  attempt *t = &k->attempts[item];
  t->worker = worker;
  const uint64_t cutoff = atomic_load(&t->to_beat);
  if (cutoff <= k->enough) return CALM_OK;
  TRY(prepare_lane(k, worker));
  own->g.attempt = t;
  layout_greedy_sort(&own->g, &k->orders[item]);
  TRY(layout_greedy_place(&own->g, &t->arena_bytes, cutoff));
  t->ticks = own->limits.ticks;
  t->reason = own->limits.reason;
  t->finished = t->arena_bytes < atomic_load(&t->to_beat);
  if (!t->finished) return CALM_OK;
  keep_offsets(own, item, t->arena_bytes);
  tell_later(k, item);
  return CALM_OK;
}

/* Where the order would have been given up; NULL: nowhere. */
static const level *find_level(const attempt *t, uint64_t cutoff) {
  for (uint32_t i = 0; i < t->levels.count; i++)
    if (t->levels.data[i].arena_bytes >= cutoff) return &t->levels.data[i];
  return NULL;
}

/* As if the order were tried now.  If the tick limit ends it, it is. */
static calm_status take_attempt(contest *k, uint32_t item) {
  greedy *g = k->g;
  attempt *t = &k->attempts[item];
  const uint64_t to_beat = g->best.arena_bytes;
  const level *end = find_level(t, to_beat);
  const uint64_t ticks = end ? end->ticks : t->ticks;
  if (ticks >= g->l->max_ticks - g->l->ticks) {
    TRY(layout_greedy_try(g, k->orders[item]));
    if (g->best.arena_bytes < to_beat) k->winner = CALM_NONE;
    return CALM_OK;
  }
  limits_spend(g->l, ticks);
  if (!end && t->finished) {
    g->best.arena_bytes = t->arena_bytes;
    k->winner = item;
  } else if (!end && g->l->reason == LIMITS_NONE) {
    g->l->reason = t->reason;
  }
  return CALM_OK;
}

/* The worker may have gone on to a better order that does not count; then the
   winner is tried again, which is no effort of the search. */
static calm_status fetch_offsets(contest *k) {
  if (k->winner == CALM_NONE) return CALM_OK;
  greedy *g = k->g;
  limits *l = g->l, none;
  const lane *from = &k->lanes[k->attempts[k->winner].worker];
  if (from->kept == k->winner) {
    memcpy(g->best.offsets, from->g.best.offsets,
           g->p->body_count * sizeof *g->offsets);
    return CALM_OK;
  }
  limits_init(&none, l->context);
  g->l = &none;
  g->best.arena_bytes++;
  const calm_status status = layout_greedy_try(g, k->orders[k->winner]);
  g->l = l;
  return status;
}

/* After the clock or an interrupt, what is finished anyway may still count. */
static calm_status run_contest(contest *k) {
  greedy *g = k->g;
  for (uint32_t i = 0; i < LAYOUT_GREEDY_REST; i++)
    atomic_init(&k->attempts[i].to_beat, g->best.arena_bytes);
  TRY(workers_run(k->crew, LAYOUT_GREEDY_REST, make_attempt, k));
  for (uint32_t i = 0;
       i < LAYOUT_GREEDY_REST && g->best.arena_bytes > k->enough &&
       g->l->reason != LIMITS_TICKS;
       i++)
    TRY(take_attempt(k, i));
  return fetch_offsets(k);
}

static void free_lanes(contest *k) {
  for (uint32_t i = 0; i < LAYOUT_GREEDY_REST; i++)
    VECTOR_FREE(workers_context(k->crew, k->attempts[i].worker),
                &k->attempts[i].levels);
  for (uint32_t i = 0; i < workers_count(k->crew); i++)
    if (k->lanes[i].ready)
      layout_greedy_free(&k->lanes[i].g, &k->lanes[i].arena);
}

calm_status layout_greedy_contest(greedy *g, const order *orders,
                                  uint64_t enough, uint32_t threads,
                                  arena *scratch) {
  contest *k;
  ARENA_ARRAY(scratch, k, 1);
  ARENA_ARRAY(scratch, k->lanes, threads);
  k->g = g;
  k->enough = enough;
  k->orders = orders;
  k->winner = CALM_NONE;
  TRY(workers_make(&k->crew, g->l->context, threads));
  const calm_status status = run_contest(k);
  free_lanes(k);
  workers_free(k->crew);
  return status;
}
