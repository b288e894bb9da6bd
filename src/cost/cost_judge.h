/*
 * Whether a nest can run on the machine.  The checks and their order are
 * Timeloop's, so that a nest which it rejects is rejected for the same reason;
 * what calm asks beyond that is asked last.
 */
#ifndef CALM_COST_COST_JUDGE_H
#define CALM_COST_COST_JUDGE_H

#include "cost/cost_scratch.h"

/* Measures the nest into the scratch, and judges it. */
void cost_judge_nest(cost_verdict *out, const cost_problem *p,
                     const accel_nest *n);

#endif
