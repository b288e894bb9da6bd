/*
 * Kernel libraries: which scratch buffers an operator asks the runtime for, and
 * which operators may write over an input or share its bytes.  This is a
 * property of the build that runs on the target, not of the model.
 */
#ifndef CALM_MEMORY_MEMORY_KERNELS_H
#define CALM_MEMORY_MEMORY_KERNELS_H

#include "memory/memory.h"

typedef enum memory_library {
  KERNELS_AUTO, /* not said: what every library does */
  KERNELS_REFERENCE,
  KERNELS_PORTABLE,
  KERNELS_CMSIS_NN_C,
  KERNELS_CMSIS_NN_DSP,
  KERNELS_CMSIS_NN_MVE,
  KERNELS_ESP_NN_ANSI
} memory_library;

/* By the name that --kernels has.  CALM_MISUSE with the list of names. */
calm_status memory_library_find(memory_library *out, calm_context *context,
                                const char *name);

/* Add the kinds that the kernels of a library can run in place, at equal sizes.
   Without a name nothing can be relied on. */
void memory_kernels_allow(memory_model *model, memory_library library);

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

/* How an operator of a library asks; NULL: for nothing. */
scratch_function *scratch_find(memory_library library, const graph_op *op);

/* The name of a library whose figures are not known; NULL if they are. */
const char *scratch_unknown_library(memory_library library);

#endif
