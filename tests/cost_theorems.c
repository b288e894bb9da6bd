/* A case is evaluated as it is, and each theorem is tried on it. */
#include <stdarg.h>
#include <stdio.h>

#include "cost_theorems_parts.h"

bool theorem_breaks(trial *t, const char *format, ...) {
  va_list list;
  t->broken = referee_memory(t->arena, 400, 1);
  va_start(list, format);
  vsnprintf(t->broken, 400, format, list);
  va_end(list);
  return true;
}

cost_result theorem_evaluate(const trial *t, const cost_random_case *c,
                             cost_model model) {
  const cost_options options = {
      .model = model, .fanout = COST_FANOUT_LEVEL, .networks = true};
  return cost_check_evaluate(c, options, t->arena);
}

/* The case on a machine all of whose levels can add: there the networks carry
   each word once. */
static cost_result evaluate_adding(const trial *t) {
  cost_random_case c = *t->c;
  const uint32_t n = c.arch.level_count;
  c.arch.levels = referee_memory(t->arena, n, sizeof *c.arch.levels);
  for (uint32_t i = 0; i < n; i++) {
    c.arch.levels[i] = t->c->arch.levels[i];
    c.arch.levels[i].reduction_supported = true;
  }
  return theorem_evaluate(t, &c, COST_EXACT);
}

bool theorem_differs(trial *t, const cost_result *r, const cost_random_case *c,
                     cost_model model, const char *theorem) {
  const cost_result other = theorem_evaluate(t, c, model);
  const char *line = cost_referee_difference(r, &other, c, true, t->arena);
  return line && theorem_breaks(t, "%s: %s", theorem, line);
}

/* ---- Two models ---------------------------------------------------------- */

/* Without windows and without neighbours there is nothing that two iterations
   of a loop do not tell. */
static bool models_differ(trial *t) {
  const accel_layer *l = &t->c->layer;
  if (!accel_nest_is_perfect(&t->c->nest)) return false;
  for (uint32_t k = 0; k < t->c->nest.loop_count; k++)
    if (t->c->nest.loops[k].kind != ACCEL_TEMPORAL) return false;
  for (uint32_t i = 0; i < l->tensor_count; i++) {
    uint32_t seen = 0;
    for (uint32_t k = 0; k < l->tensors[i].rank_count; k++) {
      const accel_rank *r = &l->tensors[i].ranks[k];
      if (r->term_count > 1) return false;
      if (r->term_count && seen >> r->terms[0].dimension & 1) return false;
      if (r->term_count) seen |= UINT32_C(1) << r->terms[0].dimension;
    }
  }
  return theorem_differs(t, &t->result, t->c, COST_TIMELOOP, "models");
}

/* ---- All of them --------------------------------------------------------- */

static bool breaks_any(trial *t) {
  for (uint32_t i = 0; i < t->c->layer.tensor_count; i++)
    if (theorem_words_are_lost(t, i) || theorem_operands_are_missing(t, i))
      return true;
  return theorem_computes_are_wrong(t) || theorem_sums_are_wrong(t) ||
         theorem_too_cheap(t) || theorem_names_matter(t) ||
         theorem_ranks_matter(t) || theorem_tensors_matter(t) ||
         theorem_innermost_order_matters(t) || theorem_splitting_matters(t) ||
         theorem_empty_level_matters(t) || theorem_batches_differ(t) ||
         models_differ(t);
}

const char *cost_theorems_broken(const cost_random_case *c, random_state *r,
                                 arena *a) {
  trial t = {.c = c, .r = r, .arena = a};
  t.result = theorem_evaluate(&t, c, COST_EXACT);
  if (t.result.verdict.fault != COST_VALID) return NULL;
  t.adding = evaluate_adding(&t);
  breaks_any(&t);
  return t.broken;
}
