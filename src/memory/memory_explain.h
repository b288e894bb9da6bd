/*
 * Why the peak of an order is what it is: which step sets it, who is alive
 * there, whether one operator alone forces it, and which option would lower it.
 */
#ifndef CALM_MEMORY_MEMORY_EXPLAIN_H
#define CALM_MEMORY_MEMORY_EXPLAIN_H

#include "memory/memory.h"

typedef struct memory_remedy {
  const char *text;     /* "--views identity: 0_SPLIT costs nothing" */
  uint64_t floor_bytes; /* floor_bytes below, under the remedy */
  uint64_t peak_bytes;  /* of the same order, under the remedy */
} memory_remedy;

typedef struct memory_explanation {
  op_id op; /* runs at the peak; CALM_NONE in a graph without operators */
  uint32_t step;
  uint64_t peak_bytes;
  tensor_id *alive; /* counted there, largest first */
  uint32_t alive_count;
  uint64_t floor_bytes; /* largest working set of any one operator: no order is
                           below */
  op_id floor_op;       /* whose working set it is; CALM_NONE likewise */
  tensor_id *floor_alive; /* that working set, largest first */
  uint32_t floor_alive_count;
  memory_remedy *remedies; /* single options that lower the floor or the peak,
                              least floor first, then least peak; then
                              combinations that lower them further */
  uint32_t remedy_count;
} memory_explanation;

/* Explain the peak of an order: who is alive, whether one operator alone forces
   it, and which option would lower it. */
calm_status memory_explain(memory_explanation *out, const graph *g,
                           const memory_model *model,
                           const uint64_t *body_arena, const op_id *sequence,
                           arena *a);

#endif
