/*
 * Scratch of the optimised libraries, for the kinds that they have kernels for.
 * An operator in another type than int8 and int16 runs TFLM's own kernel, which
 * asks for nothing here.
 */
#ifndef CALM_KERNEL_KERNEL_SCRATCH_NN_H
#define CALM_KERNEL_KERNEL_SCRATCH_NN_H

#include "kernel/kernel_scratch.h"

typedef struct scratch_row {
  op_kind kind;
  const char *custom; /* of an opaque kind: its name */
  scratch_function *ask;
} scratch_row;

/* NULL: none of its own. */
const scratch_row *scratch_rows_of(kernel_library library, size_t *count);

/* What the graph does not say, or nobody has read. */
bool scratch_ask_unknown(scratch_request *r, const graph *g,
                         const graph_op *op);

#endif
