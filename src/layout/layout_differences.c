/*
 * The driver where pairs may share bytes: checks and bars, first fit and what
 * climbing makes of it, bounds that need no branching, and then questions to
 * the search, as in layout_exact.c: the bound first, then arenas between it and
 * the best one, with budgets that grow from round to round.
 */
#include "layout/layout_differences.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "layout/layout_climb.h"
#include "layout/layout_decide.h"

typedef struct solver {
  const layout_problem *p;
  const layout_options *options;
  limits *l;
  arena scratch;
  layout_bars bars;
  layout_steps steps;
  layout_climb climb;
  layout_decide decide;
  int64_t bound;
} solver;

/* ---- Arenas that can be -------------------------------------------------- */

/* The least arena above `arena_bytes` in which some body ends at the top. */
static int64_t next_arena(const layout_bars *b, int64_t arena_bytes) {
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < b->count; i++) {
    const int64_t from = arena_bytes + 1 - b->span[i];
    int64_t end = b->span[i];
    if (b->fixed[i] >= 0)
      end += b->fixed[i];
    else if (from > 0)
      end += layout_round_up(from, b->align[i]);
    if (end > arena_bytes && end < least) least = end;
  }
  return least;
}

/* The largest one that is at most `arena_bytes`. */
static int64_t last_arena(const layout_bars *b, int64_t arena_bytes) {
  int64_t most = -1;
  for (uint32_t i = 0; i < b->count; i++) {
    const int64_t room = arena_bytes - b->span[i];
    int64_t end = b->span[i];
    if (b->fixed[i] >= 0)
      end += b->fixed[i];
    else if (room >= 0)
      end += layout_round_down(room, b->align[i]);
    if (end <= arena_bytes && end > most) most = end;
  }
  return most;
}

/* ---- Bounds -------------------------------------------------------------- */

static bool is_done(const solver *s) {
  const int64_t best = s->climb.best_arena;
  return best <= s->bound || best <= s->climb.enough ||
         s->l->reason != LIMITS_NONE;
}

static void raise_bound(solver *s, int64_t bound) {
  if (bound > s->climb.best_arena) bound = s->climb.best_arena;
  if (bound > s->bound) s->bound = bound;
  if (s->bound > s->climb.enough) s->climb.enough = s->bound;
}

/* Bisection between what is refuted and what is not, by conclusions alone. */
static calm_status conclude_bound(solver *s) {
  int64_t low = s->bound - 1,
          high = last_arena(&s->bars, s->climb.best_arena - 1);
  while (low < high && !limits_spend(s->l, 0)) {
    bool refuted;
    const int64_t middle =
        last_arena(&s->bars, high - (int64_t)((uint64_t)(high - low) / 2));
    if (middle <= low) break;
    TRY(layout_decide_refutes(&refuted, &s->decide, middle));
    if (refuted) {
      low = middle;
      raise_bound(s, next_arena(&s->bars, middle));
    } else {
      high = last_arena(&s->bars, middle - 1);
    }
  }
  return CALM_OK;
}

/* ---- Questions ----------------------------------------------------------- */

static void report(const solver *s) {
  context_log(s->l->context, CALM_LOG_PROGRESS,
              "layout: arena %" PRId64 ", bound %" PRId64 ", %" PRIu64 " nodes",
              s->climb.best_arena, s->bound, s->decide.nodes);
}

static void take_placement(solver *s) {
  const int64_t *low = s->decide.reach.low;
  const int64_t arena_bytes = layout_bars_arena(&s->bars, low);
  if (arena_bytes >= s->climb.best_arena) return;
  memcpy(s->climb.best, low, s->bars.count * sizeof *low);
  s->climb.best_arena = arena_bytes;
  report(s);
}

static calm_status ask(layout_answer *answer, solver *s, int64_t arena_bytes,
                       uint64_t ticks) {
  s->decide.guide = s->climb.best;
  TRY(layout_decide_fits(answer, &s->decide, arena_bytes, ticks));
  if (*answer == LAYOUT_FITS) take_placement(s);
  if (*answer == LAYOUT_FITS_NOT)
    raise_bound(s, next_arena(&s->bars, arena_bytes));
  return CALM_OK;
}

/* Half way between bound and best, a quarter, an eighth, at last the bound. */
static calm_status ask_ladder(solver *s, uint64_t ticks) {
  int64_t gap = s->climb.best_arena - 1 - s->bound;
  while (gap > 0 && !is_done(s)) {
    layout_answer answer;
    gap /= 2;
    TRY(ask(&answer, s, last_arena(&s->bars, s->bound + gap), ticks));
    if (answer != LAYOUT_UNDECIDED) gap = s->climb.best_arena - 1 - s->bound;
  }
  return CALM_OK;
}

static bool is_memory_spent(const solver *s) {
  return limits_memory(s->l, calm_context_bytes(s->l->context));
}

static calm_status run_rounds(solver *s) {
  uint64_t ticks = 50000 + 5 * (uint64_t)s->bars.bar_begin[s->bars.count];
  for (uint32_t round = 0; !is_done(s) && !is_memory_spent(s); round++) {
    layout_answer answer;
    layout_climb_run(&s->climb, ticks);
    if (is_done(s)) break;
    TRY(ask(&answer, s, s->bound, ticks));
    if (!is_done(s)) TRY(ask_ladder(s, ticks / 2));
    if (round < 40) ticks *= 2;
  }
  return CALM_OK;
}

/* ---- The whole ----------------------------------------------------------- */

/* About what climbing may take with the method `greedy`. */
enum { TICKS_OF_GREEDY = 15000 };

static calm_status improve(solver *s) {
  if (s->options->method == LAYOUT_SIZE || is_done(s)) return CALM_OK;
  layout_climb_orders(&s->climb);
  TRY(layout_decide_make(&s->decide, &s->bars, &s->steps, &s->scratch, s->l));
  if (!is_done(s)) TRY(conclude_bound(s));
  if (!is_done(s)) layout_climb_run(&s->climb, TICKS_OF_GREEDY);
  if (s->options->method == LAYOUT_GREEDY || is_done(s)) return CALM_OK;
  return run_rounds(s);
}

static calm_status solve(solver *s) {
  TRY(layout_problem_check(s->p, &s->scratch));
  TRY(layout_bars_make(&s->bars, s->p, &s->scratch));
  TRY(layout_steps_make(&s->steps, &s->bars, &s->scratch));
  TRY(layout_climb_make(&s->climb, &s->bars, s->options->seed, &s->scratch,
                        s->l));
  const uint64_t enough =
      number_smaller(s->options->target_bytes, NUMBER_MAX_BYTES);
  s->climb.enough = (int64_t)enough;
  raise_bound(s, layout_steps_bound(&s->steps, &s->bars));
  return improve(s);
}

/* Bodies without bytes lie at their fixed offsets, or at 0. */
static calm_status list_offsets(uint64_t **out, const solver *s, arena *a) {
  uint64_t *offsets;
  ARENA_ARRAY(a, offsets, s->p->body_count);
  for (uint32_t b = 0; b < s->p->body_count; b++)
    if (s->p->bodies[b].fixed) offsets[b] = s->p->bodies[b].offset;
  for (uint32_t b = 0; b < s->bars.count; b++)
    offsets[s->bars.body[b]] = (uint64_t)s->climb.best[b];
  *out = offsets;
  return CALM_OK;
}

static calm_status conclude(layout_result *out, const solver *s, uint64_t ticks,
                            arena *a) {
  uint64_t *offsets = NULL;
  TRY(list_offsets(&offsets, s, a));
  const bool proved = s->climb.best_arena == s->bound;
  *out = (layout_result){.outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE,
                         .offsets = offsets,
                         .arena_bytes = (uint64_t)s->climb.best_arena,
                         .bound_bytes = (uint64_t)s->bound,
                         .nodes = s->decide.nodes,
                         .ticks = s->l->ticks - ticks,
                         .stopped = proved ? LIMITS_NONE : s->l->reason};
  return CALM_OK;
}

calm_status layout_differences_solve(layout_result *out,
                                     const layout_problem *p,
                                     const layout_options *options, arena *a,
                                     limits *l) {
  const uint64_t ticks = l->ticks;
  solver s = {.p = p, .options = options, .l = l};
  arena_init(&s.scratch, l->context);
  calm_status status = solve(&s);
  if (status == CALM_OK) status = conclude(out, &s, ticks, a);
  layout_decide_free(&s.decide);
  arena_free(&s.scratch);
  return status;
}
