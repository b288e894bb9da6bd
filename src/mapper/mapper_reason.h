/*
 * Why no nest fits: a set of capacities, fan-outs and constraints that cannot
 * hold together but could if any one of them were left out, as one line with
 * numbers, places, and the least change that would help.
 */
#ifndef CALM_MAPPER_MAPPER_REASON_H
#define CALM_MAPPER_MAPPER_REASON_H

#include "mapper/mapper.h"

/* To be asked when a search has shown that there is none.  The line is in `a`.
   If what to keep is searched too, the reason is one that holds for every
   choice. */
calm_status mapper_reason(const char **out, const mapper_problem *p, arena *a);

#endif
