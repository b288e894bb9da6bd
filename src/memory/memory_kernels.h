/*
 * Kernel libraries: which scratch buffers an operator asks the runtime for, and
 * which operators may write over an input or share its bytes.  This is a
 * property of the build that runs on the target, not of the model; what a table
 * cannot know can be told in a file.
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

/* Scratch buffers of the operators of all graphs of a model.  Operator op of
   graph i is number op_begin[i] + op; its buffers are
   bytes[begin[number] .. begin[number + 1]], in the order in which they are
   asked for, not rounded. */
typedef struct memory_scratch {
  uint32_t *op_begin;
  uint32_t *begin;
  uint64_t *bytes;
} memory_scratch;

/*
 * What the operators ask for: the workspace that the graph gives them, else
 * what the library's table says, but for operators that the file `path` (NULL:
 * none) names.  A library or an operator whose scratch is not known is a
 * warning.  A file that cannot be read is CALM_IO, a line that makes no sense
 * CALM_BAD_INPUT with "PATH:LINE:COLUMN".
 */
calm_status memory_scratch_build(memory_scratch *out, const graph *graphs,
                                 uint32_t count, memory_library library,
                                 const char *path, arena *a);

/* All scratch of one operator, each buffer rounded up to `unit`. */
calm_status memory_scratch_sum(uint64_t *out, const memory_scratch *scratch,
                               uint32_t number, uint64_t unit,
                               calm_context *context);

#endif
