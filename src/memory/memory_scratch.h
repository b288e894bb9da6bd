/*
 * The scratch of a whole model, operator by operator: by the table of a kernel
 * library, or as a file of the user's tells where the table cannot know.
 */
#ifndef CALM_MEMORY_MEMORY_SCRATCH_H
#define CALM_MEMORY_MEMORY_SCRATCH_H

#include "kernel/kernel_scratch.h"

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
                                 uint32_t count, kernel_library library,
                                 const char *path, arena *a);

/* All scratch of one operator, each buffer rounded up to `unit`. */
calm_status memory_scratch_sum(uint64_t *out, const memory_scratch *scratch,
                               uint32_t number, uint64_t unit,
                               calm_context *context);

#endif
