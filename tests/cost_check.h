/*
 * The evaluator and the referee, side by side.
 */
#ifndef CALM_TESTS_COST_CHECK_H
#define CALM_TESTS_COST_CHECK_H

#include <stdlib.h>

#include "cost_referee.h"

/* What the evaluator makes of a nest; everything in it lives in `a`. */
static inline cost_result cost_check_evaluate(
    const accel_arch *arch, const accel_layer *layer, const accel_nest *nest,
    cost_model model, cost_fanout_rule fanout, arena *a) {
  const cost_options options = {model, fanout, true};
  cost_problem problem;
  cost_result out;
  if (cost_problem_init(&problem, arch, layer, &options, a) ||
      cost_result_init(&out, &problem, a) ||
      cost_evaluate(&out, &problem, nest))
    abort();
  return out;
}

/* How `exact` and the referee differ over a nest, NULL if they do not. */
static inline const char *cost_check_exact(const accel_arch *arch,
                                           const accel_layer *layer,
                                           const accel_nest *nest,
                                           cost_fanout_rule fanout, arena *a) {
  cost_result walked;
  const cost_result counted =
      cost_check_evaluate(arch, layer, nest, COST_EXACT, fanout, a);
  cost_referee(&walked, arch, layer, nest, fanout, a);
  return cost_referee_difference(&counted, &walked, arch, layer, a);
}

#endif
