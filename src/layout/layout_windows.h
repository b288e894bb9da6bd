/*
 * Bounds from short windows of time.  Where only a few sections are crowded, a
 * window around them is refuted in a few nodes although the whole is hopeless.
 */
#ifndef CALM_LAYOUT_LAYOUT_WINDOWS_H
#define CALM_LAYOUT_LAYOUT_WINDOWS_H

#include "layout/layout_search.h"

/*
 * Raise *bound to a larger arena that every placement needs, as far as windows
 * of growing length, `budget` nodes each, can show it, but not beyond `most`.
 */
calm_status layout_windows_raise(uint64_t *bound, uint64_t *nodes,
                                 const layout_grid *grid, uint64_t most,
                                 uint64_t budget, const layout_options *options,
                                 limits *l);

#endif
