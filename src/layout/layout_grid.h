/*
 * A problem cut into sections of time and granules of bytes, as the exact
 * search sees it.  Sections are the steps that matter: a step whose pieces are
 * all alive at a neighbouring step too is left out.  Granules are the largest
 * unit in which some best placement can be written.
 */
#ifndef CALM_LAYOUT_LAYOUT_GRID_H
#define CALM_LAYOUT_LAYOUT_GRID_H

#include "layout/layout_problem.h"

/* Granules of one piece, counted from its body's offset. */
typedef struct layout_span {
  int64_t low, high;
} layout_span;

/* A body in a section: spans[span_begin .. span_end], disjoint, ascending. */
typedef struct layout_cell {
  uint32_t body, section;
  uint32_t span_begin, span_end;
} layout_cell;

typedef struct layout_grid {
  const layout_problem *problem; /* tidy */
  uint64_t granule;              /* bytes; 0 if there is no piece */
  uint32_t section_count;
  uint64_t cell_count;
  layout_cell *cells;   /* by body, then section */
  uint64_t *cell_begin; /* per body and one more */
  layout_span *spans;   /* one per piece of the problem */
  int64_t *align;       /* per body, granules */
  uint64_t *end_bytes;  /* per body: from its offset to its last byte */
  uint64_t *padding;    /* per section: bytes by which the topmost piece may
                           reach over the arena's end, being rounded up */
} layout_grid;

/* What the grid would take, to be compared with a memory limit first. */
calm_status layout_grid_measure(uint64_t *cells, const layout_problem *p,
                                calm_context *context);

calm_status layout_grid_make(layout_grid *out, const layout_problem *p,
                             arena *a);

/* The least arena above `bytes` that some placement can have. */
uint64_t layout_grid_next_arena(const layout_grid *grid, uint64_t bytes);

#endif
