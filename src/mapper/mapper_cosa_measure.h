/* The terms of a nest, for those who have its program already. */
#ifndef CALM_MAPPER_MAPPER_COSA_MEASURE_H
#define CALM_MAPPER_MAPPER_COSA_MEASURE_H

#include "mapper/mapper_cosa_program.h"

/* `a` is for scratch. */
calm_status mapper_cosa_measure_program(mapper_cosa_terms *out,
                                        const mapper_cosa_program *p,
                                        const accel_nest *n, arena *a);

#endif
