/*
 * The proof of a plan, byte by byte: every kernel's reads and writes, in the
 * order in which it makes them (kernel_run), on an arena whose bytes know which
 * element of which tensor they hold.  A read that finds something else is a
 * fault.  It knows nothing of distances, aliases, lives and bodies.
 */
#ifndef CALM_MEMORY_MEMORY_BYTES_H
#define CALM_MEMORY_MEMORY_BYTES_H

#include "memory/memory_tflm.h"

typedef struct bytes_fault {
  bool found;
  uint32_t step;     /* of the entry's order, at which a byte is read */
  tensor_id tensor;  /* that should have been there */
  uint64_t byte;     /* of it */
  tensor_id instead; /* whose bytes were there; CALM_NONE: nobody's */
} bytes_fault;

/*
 * Run the entry graph of a plan: `offsets` per tensor, UINT64_MAX for what lies
 * elsewhere; the second run begins with the arena as the first left it, but for
 * graph inputs.  Scratch buffers are overwritten at their operators, bodies
 * write all they have.  Kernels of copies (slice, concat, reshape, pad) hand on
 * what they find.  Bytes of a tensor nobody reads may hold anything.
 */
calm_status memory_bytes_run(bytes_fault *out, const tflm_model *model,
                             const tflm_head *head, kernel_library library,
                             calm_context *context);

#endif
