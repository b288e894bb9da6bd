/*
 * What helps where a level is too small for what it keeps.  A level keeps every
 * tensor that no constraint forbids, which is often more than it is built for,
 * and more than anybody meant.
 */
#ifndef CALM_MAPPER_MAPPER_REMEDY_H
#define CALM_MAPPER_MAPPER_REMEDY_H

#include "base/text.h"
#include "mapper/mapper.h"

/* Adds "; no constraint asks LEVEL to keep ..." and what to do about it, if
   there is something: nothing is added where constraints ask for all that the
   level keeps, or no level further out could have it.  `searches`: this mapper
   can find out by itself what to keep. */
void mapper_remedy_tell(text *out, const mapper_problem *p, uint32_t level,
                        bool searches);

/* "Inputs, Weights and Outputs". */
void mapper_remedy_tell_tensors(text *out, const accel_layer *layer,
                                uint32_t tensors);

#endif
