/*
 * How many bytes of spills are still to come at least, whatever order and
 * whatever choice?
 *
 * At each operator that has not run yet some buffers are certain to be needed
 * both before and after it, in every order.  If they do not fit beside it, some
 * of them are off chip there: a point where bytes have to go.  What is off chip
 * now counts as gone (it is paid for), unless somebody certainly brings it back
 * before.  Points add up as far as they cannot mean the same gap of the same
 * buffer.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_BOUND_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_BOUND_H

#include "traffic/traffic_exact_state.h"

/* Where what stays has to fit: beside an operator that runs, or on either side
   of one that may stream. */
typedef enum traffic_place {
  PLACE_BEFORE,
  PLACE_BESIDE,
  PLACE_BEHIND
} traffic_place;

typedef struct traffic_point {
  uint32_t op;
  traffic_place place;
  uint64_t need; /* bytes beside those that stay */
} traffic_point;

typedef struct traffic_bound {
  const traffic_core *core;
  uint64_t unit;         /* divides the size of every buffer */
  traffic_point *points; /* that can matter at all */
  uint32_t point_count;
  uint64_t *always;   /* per point, buffers: live there in any case */
  uint64_t *if_begun; /* per point, buffers: live there if touched by now */
  uint32_t oversize_count; /* buffers larger than the memory: the first ones */
  uint64_t *rewriters; /* per such buffer, operators: it has to leave again */
  uint64_t *shared;    /* per pair of points, buffers whose gap may be the same;
                          NULL: too many points, they do not add up */
  /* of one state */
  uint64_t *begun; /* buffers that were touched */
  uint64_t *twice; /* buffers whose going costs a write for sure */
  uint64_t *there; /* per point, buffers that stay or go */
  uint32_t *open;  /* points where some have to go */
  uint32_t open_count;
} traffic_bound;

/* The core is closed. */
calm_status traffic_bound_build(traffic_bound *out, const traffic_core *core,
                                arena *a);

/* Bytes to come behind a state; *out_ticks grows by the work. */
uint64_t traffic_bound_of(traffic_bound *b, const traffic_sets *sets,
                          uint64_t *out_ticks);

/* The part of it that is due to buffers larger than the memory. */
uint64_t traffic_bound_oversize(const traffic_bound *b,
                                const traffic_sets *sets);

#endif
