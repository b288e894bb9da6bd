/*
 * The front of the room: checks, then the method that was asked for.
 */
#include "layout/layout.h"

#include "layout/layout_exact.h"

layout_options layout_options_default(void) {
  return (layout_options){.method = LAYOUT_EXACT,
                          .seed = 1,
                          .all_valleys = true,
                          .memory = true,
                          .decompose = true,
                          .windows = true};
}

static calm_status place(layout_placement *best, uint64_t *bound,
                         uint64_t *nodes, const layout_problem *tidy,
                         const layout_options *options, arena *a, limits *l) {
  uint64_t enough =
      *bound > options->target_bytes ? *bound : options->target_bytes;
  if (options->method == LAYOUT_SIZE)
    return layout_greedy_size(best, tidy, a, l);
  TRY(layout_greedy_best(best, tidy, enough, options->seed, a, l));
  if (options->method == LAYOUT_EXACT && best->arena_bytes > enough)
    return layout_exact_improve(best, bound, nodes, tidy, options, l);
  return CALM_OK;
}

static calm_status solve(layout_result *out, const layout_problem *p,
                         const layout_options *options, arena *scratch,
                         arena *a, limits *l) {
  layout_problem tidy;
  layout_placement best;
  uint64_t bound, nodes = 0, ticks = l->ticks;
  TRY(layout_problem_tidy(&tidy, p, scratch));
  TRY(layout_bound_aligned(&bound, &tidy, l->context));
  TRY(place(&best, &bound, &nodes, &tidy, options, a, l));
  *out = (layout_result){
      .outcome = best.arena_bytes == bound ? CALM_OPTIMAL : CALM_FEASIBLE,
      .offsets = best.offsets,
      .arena_bytes = best.arena_bytes,
      .bound_bytes = bound,
      .nodes = nodes,
      .ticks = l->ticks - ticks,
      .stopped = best.arena_bytes == bound ? LIMITS_NONE : l->reason};
  return CALM_OK;
}

calm_status layout_solve(layout_result *out, const layout_problem *p,
                         const layout_options *options, arena *a, limits *l) {
  arena scratch;
  arena_init(&scratch, l->context);
  calm_status status = solve(out, p, options, &scratch, a, l);
  arena_free(&scratch);
  return status;
}
