/*
 * The front of the room: checks, then the method that was asked for.
 */
#include "layout/layout.h"

#include "layout/layout_differences.h"
#include "layout/layout_exact.h"

layout_options layout_options_default(void) {
  return (layout_options){.method = LAYOUT_EXACT,
                          .seed = 1,
                          .threads = 1,
                          .all_valleys = true,
                          .memory = true,
                          .decompose = true,
                          .windows = true};
}

static calm_status place(layout_knowledge *k, const layout_problem *tidy,
                         const layout_options *options, arena *a, limits *l) {
  layout_ambition ambition = {k->bound_bytes, options->seed, options->threads};
  if (options->target_bytes > ambition.enough)
    ambition.enough = options->target_bytes;
  if (options->method == LAYOUT_SIZE)
    return layout_greedy_size(&k->best, tidy, a, l);
  TRY(layout_greedy_best(&k->best, tidy, ambition, a, l));
  if (options->method == LAYOUT_EXACT && k->best.arena_bytes > ambition.enough)
    return layout_exact_improve(k, tidy, options, l);
  return CALM_OK;
}

static calm_status solve(layout_knowledge *k, const layout_problem *p,
                         const layout_options *options, arena *a, limits *l) {
  layout_problem tidy;
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status = layout_problem_tidy(&tidy, p, &scratch);
  if (status == CALM_OK)
    status = layout_bound_aligned(&k->bound_bytes, &tidy, l->context);
  if (status == CALM_OK) status = place(k, &tidy, options, a, l);
  arena_free(&scratch);
  return status;
}

calm_status layout_solve(layout_result *out, const layout_problem *p,
                         const layout_options *options, arena *a, limits *l) {
  layout_knowledge k = {0};
  uint64_t ticks = l->ticks;
  if (p->relief_count) return layout_differences_solve(out, p, options, a, l);
  TRY(solve(&k, p, options, a, l));
  bool proved = k.best.arena_bytes == k.bound_bytes;
  *out = (layout_result){.outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE,
                         .offsets = k.best.offsets,
                         .arena_bytes = k.best.arena_bytes,
                         .bound_bytes = k.bound_bytes,
                         .nodes = k.nodes,
                         .ticks = l->ticks - ticks,
                         .stopped = proved ? LIMITS_NONE : l->reason};
  return CALM_OK;
}
