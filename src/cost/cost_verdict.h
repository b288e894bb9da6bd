/*
 * Why a nest cannot run on the machine.  An invalid nest is a result like any
 * other: the first fault in the order of checks that Timeloop has, with the
 * numbers that do not fit.
 */
#ifndef CALM_COST_COST_VERDICT_H
#define CALM_COST_COST_VERDICT_H

#include <stdint.h>

typedef enum cost_fault {
  COST_VALID,
  COST_FACTORS,         /* a dimension's loops do not make up its bound */
  COST_KEPT_NOWHERE,    /* a tensor is bypassed at every level */
  COST_COMPUTE_COUNT,   /* more multipliers than there are, in all, ... */
  COST_COMPUTE_X,       /* ... by columns, ... */
  COST_COMPUTE_Y,       /* ... by rows */
  COST_CAPACITY,        /* tiles of the tensors kept exceed the level */
  COST_MIN_UTILIZATION, /* or are less than it must hold */
  COST_INSTANCES,       /* more instances than there are, in all, ... */
  COST_MESH_X,          /* ... by columns, ... */
  COST_MESH_Y,          /* ... by rows */
  COST_FANOUT_X,        /* the level's own columns, under COST_FANOUT_LEVEL */
  COST_FANOUT_Y,        /* and its rows */
  COST_VIRTUAL_KEPT,    /* a tensor kept at a level that has no memory */
  COST_TOO_LARGE        /* a count beyond ACCEL_MAX_COUNT */
} cost_fault;

/* `needed` exceeds (utilization: falls below) `available` at a level, for a
   tensor or a dimension: iterations, words, instances, columns or rows. */
typedef struct cost_verdict {
  cost_fault fault;
  uint32_t level;     /* CALM_NONE: at the compute array */
  uint32_t tensor;    /* COST_KEPT_NOWHERE, _VIRTUAL_KEPT; for COST_CAPACITY the
                         one with the largest tile; for _TOO_LARGE the one that
                         is counted; else CALM_NONE */
  uint32_t dimension; /* COST_FACTORS; else CALM_NONE */
  uint64_t needed, available;
  uint64_t tensor_words; /* COST_CAPACITY: the tile of `tensor` */
} cost_verdict;

#endif
