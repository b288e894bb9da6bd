/* Why CoSA's program has no solution, with the least change that would help. */
#ifndef CALM_MAPPER_MAPPER_COSA_REASON_H
#define CALM_MAPPER_MAPPER_COSA_REASON_H

#include "base/limits.h"
#include "mapper/mapper_cosa_model.h"

/* The reason is in `a`. */
calm_status mapper_cosa_tell_infeasible(const char **out,
                                        const mapper_cosa_model *m, limits *l,
                                        arena *a);

#endif
