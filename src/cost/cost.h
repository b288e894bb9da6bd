/*
 * What a loop nest costs on an architecture: counts, cycles and energy, as
 * Timeloop counts them (Parashar et al., ISPASS 2019); docs/cost-model.md
 * states every rule.  Two models: `exact` (every iteration counted, windows
 * continue wherever they do, no links between neighbours) and `timeloop` (what
 * Timeloop prints by default: two iterations of each loop extrapolated, links
 * included). A closed form per tensor and level, some microseconds a nest, with
 * no allocation after cost_problem_init and cost_result_init; links and
 * imperfect nests are replayed, which takes longer and allocates.
 *
 * A mapper, which has tiles before it has nests, takes the steps by themselves:
 * cost_tables.h (tensors as shapes, levels as numbers), cost_frame.h (a nest
 * measured), cost_stream.h (what crosses a boundary), cost_count.h (counts,
 * energy, time).
 */
#ifndef CALM_COST_COST_H
#define CALM_COST_COST_H

#include "accel/accel_nest.h"
#include "base/text.h"
#include "cost/cost_result.h"

typedef enum cost_model { COST_EXACT, COST_TIMELOOP } cost_model;

typedef enum cost_fanout_rule {
  COST_FANOUT_LEVEL,     /* each level's fan-out holds by itself */
  COST_FANOUT_CUMULATIVE /* only the product of it and all outer ones */
} cost_fanout_rule;

typedef struct cost_options {
  cost_model model;
  cost_fanout_rule fanout;
  bool networks; /* fill in what only a report shows: groups and hops even
                    where they cost nothing, busy cycles */
} cost_options;

/* An architecture and a layer made ready: borrowed from the caller, with the
   tables and the scratch memory of the evaluator.  One thread at a time; a
   second thread makes its own. */
typedef struct cost_problem {
  const accel_arch *arch;
  const accel_layer *layer;
  cost_options options;
  calm_context *context;
  struct cost_scratch *scratch; /* cost_scratch.h */
} cost_problem;

/* Make ready.  `a` keeps the tables; arch and layer must outlive them. */
calm_status cost_problem_init(cost_problem *out, const accel_arch *arch,
                              const accel_layer *layer,
                              const cost_options *options, arena *a);

/* Room for the results of a problem, to be used any number of times. */
calm_status cost_result_init(cost_result *out, const cost_problem *p, arena *a);

/* Is the nest valid?  Measures it into the scratch, and no more: what a mapper
   asks before anything is counted.  Cannot fail. */
void cost_judge(cost_verdict *out, const cost_problem *p, const accel_nest *n);

/* Judge and evaluate: O(tensors * levels * loops) but for replays.  An invalid
   nest is a result.  Fails only without memory; then `out` has no figures. */
calm_status cost_evaluate(cost_result *out, const cost_problem *p,
                          const accel_nest *n);

/* The verdict as one line: what, at which level, by how much. */
void cost_verdict_text(text *out, const cost_verdict *v, const cost_problem *p);

#endif
