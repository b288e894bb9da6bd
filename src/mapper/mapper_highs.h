/*
 * The one door to HiGHS (Huangfu, Hall, Mathematical Programming Computation
 * 2018), which solves mixed-integer programs.  Its shared library is looked for
 * at run time: calm neither links it nor needs its header, and nothing but the
 * mapper `cosa` asks for it.  HiGHS takes its memory from malloc.
 */
#ifndef CALM_MAPPER_MAPPER_HIGHS_H
#define CALM_MAPPER_MAPPER_HIGHS_H

#include "base/limits.h"
#include "mapper/mapper_mip.h"

typedef struct mapper_highs_answer {
  calm_outcome outcome;
  double *values;   /* per column; NULL: there is no solution */
  double objective; /* of the values */
  double bound;     /* no solution has less */
} mapper_highs_answer;

/*
 * Minimise, on one thread, so that the same program has the same answer
 * everywhere.  Ticks are the solver's looks at the limits, a thousand each.
 * CALM_LIMIT if they were reached without a solution.  CALM_INTERNAL if the
 * library cannot be had, with the remedy, or if it fails.
 */
calm_status mapper_highs_solve(mapper_highs_answer *out, const mapper_mip *m,
                               limits *l, arena *a);

/* Can the library be had?  CALM_INTERNAL, with the remedy, if not. */
calm_status mapper_highs_find(calm_context *context);

#endif
