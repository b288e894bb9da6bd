/*
 * The exact search in parts: rounds of a growing threshold (mapper_exact.c),
 * over all keep sets (mapper_bypass.c), and for the whole front of energy and
 * cycles (mapper_pareto.c).
 */
#ifndef CALM_MAPPER_MAPPER_EXACT_H
#define CALM_MAPPER_MAPPER_EXACT_H

#include "mapper/mapper_search.h"

/* Labels of the last round, in which costs are rounded, at most. */
enum { MAPPER_MOST_LAST_STATES = 300000, MAPPER_MOST_LAST_TICKS = 1 << 25 };

/* Labels of a race, at most. */
enum { MAPPER_MOST_RACE_STATES = 200000 };

/* What is proved so far. */
typedef struct mapper_progress {
  double bound;
  uint64_t states, rounds;
  bool infeasible;
  bool quiet; /* nothing of this to the log: one search of many */
} mapper_progress;

/* What is known before a search with given keep sets. */
typedef struct mapper_given {
  const mapper_rules *rules;
  double most_cycles;  /* nests with more are of no use */
  double most_value;   /* nor those that cost as much */
  bool quiet;          /* one search of many: nothing to the log */
  bool race;           /* only nests as fast as the first bound, if it is quick
                          to tell */
  bool fastest;        /* ... whatever energy they need */
  mapper_front *front; /* PARETO: where nests go */
} mapper_given;

/* One round, with a line to the log. */
calm_status mapper_exact_round(mapper_progress *p, mapper_search *m,
                               double threshold);

/* The threshold of a round, if nothing costs less than `pruned`; `root` is what
   was known before all rounds. */
double mapper_exact_raise(double root, double pruned);

/* Why there is no proof. */
const char *mapper_exact_reason(const limits *l);

/* Is there a nest? */
static inline bool mapper_exact_found(const mapper_result *r) {
  return r->outcome == CALM_OPTIMAL || r->outcome == CALM_FEASIBLE;
}

/* With must_keep == may_keep.  CALM_LIMIT also if nothing costs less than
   given->most_value: then that is the bound. */
calm_status mapper_exact_given(mapper_result *out, const mapper_problem *p,
                               const mapper_given *given, limits *l, arena *a);

/* Sets r->cost by r->nest. */
calm_status mapper_exact_evaluate(mapper_result *r, const mapper_problem *p,
                                  arena *a);

/* Whatever may be kept; what is found is costed. */
calm_status mapper_exact_any(mapper_result *out, const mapper_problem *p,
                             const mapper_given *given, limits *l, arena *a);

/* Over all keep sets between must_keep and may_keep. */
calm_status mapper_bypass_search(mapper_result *out, const mapper_problem *p,
                                 const mapper_given *given, limits *l,
                                 arena *a);

/* Enters all nests of given keep sets that none beats into m->front. */
calm_status mapper_pareto_deepen(mapper_progress *p, mapper_search *m);

/* The whole front. */
calm_status mapper_pareto(mapper_result *out, const mapper_problem *p,
                          const mapper_rules *rules, limits *l, arena *a);

/* Factors that need not divide their bounds. */
calm_status mapper_imperfect(mapper_result *out, const mapper_problem *p,
                             const mapper_rules *rules, limits *l, arena *a);

#endif
