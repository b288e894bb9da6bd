/*
 * Why a nest cannot run on the machine.  An invalid nest is a result like any
 * other: the first fault in the order of checks that Timeloop has, with the
 * numbers that do not fit.
 */
#ifndef CALM_COST_COST_VERDICT_H
#define CALM_COST_COST_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cost_fault {
  COST_VALID,
#define FAULT(id, name, sentence) id,
#include "cost/cost_faults.def"
#undef FAULT
} cost_fault;

/* "capacity"; NULL for COST_VALID. */
const char *cost_fault_name(cost_fault fault);

/* Is it calm that gives up?  The machine may well run the nest. */
static inline bool cost_fault_is_limit(cost_fault fault) {
  return fault >= COST_LIMIT_STEPS;
}

/* A fault that shows only as a nest is counted. */
typedef struct cost_excess {
  cost_fault fault;
  double needed, available;
} cost_excess;

/* `needed` exceeds (utilization: falls below) `available` at a level, for a
   tensor or a dimension: iterations, words, instances, columns or rows. */
typedef struct cost_verdict {
  cost_fault fault;
  uint32_t level;     /* CALM_NONE: at the compute array */
  uint32_t tensor;    /* COST_KEPT_NOWHERE, _VIRTUAL_KEPT; for COST_CAPACITY the
                         one with the largest tile; for _TOO_LARGE and
                         limits the one that is counted; else CALM_NONE */
  uint32_t dimension; /* COST_FACTORS; else CALM_NONE */
  uint64_t needed, available;
  uint64_t tensor_words; /* COST_CAPACITY: the tile of `tensor` */
} cost_verdict;

#endif
