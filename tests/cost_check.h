/*
 * What the evaluator and the referee answer, side by side.
 */
#ifndef CALM_TESTS_COST_CHECK_H
#define CALM_TESTS_COST_CHECK_H

#include <math.h>
#include <stdlib.h>

#include "cost_referee.h"

/* What the evaluator makes of a nest; everything in it lives in `a`. */
static inline cost_result cost_check_evaluate(const cost_pieces *c,
                                              cost_options options, arena *a) {
  cost_problem problem;
  cost_result out;
  if (cost_problem_init(&problem, &c->arch, &c->layer, &options, a) ||
      cost_result_init(&out, &problem, a) ||
      cost_evaluate(&out, &problem, &c->nest))
    abort();
  return out;
}

/* Are these the same patterns of delivery, and the same words in each; with
   hops, if `hops`? */
static inline bool cost_check_groups(const cost_group *a, uint32_t a_count,
                                     const cost_group *b, uint32_t b_count,
                                     bool hops) {
  if (a_count != b_count) return false;
  for (uint32_t i = 0; i < a_count; i++)
    if (a[i].multicast != b[i].multicast || a[i].scatter != b[i].scatter ||
        a[i].accesses != b[i].accesses ||
        (hops && fabs(a[i].hops - b[i].hops) > 1e-9 * fmax(1, b[i].hops)))
      return false;
  return true;
}

/* How `exact` and the referee differ over a nest, NULL if they do not; with
   hops that nothing depends on, and without, when there is a shorter way to the
   groups. */
static inline const char *cost_check_exact(const cost_pieces *c,
                                           cost_fanout_rule fanout, arena *a) {
  const char *difference = NULL;
  cost_result walked;
  cost_referee(&walked, c, fanout, a);
  for (int hops = 0; hops < 2 && !difference; hops++) {
    const cost_options options = {
        .model = COST_EXACT, .fanout = fanout, .networks = hops == 1};
    const cost_result counted = cost_check_evaluate(c, options, a);
    difference = cost_referee_difference(&counted, &walked, c, hops == 1, a);
  }
  return difference;
}

#endif
