/*
 * What a placement has to observe where some pairs may share bytes: for each
 * pair of bodies that meet, the open intervals that the difference of their
 * offsets must avoid.  Ends are what alignment allows at all, so every one of
 * them is a difference that can occur.  Private to the layout room.
 */
#ifndef CALM_LAYOUT_LAYOUT_DISTANCES_H
#define CALM_LAYOUT_LAYOUT_DISTANCES_H

#include "layout/layout.h"

/* Seen from one body: its offset less that of `other` is not between. */
typedef struct layout_gap {
  uint32_t other;
  int64_t after, before; /* both may be taken */
} layout_gap;

typedef struct layout_distances {
  const layout_problem *p;
  uint64_t *span;      /* per body: its highest byte, from its offset */
  uint32_t *gap_begin; /* body b: gaps[gap_begin[b] .. gap_begin[b + 1]],
                          ascending by other and place; each pair from both
                          sides */
  layout_gap *gaps;
  uint64_t working_set; /* no placement needs less: bytes in use at a step, less
                           what reliefs can save there at most */
} layout_distances;

/* Where a body at an offset ends; 0 for one that needs no bytes. */
static inline uint64_t layout_end_of(const layout_distances *d, uint32_t body,
                                     uint64_t offset) {
  return d->span[body] ? offset + d->span[body] : 0;
}

/* CALM_BAD_INPUT if a number is beyond NUMBER_MAX_BYTES. */
calm_status layout_distances_find(layout_distances *out,
                                  const layout_problem *p, arena *a);

#endif
