/*
 * Which placed pieces share a step with a given one?  An interval tree over all
 * pieces of a problem, sorted by where they begin, that keeps the latest end
 * below each node.  Logarithmic per placed piece and per answer.
 */
#ifndef CALM_LAYOUT_LAYOUT_OVERLAP_H
#define CALM_LAYOUT_LAYOUT_OVERLAP_H

#include "layout/layout.h"

typedef struct layout_overlap {
  const layout_problem *problem;
  uint32_t *sorted;   /* pieces by lower */
  uint32_t *position; /* piece -> its place in `sorted` */
  int64_t *latest;    /* heap of ends; INT64_MIN: nothing placed below */
  uint32_t leaves;    /* a power of two; leaf i is node leaves + i */
} layout_overlap;

/* A walk over the answers of one question. */
typedef struct layout_overlap_walk {
  const layout_overlap *index;
  int64_t lower;      /* pieces that end later ... */
  uint32_t end;       /* ... among the first so many of `sorted` */
  uint32_t stack[64]; /* nodes still to be visited */
  uint32_t depth;
  uint64_t visited; /* nodes */
} layout_overlap_walk;

calm_status layout_overlap_make(layout_overlap *out, const layout_problem *p,
                                arena *a);

/* Forget all placed pieces. */
void layout_overlap_clear(layout_overlap *index);

void layout_overlap_add(layout_overlap *index, uint32_t piece);

layout_overlap_walk layout_overlap_begin(const layout_overlap *index,
                                         const layout_piece *with);

/* The next placed piece that shares a step, CALM_NONE after the last. */
uint32_t layout_overlap_next(layout_overlap_walk *walk);

#endif
