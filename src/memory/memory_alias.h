/*
 * Tensors that lie at fixed places in others: rows cut from a picture, strips
 * of a concat that are made where they belong, other shapes of the same bytes.
 * Which kinds may do that is said by the memory model's column of views.
 */
#ifndef CALM_MEMORY_MEMORY_ALIAS_H
#define CALM_MEMORY_MEMORY_ALIAS_H

#include "memory/memory.h"

/* Per tensor. */
typedef struct memory_alias {
  tensor_id base; /* itself, or the tensor in whose bytes it lies */
  uint64_t place; /* the byte of `base` at which it begins */
} memory_alias;

/*
 * A slice whose part is contiguous is a view of its input; an operand of a
 * concat whose parts are contiguous lies in the output, if it is made there by
 * somebody: not if it is itself part of a longer tensor, for then its maker
 * would write over its neighbours.  A place is a multiple of the element's
 * size.  Nothing that must have bytes of its own is aliased.
 */
calm_status memory_alias_find(memory_alias **out, const graph *g,
                              const memory_model *model, arena *a);

/* Does the model have such views, other than of all of a tensor? */
bool memory_alias_asked(const memory_model *model);

/* The bytes [*low, *high) of an operand that an operator reads: all of them,
   but for a slice from the first to the last of its part. */
void memory_read_bytes(uint64_t *low, uint64_t *high, const graph *g, op_id op,
                       uint32_t slot);

#endif
