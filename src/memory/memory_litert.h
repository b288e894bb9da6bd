/*
 * The planner of TensorFlow Lite (LiteRT) for the CPU, reproduced to the byte:
 * where it puts each tensor of a graph that runs in a given order, and how
 * large its arena becomes.  It takes no advice, so this is all that an order
 * can do for it.  Temporaries of kernels are not known here: without a delegate
 * and with reference kernels most have none.  Quadratic at worst, like the
 * runtime's own.
 */
#ifndef CALM_MEMORY_MEMORY_LITERT_H
#define CALM_MEMORY_MEMORY_LITERT_H

#include "memory/memory.h"

typedef struct litert_arena {
  uint64_t bytes;
  uint64_t *offsets;         /* per tensor; UINT64_MAX: not in the arena */
  uint64_t persistent_bytes; /* the other arena, which holds variables */
  op_id corrupts; /* an operator that the runtime lets overwrite what another
                     one still reads: outputs will be wrong; CALM_NONE */
} litert_arena;

/* Texts and tensors that nobody makes are in no arena. */
calm_status litert_predict(litert_arena *out, const graph *g,
                           const op_id *sequence, arena *a);

#endif
