/*
 * Where the bytes of a tensor come from, after all.  What copies hand on is
 * byte by byte what somebody computed before: a row that a slice takes out, a
 * strip of a concat, the inner part of a padded picture.  Two tensors may share
 * bytes at one time only if these come from the same place.
 */
#ifndef CALM_MEMORY_MEMORY_ORIGIN_H
#define CALM_MEMORY_MEMORY_ORIGIN_H

#include "graph/graph.h"

/* From byte `begin` on, up to the next run: the bytes of `tensor` from `from`
   on. */
typedef struct origin_run {
  uint64_t begin;
  tensor_id tensor;
  uint64_t from;
} origin_run;

typedef struct memory_origin {
  origin_run *runs; /* ascending; the first begins at 0 */
  uint32_t count;
} memory_origin;

/* Of each tensor.  Only copies of which the graph says enough are looked
   through: slices, pads, concats, other shapes; all else is computed. */
calm_status memory_origin_trace(memory_origin **out, const graph *g,
                                const op_id *sequence, arena *a);

#endif
