/*
 * The scratch memory of one evaluator: one nest at a time is measured into it
 * and counted in it.  It belongs to the problem, so that one problem serves one
 * thread; a second thread makes its own.
 */
#ifndef CALM_COST_COST_SCRATCH_H
#define CALM_COST_COST_SCRATCH_H

#include "cost/cost_frame.h"

/* One tensor on its way from flows to counts, per level. */
typedef struct cost_ledger {
  double fanout;   /* of the flow below */
  double total;    /* words that leave an instance into it: multicast once */
  double received; /* words that arrive from it, all instances together */
  double share;    /* words that arrive at an instance from above */
  double peer;     /* words handed on between instances, per instance */
  double part;     /* the share of the tensor that no other instance has */
  bool kept;       /* if not, the last three are 0 in the end */
} cost_ledger;

/* An element of a fan-out: equal keys, equal offsets. */
typedef struct cost_element {
  double key;
  uint32_t column, row;
} cost_element;

typedef struct cost_scratch {
  cost_tables tables;
  cost_frame frame;
  cost_ledger *ledgers; /* per level */
  cost_bin *bins, *more_bins;
  uint32_t bin_count;     /* in bins */
  cost_element *elements; /* of a fan-out that is enumerated */
  cost_excess excess;     /* why a flow was not found */
  arena replay;           /* freed after each nest */
} cost_scratch;

#endif
