/*
 * Bounds from short windows of time.  Where only a few sections are crowded, a
 * window around them is refuted in a few nodes although the whole is hopeless.
 */
#ifndef CALM_LAYOUT_LAYOUT_WINDOWS_H
#define CALM_LAYOUT_LAYOUT_WINDOWS_H

#include "layout/layout_search.h"

typedef struct layout_windows {
  const layout_grid *grid;
  const layout_options *options;
  limits *l;
  uint64_t bound;  /* bytes; what is known, and then what was found */
  uint64_t most;   /* a larger bound is of no use */
  uint64_t budget; /* nodes per window and question */
  uint64_t nodes;  /* spent */
} layout_windows;

/* Raise w->bound as far as windows of growing length can show it. */
calm_status layout_windows_raise(layout_windows *w);

#endif
