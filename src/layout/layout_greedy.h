/*
 * Placement one body after the other, each at the lowest offset that is free:
 * first fit.  What differs is the order.  Fixed bodies come first always.
 */
#ifndef CALM_LAYOUT_LAYOUT_GREEDY_H
#define CALM_LAYOUT_LAYOUT_GREEDY_H

#include "layout/layout_problem.h"

/* A placement of all bodies. */
typedef struct layout_placement {
  uint64_t *offsets; /* per body */
  uint64_t arena_bytes;
} layout_placement;

/*
 * As TensorFlow Lite Micro's greedy planner: descending size, equal sizes by
 * descending index.  `p` is tidy; out->offsets are in `a`.  CALM_BAD_INPUT if
 * the arena would exceed NUMBER_MAX_BYTES.
 */
calm_status layout_greedy_size(layout_placement *out, const layout_problem *p,
                               arena *a, limits *l);

/* How long to go on. */
typedef struct layout_ambition {
  uint64_t enough;  /* an arena of at most this many bytes ends it */
  uint64_t seed;    /* of the random orders */
  uint32_t threads; /* that try orders at once; changes nothing but time */
} layout_ambition;

/* The best of that order and many others, until the limits are spent. */
calm_status layout_greedy_best(layout_placement *out, const layout_problem *p,
                               layout_ambition ambition, arena *a, limits *l);

#endif
