/*
 * Layouts in which some pairs may share bytes (layout_relief).  What a
 * placement has to observe is then, for each pair of bodies, a set of open
 * intervals that the difference of their offsets must avoid; chains of such
 * pairs drift downwards, layer by layer, so the search sees them as a whole.
 * Private to the layout room; layout_solve calls it where a problem has
 * reliefs.
 */
#ifndef CALM_LAYOUT_LAYOUT_DIFFERENCES_H
#define CALM_LAYOUT_LAYOUT_DIFFERENCES_H

#include "layout/layout.h"

/* The best placement found within the limits, never worse than first fit by
   size; optimal only if proved.  The method `greedy` or `size` of the options
   places by first fit alone and has the bound that needs no search. */
calm_status layout_differences_solve(layout_result *out,
                                     const layout_problem *p,
                                     const layout_options *options, arena *a,
                                     limits *l);

#endif
