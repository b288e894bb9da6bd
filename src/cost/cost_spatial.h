/*
 * Which elements of a fan-out need the same words: the histogram of offsets
 * that coincide, and how far a delivery travels over the mesh.
 */
#ifndef CALM_COST_COST_SPATIAL_H
#define CALM_COST_COST_SPATIAL_H

#include "cost/cost_scratch.h"

/* The patterns of delivery of one tensor below one level, ascending by
   multicast, into scratch->bins.  Hops only if the level needs them.  False if
   there are more than the tables provide for: scratch->excess says of what. */
bool cost_spatial_bins(cost_scratch *s, uint32_t tensor, uint32_t level);

/* There are too many patterns: tells scratch->excess; false. */
bool cost_spatial_crowded(cost_scratch *s);

#endif
