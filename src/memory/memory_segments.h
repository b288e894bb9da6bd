/*
 * What the tensors of a graph are made of, for the order problem: segments of
 * tensors that have bytes of their own, cut where others begin and end that lie
 * in them, and where slices do, so that rows die and come to life one by one.
 * Private to the memory room.
 */
#ifndef CALM_MEMORY_MEMORY_SEGMENTS_H
#define CALM_MEMORY_MEMORY_SEGMENTS_H

#include "memory/memory_alias.h"
#include "memory/memory_storage.h"

typedef struct memory_segment {
  tensor_id base;
  uint64_t bytes; /* rounded where it is all of its base */
} memory_segment;

typedef struct memory_segments {
  memory_segment *list; /* ascending by base and place */
  uint32_t count;
  uint32_t *first, *end; /* tensor -> list[first[t] .. end[t]) */
  /* Operator -> what it reads of its first input, list[read_first[op] ..
     read_end[op]): a slice takes a part. */
  uint32_t *read_first, *read_end;
} memory_segments;

/*
 * Operators that need not do anything, because all they copy is where it
 * belongs, become free operators of `storage`.  Where an operand or an output
 * with reliefs is cut, segments count for less than their bytes, by what the
 * permissions of single segments cannot say: an order problem must not ask for
 * more than any layout.
 */
calm_status memory_segments_find(memory_segments *out, memory_storage *storage,
                                 const graph *g, const memory_model *model,
                                 const uint64_t *workspace, arena *a);

/* The largest segment of a tensor, the first of equal ones; CALM_NONE: it has
   none. */
uint32_t memory_segment_largest(const memory_segments *s, tensor_id t);

#endif
