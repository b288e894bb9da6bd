/*
 * First fit against gaps: bodies one after the other, each at the lowest offset
 * that those before it leave.  Which order is best is searched by small
 * changes. Private to the layout room.
 */
#ifndef CALM_LAYOUT_LAYOUT_FIRST_FIT_H
#define CALM_LAYOUT_LAYOUT_FIRST_FIT_H

#include "layout/layout_distances.h"
#include "layout/layout_greedy.h"

/*
 * The best of a few orders that suit most problems, and then of `steps` changes
 * of the best one, until an arena of ambition.enough bytes is found or the
 * limits are spent; at least one order is tried in any case.  Fixed bodies come
 * first.  out->offsets are in `a`.
 */
calm_status layout_first_fit(layout_placement *out, const layout_distances *d,
                             layout_ambition ambition, uint32_t steps, arena *a,
                             limits *l);

#endif
