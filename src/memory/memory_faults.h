/*
 * The lines of a verdict, and the first thing a verdict is about: the order.
 * For the two judges, memory_check.c and memory_tflm_check.c.
 */
#ifndef CALM_MEMORY_MEMORY_FAULTS_H
#define CALM_MEMORY_MEMORY_FAULTS_H

#include "base/text.h"
#include "memory/memory_check.h"

typedef struct memory_faults {
  arena *a; /* of the texts */
  memory_verdict verdict;
} memory_faults;

/* One line about tensors a and b (or CALM_NONE), a fault or a warning; `words`
   is used up.  When the list is full, the remark that there are more. */
calm_status faults_report(memory_faults *list, bool fault, const char *kind,
                          tensor_id a, tensor_id b, text *words);

/* No further fault will be listed. */
bool faults_full(const memory_faults *list);

/* Report whatever keeps `sequence` from being an order of all operators; fill
   step_of (CALM_NONE for an operator that never runs). */
calm_status faults_check_order(memory_faults *list, const graph *g,
                               const op_id *sequence, uint32_t *step_of);

/* The end of a judge: the verdict, or, if it failed, nothing. */
calm_status faults_deliver(memory_verdict *out, memory_faults *list,
                           calm_status status);

#endif
