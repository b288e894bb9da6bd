#include "layout/layout_climb.h"

#include <stdlib.h>
#include <string.h>

#include "layout/layout_logarithm.h"
#include "layout/layout_pair.h"

/* ---- Orders -------------------------------------------------------------- */

typedef struct ranked {
  int64_t key;
  uint32_t body;
} ranked;

static int by_key(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->body > b->body) - (a->body < b->body);
}

static void measure_body(const layout_bars *bars, uint32_t b, int64_t *lower,
                         int64_t *upper, climb_facts *f) {
  const layout_problem *p = bars->problem;
  const uint32_t body = bars->body[b];
  *lower = INT64_MAX;
  *upper = INT64_MIN;
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++) {
    const layout_piece *piece = &p->pieces[i];
    if (!layout_piece_counts(piece)) continue;
    if (piece->lower < *lower) *lower = piece->lower;
    if (piece->upper > *upper) *upper = piece->upper;
  }
  uint64_t burden = 0;
  for (uint32_t i = bars->bar_begin[b]; i < bars->bar_begin[b + 1]; i++)
    burden += (uint64_t)(bars->bars[i].before - bars->bars[i].after) >> 8;
  f->size = layout_logarithm((uint64_t)bars->span[b]);
  f->duration = layout_logarithm((uint64_t)*upper - (uint64_t)*lower);
  f->burden = layout_logarithm(burden);
}

/* Equal steps have equal places. */
static void rank_steps(ranked *sorted, uint32_t count, climb_facts *facts,
                       bool late) {
  int64_t place = 0;
  qsort(sorted, count, sizeof *sorted, by_key);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && sorted[i].key != sorted[i - 1].key) place = i;
    if (late)
      facts[sorted[i].body].late = place;
    else
      facts[sorted[i].body].early = place;
  }
}

static calm_status gather_facts(layout_climb *c, arena *a) {
  ranked *starts, *ends;
  const uint32_t count = c->bars->count;
  ARENA_ARRAY(a, c->facts, count);
  ARENA_ARRAY(a, starts, count);
  ARENA_ARRAY(a, ends, count);
  for (uint32_t b = 0; b < count; b++) {
    starts[b].body = ends[b].body = b;
    measure_body(c->bars, b, &starts[b].key, &ends[b].key, &c->facts[b]);
  }
  rank_steps(starts, count, c->facts, false);
  rank_steps(ends, count, c->facts, true);
  return CALM_OK;
}

typedef enum order_kind {
  BY_START,    /* earliest first */
  BY_START_UP, /* latest first */
  BY_END,
  BY_END_UP,
  BY_BURDEN, /* what it bars to others */
  BY_AREA,
  BY_DURATION,
  BY_CLASS,    /* of size, then by start */
  BY_CLASS_UP, /* then latest first */
  ORDER_KINDS
} order_kind;

/* Classes are of a power of two, of eight, or exact. */
static const struct {
  order_kind kind;
  int64_t step;
} listed[] = {
    {BY_START, 1},         {BY_START_UP, 1},       {BY_END, 1},
    {BY_END_UP, 1},        {BY_BURDEN, 1},         {BY_AREA, 1},
    {BY_DURATION, 1},      {BY_CLASS, 1 << 16},    {BY_CLASS_UP, 1 << 16},
    {BY_CLASS, 3 << 16},   {BY_CLASS_UP, 3 << 16}, {BY_CLASS, 1 << 12},
    {BY_CLASS_UP, 1 << 12}};

enum { LISTED = sizeof listed / sizeof *listed };

static int64_t key_of(const climb_facts *f, order_kind kind, int64_t step) {
  const int64_t high = INT64_C(1) << 32;
  switch (kind) {
    case BY_START: return -f->early;
    case BY_START_UP: return f->early;
    case BY_END: return -f->late;
    case BY_END_UP: return f->late;
    case BY_BURDEN: return f->burden;
    case BY_AREA: return f->size + f->duration;
    case BY_DURATION: return f->duration;
    case BY_CLASS: return f->size / step * high - f->early;
    case BY_CLASS_UP: return f->size / step * high + f->early;
    case ORDER_KINDS: break;
  }
  return 0;
}

/* ---- What is kept -------------------------------------------------------- */

static bool is_over(const layout_climb *c) {
  return c->best_arena <= c->enough || limits_spend(c->l, 0);
}

static void keep_best(layout_climb *c, const climb_way *w) {
  const size_t bytes = c->bars->count * sizeof *c->offset;
  if (c->bars->count) memcpy(c->offset, w->fit.offset, bytes);
  if (w->turned) layout_bars_turn_back(c->offset, w->fit.bars);
  const int64_t arena = layout_bars_arena(c->bars, c->offset);
  if (arena >= c->best_arena) return;
  if (c->bars->count) memcpy(c->best, c->offset, bytes);
  c->best_arena = arena;
}

/* A way climbs on from the best of the orders that it was given. */
static void try_keys(layout_climb *c, climb_way *w) {
  layout_fit_sorted(&w->fit, c->keys);
  keep_best(c, w);
  if (w->fit.arena >= w->least) return;
  w->least = w->fit.arena;
  memcpy(w->keys, c->keys, c->bars->count * sizeof *w->keys);
}

static calm_status add_way(layout_climb *c, const layout_bars *bars, arena *a) {
  climb_way *w = &c->ways[c->way_count++];
  w->turned = bars != c->bars;
  w->least = INT64_MAX;
  ARENA_ARRAY(a, w->keys, c->bars->count);
  return layout_fit_make(&w->fit, bars, a, c->l);
}

calm_status layout_climb_make(layout_climb *out, const layout_bars *bars,
                              uint64_t seed, arena *a, limits *l) {
  bool turns = bars->unit > 0;
  *out = (layout_climb){.bars = bars,
                        .l = l,
                        .best_arena = INT64_MAX,
                        .random = random_from_seed(seed)};
  ARENA_ARRAY(a, out->keys, bars->count);
  ARENA_ARRAY(a, out->offset, bars->count);
  ARENA_ARRAY(a, out->best, bars->count);
  TRY(gather_facts(out, a));
  TRY(add_way(out, bars, a));
  for (uint32_t b = 0; b < bars->count; b++)
    turns = turns && bars->fixed[b] < 0;
  if (turns) {
    TRY(layout_bars_turn(&out->turned, bars, a));
    TRY(add_way(out, &out->turned, a));
  }
  for (uint32_t b = 0; b < bars->count; b++) out->keys[b] = bars->span[b];
  try_keys(out, &out->ways[0]);
  return CALM_OK;
}

void layout_climb_orders(layout_climb *c) {
  for (uint32_t w = 1; w < c->way_count && !is_over(c); w++)
    try_keys(c, &c->ways[w]);
  for (uint32_t i = 0; i < LISTED; i++) {
    for (uint32_t b = 0; b < c->bars->count; b++)
      c->keys[b] = key_of(&c->facts[b], listed[i].kind, listed[i].step);
    for (uint32_t w = 0; w < c->way_count; w++) {
      if (is_over(c)) return;
      try_keys(c, &c->ways[w]);
    }
  }
}

/* ---- Climbing ------------------------------------------------------------ */

static uint32_t find_highest(const layout_fit *f) {
  for (uint32_t i = f->first; i < f->bars->count; i++)
    if (f->offset[f->order[i]] + f->bars->span[f->order[i]] == f->arena)
      return f->order[i];
  return CALM_NONE;
}

/* One of the bodies that carry the highest one, or that one itself: each as
   likely as all that are below it. */
static uint32_t draw_carrier(layout_climb *c, const layout_fit *f) {
  uint32_t body = find_highest(f), chosen = body, seen = 1;
  while (body != CALM_NONE) {
    body = layout_fit_support(f, body, random_below(&c->random, 1 << 16));
    if (body == CALM_NONE || f->rank[body] < f->first) break;
    if (random_below(&c->random, ++seen) == 0) chosen = body;
  }
  return chosen;
}

/* Before one of its neighbours, or anywhere. */
static uint32_t draw_place(layout_climb *c, const layout_fit *f,
                           uint32_t body) {
  const layout_bars *b = f->bars;
  const uint32_t count = b->bar_begin[body + 1] - b->bar_begin[body];
  if (count > 0 && random_below(&c->random, 4)) {
    const uint32_t i = b->bar_begin[body] + random_below(&c->random, count);
    const uint32_t rank = f->rank[b->bars[i].other];
    if (rank >= f->first) return rank;
  }
  return f->first + random_below(&c->random, b->count - f->first);
}

static void climb(layout_climb *c, climb_way *w, uint64_t until) {
  layout_fit *f = &w->fit;
  while (c->l->ticks < until && !is_over(c)) {
    const uint32_t body = draw_carrier(c, f);
    if (body == CALM_NONE) return;
    const uint32_t place = draw_place(c, f, body);
    limits_spend(c->l, 2);
    if (place == f->rank[body]) continue;
    if (layout_fit_move(f, body, place, f->arena)) keep_best(c, w);
  }
}

void layout_climb_run(layout_climb *c, uint64_t ticks) {
  const uint64_t start = c->l->ticks;
  for (uint32_t i = 0; i < c->way_count && !is_over(c); i++) {
    climb_way *w = &c->ways[i];
    layout_fit_sorted(&w->fit, w->keys);
    climb(c, w, start + ticks / c->way_count * (i + 1));
  }
}
