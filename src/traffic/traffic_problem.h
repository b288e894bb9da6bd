/*
 * A traffic problem in one sequence on one memory: the touches in the order of
 * time, in whole pages where there are pages, and what each step needs by
 * itself.  Account and Belady's rule begin with it; the judge
 * (traffic_check.c) does not.  Private to the traffic room.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_PROBLEM_H
#define CALM_TRAFFIC_TRAFFIC_PROBLEM_H

#include "traffic/traffic.h"

/* One touch of a buffer.  Those of buffer b are visits[touch_begin[b] ..
   touch_begin[b + 1]], as in order->touch, but ascending by step. */
typedef struct traffic_visit {
  uint32_t buffer, step;
  uint32_t entry;     /* of order->touch, traffic_problem.writes, kept_bytes */
  bool first, last;   /* of its buffer */
  bool writes;        /* in this sequence: the first one of what is no input
                         always does */
  bool writes_output; /* the last one that writes into an output */
} traffic_visit;

typedef struct traffic_run {
  const traffic_problem *p;
  uint64_t memory_bytes; /* of whole pages */
  uint64_t *bytes;       /* per buffer, of whole pages */
  traffic_visit *visits;
  uint32_t *step_begin, *step_visits; /* step s: its visits are
                                         step_visits[step_begin[s] .. [s+1]] */
  uint64_t *need_bytes; /* per step: its buffers and workspace, less reuse */
} traffic_run;

/* Everything is taken from the arena.  CALM_BAD_INPUT if whole pages are more
   than NUMBER_MAX_BYTES together.  O(touches x log touches of a buffer). */
calm_status traffic_run_build(traffic_run *out, const traffic_problem *p,
                              const uint32_t *sequence,
                              const traffic_memory *memory, arena *a);

/* Does the operator of this step need more than there is? */
static inline bool traffic_run_streams(const traffic_run *r, uint32_t step) {
  return r->need_bytes[step] > r->memory_bytes;
}

#endif
