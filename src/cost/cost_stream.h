/*
 * What crosses the boundary below one level, by the closed form: for the
 * evaluator, which has measured a nest, and for the mappers, which have the
 * tile and the loops above it.
 */
#ifndef CALM_COST_COST_STREAM_H
#define CALM_COST_COST_STREAM_H

#include "cost/cost_replay.h"
#include "cost/cost_scratch.h"

/*
 * Words of one tensor delivered to one place that holds a tile of `words` words
 * with these extents while `count` perfect temporal loops above it, innermost
 * first, run from their beginning to their end.
 */
double cost_delivered(const cost_shape *s, const double *extents, double words,
                      const cost_step *steps, uint32_t count,
                      cost_visits visits);

/* The groups, fan-out and links of a tensor below a level of the perfect nest
   in s->frame.  False: s->excess says why there are none. */
bool cost_stream_closed(cost_flow *out, cost_scratch *s, uint32_t tensor,
                        uint32_t level, cost_visits visits);

/* Those of all levels, out[level * tensors].  Returns the innermost level that
   has none, or CALM_NONE. */
uint32_t cost_streams_closed(cost_flow *out, cost_scratch *s, uint32_t tensor,
                             cost_visits visits);

/* Can a neighbour ever hand on what another needs next?  False: no; links need
   not be replayed then. */
bool cost_stream_may_link(const cost_scratch *s, uint32_t tensor,
                          uint32_t level);

#endif
