/*
 * First fit in several orders.  Sorting by classes of size (powers of 2, of 8,
 * ...) and by start within a class keeps shelves of equal height and is by
 * far the best family on large problems, but no order wins everywhere; each is
 * cheap, so all are tried.  An order is given up as soon as it exceeds the best
 * arena so far.  Only integers decide, so that every machine agrees.
 */
#include "layout/layout_greedy.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "layout/layout_greedy_parts.h"
#include "layout/layout_logarithm.h"
#include "layout/layout_pair.h"

/* ---- First fit ----------------------------------------------------------- */

static int by_after(const void *left, const void *right) {
  const taken *a = left, *b = right;
  if (a->after != b->after) return a->after < b->after ? -1 : 1;
  return (a->before > b->before) - (a->before < b->before);
}

static calm_status push_taken(greedy *g, uint32_t at, taken interval) {
  if (at == g->taken_capacity) {
    calm_context *context = g->l->context;
    void *grown = vector_grown(context, g->taken, &g->taken_capacity,
                               sizeof *g->taken, (uint64_t)at + 1);
    if (!grown) return context_no_memory(context);
    g->taken = grown;
  }
  g->taken[at] = interval;
  return CALM_OK;
}

/* So many are sorted faster than the whole stack is walked along. */
#if CALM_HOSTILE
enum { MANY_TAKEN = 2 };
#else
enum { MANY_TAKEN = 512 };
#endif

static bool are_many(const greedy *g, uint32_t count) {
  return g->wide && count > MANY_TAKEN;
}

/* All offsets above `from` that placed pieces deny to a body, unless they are
   many. */
static calm_status collect_taken(greedy *g, uint32_t *out, uint32_t body,
                                 uint64_t from) {
  const layout_piece *pieces = g->p->pieces;
  *out = 0;
  for (uint32_t i = g->p->piece_begin[body]; i < g->p->piece_begin[body + 1];
       i++) {
    layout_overlap_walk walk =
        layout_overlap_begin(&g->placed, &pieces[i], from);
    for (uint32_t j;
         !are_many(g, *out) && (j = layout_overlap_next(&walk)) != CALM_NONE;) {
      taken t;
      layout_pieces_forbid(&t.after, &t.before, &pieces[i], &pieces[j]);
      t.after += (int64_t)g->offsets[pieces[j].body];
      t.before += (int64_t)g->offsets[pieces[j].body];
      if (t.before > (int64_t)from) TRY(push_taken(g, (*out)++, t));
    }
    limits_spend(g->l, walk.visited);
  }
  return CALM_OK;
}

/* Sorted by where they begin, intervals are stepped over one by one; the first
   that begins at the offset or later ends the search. */
static uint64_t lowest_free(taken *intervals, uint32_t count, uint64_t from,
                            uint64_t align) {
  uint64_t offset = from;
  if (count) qsort(intervals, count, sizeof *intervals, by_after);
  for (uint32_t i = 0; i < count; i++) {
    if (intervals[i].after >= (int64_t)offset) break;
    if (intervals[i].before > (int64_t)offset)
      offset = number_round_up((uint64_t)intervals[i].before, align);
  }
  return offset;
}

static calm_status mark_placed(greedy *g, uint32_t body, uint64_t offset) {
  const layout_piece *pieces = g->p->pieces;
  g->offsets[body] = offset;
  for (uint32_t i = g->p->piece_begin[body]; i < g->p->piece_begin[body + 1];
       i++) {
    layout_overlap_add(&g->placed, i, offset + pieces[i].high);
    TRY(layout_probes_add(&g->probes, &pieces[i], offset));
    if (g->wide) TRY(layout_stack_add(&g->stack, &pieces[i], offset));
  }
  return CALM_OK;
}

static calm_status place_fixed(greedy *g, uint64_t *out) {
  uint64_t arena_bytes = 0;
  layout_overlap_clear(&g->placed);
  layout_probes_clear(&g->probes);
  if (g->wide) layout_stack_clear(&g->stack);
  for (uint32_t b = 0; b < g->p->body_count; b++) {
    const layout_body *body = &g->p->bodies[b];
    g->offsets[b] = 0;
    if (!body->fixed) continue;
    TRY(mark_placed(g, b, body->offset));
    uint64_t end = body->offset + g->facts[b].size;
    if (layout_body_counts(g->p, b) && end > arena_bytes) arena_bytes = end;
  }
  *out = arena_bytes;
  return CALM_OK;
}

/* The first order is finished whatever the limits say, but beyond this much
   work not by searching for gaps. */
enum { LEAST_WORK = 1 << 24 };

/* The lowest gap, or above everything if the search must end. */
static calm_status find_offset(greedy *g, uint64_t *out, uint32_t body,
                               uint64_t top, bool search) {
  uint32_t count;
  uint64_t work = 0;
  *out = number_round_up(top, g->p->bodies[body].align);
  if (!search) return CALM_OK;
  const uint64_t from = layout_probes_bound(&g->probes, body, &work);
  TRY(collect_taken(g, &count, body, from));
  if (are_many(g, count))
    *out = layout_stack_fit(&g->stack, g->p, body, from, &work);
  else
    *out = lowest_free(g->taken, count, from, g->p->bodies[body].align);
  limits_spend(g->l, work);
  return CALM_OK;
}

static calm_status note_level(greedy *g, uint64_t arena_bytes) {
  attempt *t = g->attempt;
  if (t)
    VECTOR_PUSH(g->l->context, &t->levels, (level){arena_bytes, g->l->ticks});
  return CALM_OK;
}

/* The cutoff by now. */
static uint64_t lowered(const greedy *g, uint64_t cutoff) {
  if (!g->attempt) return cutoff;
  return atomic_load_explicit(&g->attempt->to_beat, memory_order_relaxed);
}

/* *out: the arena that the current order needs, or `cutoff` once it is not
   less, or time is up and another order has been finished. */
calm_status layout_greedy_place(greedy *g, uint64_t *out, uint64_t cutoff) {
  uint64_t arena_bytes, start = g->l->ticks;
  TRY(place_fixed(g, &arena_bytes));
  TRY(note_level(g, arena_bytes));
  for (uint32_t i = 0; i < g->movable && arena_bytes < cutoff; i++) {
    uint64_t offset;
    uint32_t body = g->order[i].body;
    const bool stop = limits_spend(g->l, 1);
    if (stop && cutoff <= NUMBER_MAX_BYTES) {
      arena_bytes = cutoff;
      break;
    }
    const bool search = !stop || g->l->ticks - start < LEAST_WORK;
    TRY(find_offset(g, &offset, body, arena_bytes, search));
    uint64_t end = offset + g->facts[body].size;
    TRY(mark_placed(g, body, offset));
    cutoff = lowered(g, cutoff);
    if (end <= arena_bytes) continue;
    arena_bytes = end;
    TRY(note_level(g, arena_bytes));
  }
  *out = arena_bytes < cutoff ? arena_bytes : cutoff;
  return CALM_OK;
}

/* ---- Orders -------------------------------------------------------------- */

static int by_rank(const void *left, const void *right) {
  const rank *a = left, *b = right;
  if (a->first != b->first) return a->first > b->first ? -1 : 1;
  if (a->second != b->second) return a->second < b->second ? -1 : 1;
  return (a->body > b->body) - (a->body < b->body);
}

/* Signed steps in the order of unsigned numbers. */
static uint64_t unsigned_step(int64_t step) {
  return (uint64_t)step ^ UINT64_C(1) << 63;
}

static uint64_t class_of(uint64_t size, const order *o) {
  return (uint64_t)(layout_logarithm(size) + o->phase) / o->step;
}

static rank rank_of(const body_facts *f, uint32_t body, const order *o) {
  uint64_t start = unsigned_step(f->start);
  switch (o->kind) {
    case BY_SIZE_DESCENDING_INDEX: return (rank){f->size, ~body, body};
    case BY_SIZE_AND_START: return (rank){f->size, start, body};
    case BY_SIZE_AND_DURATION: return (rank){f->size, ~f->duration, body};
    case BY_AREA:
      return (rank){
          (uint64_t)(layout_logarithm(f->size) + layout_logarithm(f->duration)),
          start, body};
    case BY_DURATION: return (rank){f->duration, ~f->size, body};
    case BY_START: return (rank){~start, ~f->size, body};
    case BY_CONFLICTS: return (rank){f->conflicts, ~f->size, body};
    case BY_CLASS: return (rank){class_of(f->size, o), start, body};
  }
  return (rank){0, 0, body};
}

void layout_greedy_sort(greedy *g, const order *o) {
  g->movable = 0;
  for (uint32_t b = 0; b < g->p->body_count; b++)
    if (!g->p->bodies[b].fixed && layout_body_counts(g->p, b))
      g->order[g->movable++] = rank_of(&g->facts[b], b, o);
  qsort(g->order, g->movable, sizeof *g->order, by_rank);
}

/* ---- One order ----------------------------------------------------------- */

static body_facts facts_of(const layout_problem *p, uint32_t body) {
  const layout_piece *piece = &p->pieces[p->piece_begin[body]];
  const layout_piece *end = &p->pieces[p->piece_begin[body + 1]];
  if (piece == end) return (body_facts){0};
  int64_t lower = piece->lower, upper = piece->upper;
  for (; piece < end; piece++) {
    if (piece->lower < lower) lower = piece->lower;
    if (piece->upper > upper) upper = piece->upper;
  }
  return (body_facts){.size = layout_body_span(p, body),
                      .duration = (uint64_t)upper - (uint64_t)lower,
                      .start = lower};
}

static int by_step(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* How many of ascending steps are before `step`. */
static uint32_t count_before(const int64_t *steps, uint32_t count,
                             int64_t step) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (steps[middle] < step)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Those that begin before a piece ends, less those that end before it begins.
 */
static calm_status count_conflicts(greedy *g, arena *scratch) {
  const layout_problem *p = g->p;
  int64_t *lowers, *uppers;
  ARENA_ARRAY(scratch, lowers, p->piece_count);
  ARENA_ARRAY(scratch, uppers, p->piece_count);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    lowers[i] = p->pieces[i].lower;
    uppers[i] = p->pieces[i].upper;
  }
  if (p->piece_count == 0) return CALM_OK;
  qsort(lowers, p->piece_count, sizeof *lowers, by_step);
  qsort(uppers, p->piece_count, sizeof *uppers, by_step);
  for (uint32_t i = 0; i < p->piece_count; i++) {
    const layout_piece *piece = &p->pieces[i];
    g->facts[piece->body].conflicts +=
        count_before(lowers, p->piece_count, piece->upper) -
        count_before(uppers, p->piece_count, piece->lower + 1);
  }
  return CALM_OK;
}

calm_status layout_greedy_prepare(greedy *g, const layout_problem *p,
                                  arena *scratch, arena *results, limits *l) {
  *g = (greedy){.p = p, .l = l, .best.arena_bytes = NUMBER_MAX_BYTES + 1};
  ARENA_ARRAY(scratch, g->facts, p->body_count);
  ARENA_ARRAY(scratch, g->order, p->body_count);
  TRY(layout_overlap_make(&g->placed, p, scratch));
  TRY(layout_probes_make(&g->probes, p, &g->placed, scratch));
  g->wide = g->probes.count > 0;
  if (g->wide) TRY(layout_stack_make(&g->stack, p, scratch));
  ARENA_ARRAY(scratch, g->offsets, p->body_count);
  ARENA_ARRAY(results, g->best.offsets, p->body_count);
  for (uint32_t b = 0; b < p->body_count; b++) g->facts[b] = facts_of(p, b);
  return count_conflicts(g, scratch);
}

void layout_greedy_free(greedy *g, arena *scratch) {
  context_reallocate(g->l->context, g->taken,
                     g->taken_capacity * sizeof *g->taken, 0);
  arena_free(scratch);
}

calm_status layout_greedy_try(greedy *g, order o) {
  uint64_t arena_bytes;
  layout_greedy_sort(g, &o);
  TRY(layout_greedy_place(g, &arena_bytes, g->best.arena_bytes));
  if (arena_bytes >= g->best.arena_bytes) return CALM_OK;
  g->best.arena_bytes = arena_bytes;
  if (g->p->body_count)
    memcpy(g->best.offsets, g->offsets, g->p->body_count * sizeof *g->offsets);
  return CALM_OK;
}

/* ---- The best of many ---------------------------------------------------- */

/* Classes by powers of 2, 8, 4, 16 and 3, then the rest. */
static const order listed_orders[] = {
    {BY_CLASS, 1 << 16, 0},       {BY_CLASS, 3 << 16, 0},
    {BY_CLASS, 2 << 16, 0},       {BY_CLASS, 4 << 16, 0},
    {BY_CLASS, 103872, 0},        {BY_SIZE_AND_START, 0, 0},
    {BY_SIZE_AND_DURATION, 0, 0}, {BY_AREA, 0, 0},
    {BY_DURATION, 0, 0},          {BY_START, 0, 0},
    {BY_CONFLICTS, 0, 0}};

enum { LISTED = sizeof listed_orders / sizeof *listed_orders };

/* A random base of 1.2 to 14 and a random phase. */
static order draw_order(random_state *random) {
  uint32_t step = 17240 + random_below(random, 232300);
  return (order){BY_CLASS, step, random_below(random, step)};
}

static bool is_enough(const greedy *g, uint64_t enough) {
  return g->best.arena_bytes <= enough || limits_spend(g->l, 0);
}

/* All orders but the first. */
static void list_orders(order *out, uint64_t seed) {
  random_state random = random_from_seed(seed);
  memcpy(out, listed_orders, sizeof listed_orders);
  for (uint32_t i = LISTED; i < LAYOUT_GREEDY_ORDERS; i++)
    out[i] = draw_order(&random);
}

/* One order after the other is faster where the first took few ticks. */
#if CALM_HOSTILE
enum { LEAST_TICKS = 1 };
#else
enum { LEAST_TICKS = 1 << 16 };
#endif

/* Each lane needs as much scratch memory as there is now. */
static uint32_t choose_threads(const greedy *g, uint32_t asked, uint64_t ticks,
                               const arena *scratch) {
  const uint64_t most = g->l->max_bytes / (arena_bytes(scratch) + 1);
  if (ticks < LEAST_TICKS || most < 3 || g->best.arena_bytes > NUMBER_MAX_BYTES)
    return 1;
  return asked < most - 1 ? asked : (uint32_t)(most - 1);
}

static calm_status try_in_turn(greedy *g, const order *orders, uint32_t count,
                               uint64_t enough) {
  for (uint32_t i = 0; i < count && !is_enough(g, enough); i++)
    TRY(layout_greedy_try(g, orders[i]));
  return CALM_OK;
}

static calm_status try_orders(greedy *g, layout_ambition ambition,
                              arena *scratch) {
  order orders[LAYOUT_GREEDY_ORDERS];
  const uint64_t start = g->l->ticks, enough = ambition.enough;
  list_orders(orders, ambition.seed);
  TRY(layout_greedy_try(g, (order){BY_SIZE_DESCENDING_INDEX, 0, 0}));
  const uint32_t threads =
      choose_threads(g, ambition.threads, g->l->ticks - start, scratch);
  const uint32_t rest = threads > 1 ? LAYOUT_GREEDY_REST : 0;
  const uint32_t alone = LAYOUT_GREEDY_ORDERS - rest;
  TRY(try_in_turn(g, orders, alone, enough));
  if (rest && !is_enough(g, enough))
    TRY(layout_greedy_contest(g, orders + alone, enough, threads, scratch));
  if (g->best.arena_bytes > NUMBER_MAX_BYTES)
    return context_fail(g->l->context, CALM_BAD_INPUT,
                        "no arena of at most 2^62 bytes was found");
  return CALM_OK;
}

calm_status layout_greedy_best(layout_placement *out, const layout_problem *p,
                               layout_ambition ambition, arena *a, limits *l) {
  greedy g;
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status = layout_greedy_prepare(&g, p, &scratch, a, l);
  if (status == CALM_OK) status = try_orders(&g, ambition, &scratch);
  if (status == CALM_OK) *out = g.best;
  layout_greedy_free(&g, &scratch);
  return status;
}

/* The first order of the portfolio, which is always tried. */
calm_status layout_greedy_size(layout_placement *out, const layout_problem *p,
                               arena *a, limits *l) {
  return layout_greedy_best(out, p, (layout_ambition){.enough = UINT64_MAX}, a,
                            l);
}
