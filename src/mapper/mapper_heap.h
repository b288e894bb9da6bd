/*
 * A queue of numbers, each with a key: the least key comes first, of equal keys
 * the largest number.
 */
#ifndef CALM_MAPPER_MAPPER_HEAP_H
#define CALM_MAPPER_MAPPER_HEAP_H

#include "base/vector.h"

typedef struct mapper_entry {
  double key;
  uint32_t number;
} mapper_entry;

typedef VECTOR(mapper_entry) mapper_heap;

calm_status mapper_heap_push(mapper_heap *h, double key, uint32_t number,
                             calm_context *context);

/* Not of an empty one. */
mapper_entry mapper_heap_pop(mapper_heap *h);

#endif
