/*
 * The faults that show only when a valid nest is counted: numbers beyond what a
 * double holds exactly, and more to go through than calm agrees to.  All others
 * are found by cost_judge (cost.h).
 */
#ifndef CALM_COST_COST_JUDGE_H
#define CALM_COST_COST_JUDGE_H

#include "cost/cost_scratch.h"

/* The nest is not valid: COST_TOO_LARGE.  `needed` may be infinite; tensor and
   level may be CALM_NONE. */
void cost_refuse(cost_result *r, uint32_t tensor, uint32_t level,
                 double needed);

/* The nest has no figures, for this reason. */
void cost_stop(cost_result *r, uint32_t tensor, uint32_t level,
               const cost_excess *excess);

#endif
