/*
 * The planner of TensorFlow Lite Micro, reproduced to the byte: which offset it
 * gives to each tensor and each scratch buffer of a model, and how large its
 * arena's head becomes, left alone or with the offsets of an offline plan.
 */
#ifndef CALM_MEMORY_MEMORY_TFLM_H
#define CALM_MEMORY_MEMORY_TFLM_H

#include "memory/memory_check.h"
#include "memory/memory_scopes.h"
#include "memory/memory_scratch.h"

enum { TFLM_ALIGN = 16 };

/* One buffer of the head. */
typedef struct tflm_buffer {
  uint64_t bytes;
  memory_span span;
  uint64_t offset; /* UINT64_MAX: to be placed */
} tflm_buffer;

/*
 * Give every buffer an offset and yield the head: those with an offset keep it,
 * the others go by descending size, the later of equal ones first, to the
 * lowest gap among the buffers in use at the same time.  O(k log k) per buffer
 * that meets k others.
 */
calm_status tflm_place(uint64_t *out_head, tflm_buffer *buffers, uint32_t count,
                       calm_context *context);

/* Does the runtime put the tensor into the head when it has this offset
   (UINT64_MAX: none)?  Not constants, not tensors of zero bytes; variables only
   where an offset asks for it. */
bool tflm_places(const graph_tensor *tensor, uint64_t offset);

/* The bytes that the runtime counts for a tensor: elements of 4 bits take a
   byte each.  Not rounded. */
uint64_t tflm_tensor_bytes(const graph_tensor *tensor);

/* A whole model as the runtime will lay it out. */
typedef struct tflm_head {
  uint64_t bytes;
  uint64_t *offsets;         /* per tensor of all graphs, as memory_scopes
                                numbers them; UINT64_MAX: not in the head */
  uint64_t *scratch_offsets; /* per scratch buffer, as memory_scratch numbers */
} tflm_head;

/* What is laid out: offsets[i][t] of tensor t of graph i, UINT64_MAX where the
   runtime decides; offsets NULL: the runtime decides all. */
typedef struct tflm_model {
  const graph *graphs;
  uint32_t count;
  const op_id *const *sequences;
  const uint64_t *const *offsets;
  const memory_scratch *scratch;
} tflm_model;

calm_status tflm_predict(tflm_head *out, const tflm_model *model, arena *a);

/*
 * Judge offsets of all graphs, first those that are given and then those that
 * the runtime adds to them: no two tensors that are in use at one time share
 * bytes, but for a view and its input (kinds in `views` of the memory model), a
 * pair in place (`inplace`), and an opaque operator's own operands (a warning);
 * offsets are aligned; orders are orders.  The arena of the verdict is the head
 * that the runtime will have.  A fault names tensors by id only where they are
 * of the first graph.
 */
calm_status tflm_check(memory_verdict *out, const tflm_model *model,
                       const memory_model *memory, arena *a);

#endif
