/*
 * Which of many rectangles of bytes and steps share any?  Reports every such
 * pair once, in the order of the steps at which they meet.  O(log n) per
 * rectangle and per pair.  For the two judges of plans.
 */
#ifndef CALM_MEMORY_MEMORY_OVERLAP_H
#define CALM_MEMORY_MEMORY_OVERLAP_H

#include "memory/memory_check.h"

typedef struct overlap_item {
  uint64_t low, high;   /* bytes, high exclusive and beyond low */
  uint32_t first, last; /* steps, inclusive */
  tensor_id tensor;     /* whose it is; CALM_NONE for a workspace */
  op_id op;             /* of a workspace */
} overlap_item;

/* Told of two items that meet; a's place is not above b's.  Set *stop to hear
   of no more. */
typedef calm_status overlap_judge(void *payload, const overlap_item *a,
                                  const overlap_item *b, bool *stop);

/* The items are sorted in place, by their lowest byte. */
calm_status overlap_find(overlap_item *items, uint32_t count,
                         overlap_judge *judge, void *payload, arena *scratch);

#endif
