/*
 * First fit, then questions: is there a placement in fewer bytes?  The bound is
 * raised by questions that are refuted, the arena lowered by those that are
 * not.
 */
#include "layout/layout_differences.h"

#include "base/number.h"
#include "layout/layout_disjunctions.h"
#include "layout/layout_first_fit.h"

/* Changes of the order of first fit; nodes of one question on the way. */
enum { FEW_CHANGES = 40, MANY_CHANGES = 3000, QUICK_NODES = 300 };

typedef struct solver {
  const layout_options *options;
  layout_distances d;
  layout_disjunctions *questions;
  layout_placement best;
  uint64_t bound_bytes;
  uint64_t *offsets; /* of an answer */
  limits *l;
} solver;

static uint64_t enough(const solver *s) {
  return number_larger(s->bound_bytes, s->options->target_bytes);
}

static void keep(solver *s) {
  uint64_t arena = 0;
  for (uint32_t b = 0; b < s->d.p->body_count; b++) {
    s->best.offsets[b] = s->offsets[b];
    arena = number_larger(arena, layout_end_of(&s->d, b, s->offsets[b]));
  }
  s->best.arena_bytes = arena;
}

/* Is there one of `bytes`?  What the answer says is kept. */
static calm_status ask(layout_answer *out, solver *s, uint64_t bytes,
                       uint64_t nodes) {
  TRY(layout_disjunctions_ask(out, s->questions, s->offsets, bytes, nodes,
                              s->l));
  if (*out == LAYOUT_YES) keep(s);
  if (*out == LAYOUT_NO) s->bound_bytes = bytes + 1;
  return CALM_OK;
}

/* Halve what lies between bound and arena as long as questions are answered. */
static calm_status narrow(solver *s, uint64_t nodes) {
  uint64_t unknown = s->best.arena_bytes; /* from here on nothing is known */
  while (s->bound_bytes < number_smaller(unknown, s->best.arena_bytes) &&
         s->l->reason == LIMITS_NONE) {
    const uint64_t upper = number_smaller(unknown, s->best.arena_bytes);
    const uint64_t middle = s->bound_bytes + (upper - s->bound_bytes) / 2;
    layout_answer answer;
    TRY(ask(&answer, s, middle, nodes));
    if (answer == LAYOUT_UNKNOWN) unknown = middle;
  }
  return CALM_OK;
}

/* One byte less each time, with all that the limits allow. */
static calm_status descend(solver *s) {
  layout_answer answer = LAYOUT_YES;
  while (answer == LAYOUT_YES && s->best.arena_bytes > enough(s) &&
         s->l->reason == LIMITS_NONE)
    TRY(ask(&answer, s, s->best.arena_bytes - 1, UINT64_MAX));
  return CALM_OK;
}

static calm_status improve(solver *s) {
  TRY(narrow(s, 0));
  if (s->best.arena_bytes > enough(s)) TRY(narrow(s, QUICK_NODES));
  if (s->best.arena_bytes > enough(s)) TRY(descend(s));
  if (s->bound_bytes > s->best.arena_bytes)
    s->bound_bytes = s->best.arena_bytes;
  return CALM_OK;
}

static calm_status check_fixed(const solver *s) {
  const layout_problem *p = s->d.p;
  for (uint32_t b = 0; b < p->body_count; b++)
    for (uint32_t i = s->d.gap_begin[b]; i < s->d.gap_begin[b + 1]; i++) {
      const layout_gap *gap = &s->d.gaps[i];
      if (!p->bodies[b].fixed || !p->bodies[gap->other].fixed) continue;
      const int64_t difference =
          (int64_t)p->bodies[b].offset - (int64_t)p->bodies[gap->other].offset;
      if (difference > gap->after && difference < gap->before)
        return context_fail(s->l->context, CALM_BAD_INPUT,
                            "fixed bodies %u and %u collide", gap->other, b);
    }
  return CALM_OK;
}

static calm_status solve(solver *s, const layout_problem *p, arena *a,
                         arena *scratch) {
  const uint32_t steps = s->options->method == LAYOUT_EXACT  ? MANY_CHANGES
                         : s->options->method == LAYOUT_SIZE ? 0
                                                             : FEW_CHANGES;
  TRY(layout_distances_find(&s->d, p, scratch));
  TRY(check_fixed(s));
  s->bound_bytes = s->d.working_set;
  const layout_ambition ambition = {enough(s), s->options->seed};
  TRY(layout_first_fit(&s->best, &s->d, ambition, steps, a, s->l));
  if (s->options->method != LAYOUT_EXACT ||
      s->best.arena_bytes <= s->bound_bytes)
    return CALM_OK;
  ARENA_ARRAY(scratch, s->offsets, p->body_count);
  TRY(layout_disjunctions_new(&s->questions, &s->d, scratch));
  calm_status status = improve(s);
  layout_disjunctions_free(s->questions);
  return status;
}

calm_status layout_differences_solve(layout_result *out,
                                     const layout_problem *p,
                                     const layout_options *options, arena *a,
                                     limits *l) {
  solver s = {.options = options, .l = l};
  const uint64_t ticks = l->ticks;
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status = solve(&s, p, a, &scratch);
  const uint64_t nodes =
      s.questions ? layout_disjunctions_nodes(s.questions) : 0;
  arena_free(&scratch);
  TRY(status);
  const bool proved = s.best.arena_bytes == s.bound_bytes;
  *out = (layout_result){.outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE,
                         .offsets = s.best.offsets,
                         .arena_bytes = s.best.arena_bytes,
                         .bound_bytes = s.bound_bytes,
                         .nodes = nodes,
                         .ticks = l->ticks - ticks,
                         .stopped = proved ? LIMITS_NONE : l->reason};
  return CALM_OK;
}
