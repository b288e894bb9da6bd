/*
 * Which inputs an operator's first output may lie over, if they die there, and
 * how far below them it must then begin: what the kernels say (kernel_overlap)
 * in terms of tensors.  The order problem counts on what it saves, the layout
 * problem has it as pairs of pieces.  Private to the memory room.
 */
#ifndef CALM_MEMORY_MEMORY_RELIEF_H
#define CALM_MEMORY_MEMORY_RELIEF_H

#include "memory/memory.h"

enum { RELIEFS_MOST = 4 }; /* of one operator */

typedef struct memory_relief {
  tensor_id input; /* an operand with bytes to be placed */
  int64_t distance;
  uint64_t saved; /* bytes that they share at most, if all of it dies */
} memory_relief;

/*
 * None without `overlap`, and none for operators that run bodies.  An operand
 * in several slots has the largest of its distances, and none if one is not
 * safe.  Together they save no more than the one that saves most: of several
 * that might, this one alone is told.  O(operands^2).
 */
uint32_t memory_reliefs_of(memory_relief *out, const graph *g,
                           const memory_model *model, op_id op);

/* What sizes share at most, in bytes. */
uint64_t memory_relief_saving(uint64_t input, uint64_t output,
                              int64_t distance);

#endif
