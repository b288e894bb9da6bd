/*
 * Which scratch buffers the operators of a kernel library ask the runtime for.
 */
#ifndef CALM_KERNEL_KERNEL_SCRATCH_H
#define CALM_KERNEL_KERNEL_SCRATCH_H

#include "kernel/kernel.h"

/* The runtime refuses a kernel that asks for more buffers. */
enum { SCRATCH_MOST = 12 };

/* The scratch buffers of one operator. */
typedef struct scratch_request {
  uint64_t bytes[SCRATCH_MOST];
  uint32_t count;
} scratch_request;

/* Fill a request; false if the graph does not say enough. */
typedef bool scratch_function(scratch_request *r, const graph *g,
                              const graph_op *op);

/* How an operator of a library asks; NULL: for nothing.  Of `portable` what the
   most demanding of the libraries asks for. */
scratch_function *scratch_find(kernel_library library, const graph_op *op);

#endif
