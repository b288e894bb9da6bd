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
  tensor_id tensor;  /* that should have been there; CALM_NONE: scratch of the
                        operator */
  uint64_t byte;     /* of it */
  tensor_id instead; /* whose bytes were there; CALM_NONE: nobody's */
} bytes_fault;

/*
 * Run the entry graph of a model with its head as predicted; where variables
 * lie in it, twice, on what the first run left.  Scratch buffers and bodies
 * write all they have, before and after their operator.  Bytes that nobody
 * reads may be anything.
 */
calm_status memory_bytes_run(bytes_fault *out, const tflm_model *model,
                             const tflm_head *head, kernel_library library,
                             calm_context *context);

#endif
