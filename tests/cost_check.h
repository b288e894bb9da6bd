/*
 * The evaluator and the referee, side by side.
 */
#ifndef CALM_TESTS_COST_CHECK_H
#define CALM_TESTS_COST_CHECK_H

#include <stdlib.h>

#include "cost_referee.h"

/* What the evaluator makes of a nest; everything in it lives in `a`. */
static inline cost_result cost_check_evaluate(const accel_arch *arch,
                                              const accel_layer *layer,
                                              const accel_nest *nest,
                                              cost_options options, arena *a) {
  cost_problem problem;
  cost_result out;
  if (cost_problem_init(&problem, arch, layer, &options, a) ||
      cost_result_init(&out, &problem, a) ||
      cost_evaluate(&out, &problem, nest))
    abort();
  return out;
}

/* How `exact` and the referee differ over a nest, NULL if they do not; with
   hops that nothing depends on, and without, when there is a shorter way to the
   groups. */
static inline const char *cost_check_exact(const accel_arch *arch,
                                           const accel_layer *layer,
                                           const accel_nest *nest,
                                           cost_fanout_rule fanout, arena *a) {
  const char *difference = NULL;
  cost_result walked;
  cost_referee(&walked, arch, layer, nest, fanout, a);
  for (int hops = 0; hops < 2 && !difference; hops++) {
    const cost_options options = {
        .model = COST_EXACT, .fanout = fanout, .networks = hops == 1};
    const cost_result counted =
        cost_check_evaluate(arch, layer, nest, options, a);
    difference =
        cost_referee_difference(&counted, &walked, arch, layer, hops == 1, a);
  }
  return difference;
}

#endif
