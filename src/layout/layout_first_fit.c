/*
 * A chain of layers, each of which may begin a little below the one before,
 * wants to be placed from its end: the last lies at the bottom, and each one
 * before it just so far above.  Other parts want their largest body first.  So
 * several orders are tried, and then one body at a time is moved, most often
 * one that sets the arena, to an earlier turn.
 */
#include "layout/layout_first_fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"

/* So many gaps are looked at in the time of a tick. */
enum { GAPS_PER_TICK = 8 };

/* Offsets that a placed body forbids: those between. */
typedef struct barrier {
  int64_t after, before;
} barrier;

typedef struct fitter {
  const layout_distances *d;
  uint32_t *order; /* bodies, fixed ones first */
  uint32_t fixed_count;
  bool *placed;
  uint64_t *offsets;
  barrier *barriers; /* room for those of one body */
  layout_placement *best;
  uint32_t *best_order;
  limits *l;
} fitter;

static uint32_t body_count(const fitter *f) { return f->d->p->body_count; }

/* ---- One order ----------------------------------------------------------- */

/* Barriers of a body, ascending; they are few and nearly in order. */
static uint32_t list_barriers(fitter *f, uint32_t body) {
  uint32_t count = 0;
  for (uint32_t i = f->d->gap_begin[body]; i < f->d->gap_begin[body + 1]; i++) {
    const layout_gap *gap = &f->d->gaps[i];
    if (!f->placed[gap->other]) continue;
    const int64_t there = (int64_t)f->offsets[gap->other];
    const barrier b = {there + gap->after, there + gap->before};
    if (b.before <= 0) continue;
    uint32_t at = count++;
    for (; at && f->barriers[at - 1].after > b.after; at--)
      f->barriers[at] = f->barriers[at - 1];
    f->barriers[at] = b;
  }
  return count;
}

static uint64_t lowest(fitter *f, uint32_t body) {
  const uint64_t align = f->d->p->bodies[body].align;
  const uint32_t count = list_barriers(f, body);
  int64_t offset = 0;
  for (uint32_t i = 0; i < count && f->barriers[i].after < offset; i++)
    if (f->barriers[i].before > offset)
      offset = (int64_t)number_round_up((uint64_t)f->barriers[i].before, align);
  return (uint64_t)offset;
}

static uint64_t fit(fitter *f, const uint32_t *order) {
  uint64_t arena = 0;
  memset(f->placed, 0, body_count(f) * sizeof *f->placed);
  for (uint32_t i = 0; i < body_count(f); i++) {
    const uint32_t body = order[i];
    const layout_body *b = &f->d->p->bodies[body];
    f->offsets[body] = b->fixed ? b->offset : lowest(f, body);
    f->placed[body] = true;
    arena = number_larger(arena, layout_end_of(f->d, body, f->offsets[body]));
    limits_spend(f->l, 1 + (f->d->gap_begin[body + 1] - f->d->gap_begin[body]) /
                               GAPS_PER_TICK);
  }
  return arena;
}

/* True: the order is as good as the best or better, and is now the best. */
static bool try_order(fitter *f, const uint32_t *order) {
  const uint64_t arena = fit(f, order);
  if (arena > f->best->arena_bytes) return false;
  f->best->arena_bytes = arena;
  if (body_count(f) == 0) return true;
  memcpy(f->best->offsets, f->offsets, body_count(f) * sizeof *f->offsets);
  if (order != f->best_order)
    memcpy(f->best_order, order, body_count(f) * sizeof *order);
  return true;
}

/* ---- Orders to begin with ------------------------------------------------ */

typedef struct ranked {
  bool movable;
  int64_t first, second; /* ascending */
  uint32_t body;
} ranked;

static int compare_ranked(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->movable != b->movable) return a->movable ? 1 : -1;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  if (a->second != b->second) return a->second < b->second ? -1 : 1;
  return (a->body > b->body) - (a->body < b->body);
}

typedef struct body_facts {
  int64_t span, first, last; /* steps */
} body_facts;

static body_facts facts_of(const fitter *f, uint32_t body) {
  const layout_problem *p = f->d->p;
  body_facts facts = {(int64_t)f->d->span[body], INT64_MAX, INT64_MIN};
  for (uint32_t i = p->piece_begin[body]; i < p->piece_begin[body + 1]; i++) {
    if (p->pieces[i].lower < facts.first) facts.first = p->pieces[i].lower;
    if (p->pieces[i].upper > facts.last) facts.last = p->pieces[i].upper;
  }
  return facts;
}

enum {
  BY_SIZE,
  BY_LARGEST_STEPS,
  BY_TIME,
  BY_TIME_BACKWARDS,
  BY_END,
  RANKINGS
};

static ranked rank_body(const fitter *f, uint32_t body, int ranking) {
  const body_facts b = facts_of(f, body);
  const bool movable = !f->d->p->bodies[body].fixed;
  switch (ranking) {
    case BY_SIZE: return (ranked){movable, -b.span, b.first, body};
    case BY_LARGEST_STEPS: return (ranked){movable, -b.span, -b.first, body};
    case BY_TIME: return (ranked){movable, b.first, -b.span, body};
    case BY_TIME_BACKWARDS: return (ranked){movable, -b.first, -b.span, body};
    default: return (ranked){movable, -b.last, -b.span, body};
  }
}

static calm_status try_rankings(fitter *f, layout_ambition ambition,
                                arena *scratch) {
  ranked *list;
  ARENA_ARRAY(scratch, list, body_count(f));
  for (int ranking = 0; ranking < RANKINGS; ranking++) {
    if (ranking && (f->best->arena_bytes <= ambition.enough ||
                    f->l->reason != LIMITS_NONE))
      break;
    for (uint32_t b = 0; b < body_count(f); b++)
      list[b] = rank_body(f, b, ranking);
    if (body_count(f)) qsort(list, body_count(f), sizeof *list, compare_ranked);
    for (uint32_t b = 0; b < body_count(f); b++) f->order[b] = list[b].body;
    try_order(f, f->order);
  }
  return CALM_OK;
}

/* ---- Changes ------------------------------------------------------------- */

static void move(uint32_t *order, uint32_t from, uint32_t to) {
  const uint32_t body = order[from];
  for (; from > to; from--) order[from] = order[from - 1];
  for (; from < to; from++) order[from] = order[from + 1];
  order[to] = body;
}

/* A turn of a body that sets the arena, some random turn if none can move. */
static uint32_t pick_top(const fitter *f, random_state *random) {
  uint32_t found = f->fixed_count, count = 0;
  for (uint32_t i = f->fixed_count; i < body_count(f); i++) {
    const uint32_t b = f->best_order[i];
    if (layout_end_of(f->d, b, f->best->offsets[b]) == f->best->arena_bytes &&
        random_below(random, ++count) == 0)
      found = i;
  }
  if (count == 0) found += random_below(random, body_count(f) - f->fixed_count);
  return found;
}

static void change(fitter *f, random_state *random) {
  const uint32_t movable = body_count(f) - f->fixed_count;
  memcpy(f->order, f->best_order, body_count(f) * sizeof *f->order);
  if (random_below(random, 3)) {
    const uint32_t from = pick_top(f, random);
    if (from > f->fixed_count)
      move(f->order, from,
           f->fixed_count + random_below(random, from - f->fixed_count));
    if (random_below(random, 2)) return;
  }
  move(f->order, f->fixed_count + random_below(random, movable),
       f->fixed_count + random_below(random, movable));
}

static void climb(fitter *f, layout_ambition ambition, uint32_t steps) {
  random_state random = random_from_seed(ambition.seed);
  if (body_count(f) < f->fixed_count + 2) return;
  for (uint32_t i = 0; i < steps; i++) {
    if (f->best->arena_bytes <= ambition.enough || f->l->reason != LIMITS_NONE)
      return;
    change(f, &random);
    try_order(f, f->order);
  }
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status prepare(fitter *f, arena *scratch) {
  uint32_t most = 0;
  for (uint32_t b = 0; b < body_count(f); b++) {
    if (f->d->p->bodies[b].fixed) f->fixed_count++;
    if (f->d->gap_begin[b + 1] - f->d->gap_begin[b] > most)
      most = f->d->gap_begin[b + 1] - f->d->gap_begin[b];
  }
  ARENA_ARRAY(scratch, f->order, body_count(f));
  ARENA_ARRAY(scratch, f->best_order, body_count(f));
  ARENA_ARRAY(scratch, f->placed, body_count(f));
  ARENA_ARRAY(scratch, f->offsets, body_count(f));
  ARENA_ARRAY(scratch, f->barriers, most);
  return CALM_OK;
}

static calm_status search(fitter *f, layout_ambition ambition, uint32_t steps,
                          arena *scratch) {
  TRY(prepare(f, scratch));
  TRY(try_rankings(f, ambition, scratch));
  climb(f, ambition, steps);
  return CALM_OK;
}

calm_status layout_first_fit(layout_placement *out, const layout_distances *d,
                             layout_ambition ambition, uint32_t steps, arena *a,
                             limits *l) {
  layout_placement best = {.arena_bytes = UINT64_MAX};
  fitter f = {.d = d, .best = &best, .l = l};
  arena scratch;
  ARENA_ARRAY(a, best.offsets, d->p->body_count);
  arena_init(&scratch, a->context);
  calm_status status = search(&f, ambition, steps, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = best;
  return status;
}
