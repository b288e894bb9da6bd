/*
 * What the next restart of the search tries: which body goes first, whether
 * sections of many conflicts are preferred, and for how long.
 */
#ifndef CALM_LAYOUT_LAYOUT_RESTART_H
#define CALM_LAYOUT_LAYOUT_RESTART_H

#include "layout/layout_search.h"

/* Score the bodies anew; yields the nodes that the restart may take. */
uint64_t layout_restart_begin(layout_search *s);

#endif
