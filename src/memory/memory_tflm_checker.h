/*
 * What the judge of plans for TensorFlow Lite Micro knows of a model before it
 * judges anything: tensors and scopes by number, which tensor is a view of
 * which, what the bytes of the entry's tensors are.  Everything lies in
 * `scratch`, but for `wants`.  Private to the memory room.
 */
#ifndef CALM_MEMORY_MEMORY_TFLM_CHECKER_H
#define CALM_MEMORY_MEMORY_TFLM_CHECKER_H

#include "memory/memory_faults.h"
#include "memory/memory_tflm.h"
#include "memory/memory_tflm_rows.h"

/* A tensor by its number among all. */
typedef struct tflm_located {
  uint32_t graph;
  tensor_id tensor;
} tflm_located;

typedef struct tflm_checker {
  const tflm_model *model;
  const memory_model *memory;
  arena scratch;
  memory_scopes scopes;
  tflm_head head;
  tflm_located *where; /* number -> tensor */
  uint32_t *storage; /* number -> the tensor that it is a view of, or itself */
  uint32_t *op_at;   /* scope -> number of the operator that begins there */
  memory_origin *origins; /* of the entry's tensors, if rows are looked at */
  tflm_wants wants;
  int64_t scope_count;
  uint32_t additions; /* in place, which only rewriting asks for */
  memory_faults faults;
} tflm_checker;

/* Once `scopes` are built: where, storage, op_at, scope_count and origins.
   O(tensors + operators + scopes), and what tracing rows takes. */
calm_status tflm_checker_prepare(tflm_checker *c);

#endif
