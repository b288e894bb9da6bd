/*
 * How the table of kernel libraries (memory_kernels.c) is asked.  Private to
 * the memory room; memory_kernels.h is the door.
 */
#ifndef CALM_MEMORY_MEMORY_SCRATCH_H
#define CALM_MEMORY_MEMORY_SCRATCH_H

#include "memory/memory_kernels.h"

enum { SCRATCH_MOST = 12 };

/* The scratch buffers of one operator. */
typedef struct scratch_request {
  uint64_t bytes[SCRATCH_MOST];
  uint32_t count;
} scratch_request;

/* Fill a request; false if the graph does not say enough. */
typedef bool scratch_function(scratch_request *r, const graph *g,
                              const graph_op *op);

/* NULL: the operator asks for nothing. */
scratch_function *scratch_find(memory_library library, const graph_op *op);

/* The name of a library whose figures are not known; NULL if they are. */
const char *scratch_unknown_library(memory_library library);

#endif
