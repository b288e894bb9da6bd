/*
 * How many words of a tensor a layer looks at.  Fewer than the tensor has where
 * a window skips some, as a stride beyond the filter does.
 */
#ifndef CALM_COST_COST_USED_H
#define CALM_COST_COST_USED_H

#include "accel/accel_layer.h"

/* Never more than the iterations look at, and exact if no rank sums more than
   two dimensions and none moves two ranks.  At most ACCEL_MAX_COUNT. */
uint64_t cost_used_words(const accel_layer *layer, uint32_t tensor);

#endif
