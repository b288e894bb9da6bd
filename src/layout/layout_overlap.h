/*
 * Which placed pieces share a step with a given one, and reach above a certain
 * byte?  An interval tree over all pieces of a problem, sorted by where they
 * begin, that keeps the latest end and the highest byte below each node.
 * Logarithmic per placed piece, and per answer if only steps or only bytes
 * decide.
 */
#ifndef CALM_LAYOUT_LAYOUT_OVERLAP_H
#define CALM_LAYOUT_LAYOUT_OVERLAP_H

#include "layout/layout.h"

typedef struct layout_overlap {
  const layout_problem *problem;
  uint32_t *sorted;   /* pieces by lower */
  uint32_t *position; /* piece -> its place in `sorted` */
  int64_t *latest;    /* heap of ends; INT64_MIN: nothing placed below */
  uint64_t *highest;  /* heap of the bytes where placed pieces end */
  uint32_t leaves;    /* a power of two; leaf i is node leaves + i */
} layout_overlap;

/* A walk over the answers of one question. */
typedef struct layout_overlap_walk {
  const layout_overlap *index;
  int64_t lower;      /* pieces that end later ... */
  uint32_t end;       /* ... among the first so many of `sorted` ... */
  uint64_t above;     /* ... and reach above this byte */
  uint32_t stack[64]; /* nodes still to be visited */
  uint32_t depth;
  uint64_t visited; /* nodes */
} layout_overlap_walk;

calm_status layout_overlap_make(layout_overlap *out, const layout_problem *p,
                                arena *a);

/* Forget all placed pieces. */
void layout_overlap_clear(layout_overlap *index);

/* The piece is placed and ends at byte `high` of the arena, exclusive. */
void layout_overlap_add(layout_overlap *index, uint32_t piece, uint64_t high);

layout_overlap_walk layout_overlap_begin(const layout_overlap *index,
                                         const layout_piece *with,
                                         uint64_t above);

/* The next placed piece that shares a step and ends above, CALM_NONE after the
   last. */
uint32_t layout_overlap_next(layout_overlap_walk *walk);

#endif
