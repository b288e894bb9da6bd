/*
 * What the judge of plans for TensorFlow Lite Micro needs to know of the entry
 * where tensors are not looked at as a whole: which bytes of a tensor are still
 * wanted when, and whether two tensors have the same bytes where they share an
 * address.  Derived from the graph alone.  Private to the memory room.
 */
#ifndef CALM_MEMORY_MEMORY_TFLM_ROWS_H
#define CALM_MEMORY_MEMORY_TFLM_ROWS_H

#include "kernel/kernel.h"
#include "memory/memory_origin.h"
#include "memory/memory_scopes.h"

/* Bytes [low, high) of a tensor hold what somebody wants at scopes [first,
   last]. */
typedef struct tflm_want {
  int64_t first, last;
  uint64_t low, high;
} tflm_want;

typedef VECTOR(tflm_want) tflm_wants;

/* Of tensor t of the first graph, appended in order; where one ends and another
   goes on they share a scope.  O(readers^2). */
calm_status tflm_find_wants(tflm_wants *out, const graph *g,
                            const memory_scopes *scopes, tensor_id t,
                            calm_context *context);

/* Are `bytes` bytes of `a` from byte `from_a` on those of `b` from `from_b`
   on? */
bool tflm_same_bytes(const memory_origin *a, uint64_t from_a,
                     const memory_origin *b, uint64_t from_b, uint64_t bytes);

/* May the first output of an operator, at `output` bytes, lie over a dying
   tensor at `input`, by the distances of the kernels? */
bool tflm_keeps_distance(kernel_library library, const graph *g, op_id op,
                         tensor_id t, uint64_t input, uint64_t output);

#endif
