/*
 * What one search works on: consecutive sections of a grid with the parts of
 * the bodies that lie in them, renumbered.  The whole time line is one strip, a
 * window of it another.  A strip that does not fit proves that the whole does
 * not.
 */
#ifndef CALM_LAYOUT_LAYOUT_STRIP_H
#define CALM_LAYOUT_LAYOUT_STRIP_H

#include "layout/layout_grid.h"

typedef struct strip_cell {
  uint32_t body, section;
  uint32_t span_begin, span_end;
  int64_t low, high, size; /* of all its spans */
} strip_cell;

typedef struct strip_body {
  uint32_t body;                 /* in the problem */
  uint32_t cell_begin, cell_end; /* sections ascending */
  uint32_t first, last;          /* sections */
  uint32_t twin;      /* the body before it that is its equal, or CALM_NONE */
  bool box;           /* one size, from its offset on, without a gap in time */
  int64_t align;      /* granules */
  uint64_t end_bytes; /* from its offset, also outside the strip */
  int64_t total;      /* granules times sections */
  int64_t size;       /* granules from its offset to its end in the strip */
} strip_body;

/* Granules that a fixed body holds in a section. */
typedef struct strip_wall {
  uint32_t section;
  int64_t low, high;
} strip_wall;

/* A body that is alive throughout a part of the strip and was taken out. */
typedef struct strip_lid {
  uint32_t body; /* in the problem */
  uint32_t first, last;
} strip_lid;

typedef struct layout_strip {
  const layout_grid *grid;
  uint32_t section_count, body_count, cell_count;
  uint32_t wall_count, lid_count;
  strip_body *bodies;
  strip_cell *cells;      /* by body */
  uint32_t *member_begin; /* per section and one more: counts of cells before */
  strip_wall *walls;
  strip_lid *lids;
  uint64_t *padding;   /* bytes per section, as in the grid */
  uint64_t *lid_bytes; /* per section: of bodies taken out */
} layout_strip;

/* The strip of sections first .. end (exclusive). */
calm_status layout_strip_make(layout_strip *out, const layout_grid *grid,
                              uint32_t first, uint32_t end, arena *a);

#endif
