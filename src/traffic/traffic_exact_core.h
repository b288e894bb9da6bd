/*
 * A traffic problem as the search reads it: every relation as rows of bits.
 * Only buffers with a gap take part, since nothing is to be decided about the
 * others; here they are numbered anew, the largest first.  Everything lies in
 * the arena it was built in.
 */
#ifndef CALM_TRAFFIC_TRAFFIC_EXACT_CORE_H
#define CALM_TRAFFIC_TRAFFIC_EXACT_CORE_H

#include "base/bits.h"
#include "traffic/traffic.h"

typedef struct traffic_core {
  const traffic_problem *problem;
  uint64_t capacity; /* bytes on chip */
  uint32_t op_count, op_words;
  uint32_t buffer_count, buffer_words;
  uint32_t *name;  /* per buffer: its number in the problem */
  uint64_t *bytes; /* per buffer */
  uint64_t *need;  /* per operator: its buffers and workspace, reuse apart */
  uint64_t *preds; /* per operator, operators; these alone say what an order is,
                      and may demand more than the problem */
  uint64_t *before, *after;     /* per operator, those that certainly run so;
                                   traffic_core_close */
  uint64_t *uses, *writes;      /* per operator, buffers */
  uint64_t *touchers, *writers; /* per buffer, operators */
  uint64_t *inputs, *outputs;   /* sets of buffers */
  uint64_t *reuse_sole;  /* per reuse: who else touches its input; everybody, if
                            it never dies */
  uint64_t *reuse_fresh; /* per reuse: who touches its output; nobody may have
                            run */
} traffic_core;

calm_status traffic_core_build(traffic_core *out, const traffic_problem *p,
                               uint64_t capacity, arena *a);

/* Demand this order of all operators but the loose ones (NULL: none is). */
void traffic_core_hold(traffic_core *core, const uint32_t *sequence,
                       const uint64_t *loose);

/* Fill before and after.  `sequence` is any order that keeps to preds. */
calm_status traffic_core_close(traffic_core *core, const uint32_t *sequence,
                               arena *a);

/* What operator u needs on chip when it runs after the set `done`. */
uint64_t traffic_core_need(const traffic_core *core, uint32_t u,
                           const uint64_t *done);

/* Buffers that the set `done` has touched and others will touch again. */
void traffic_core_live(const traffic_core *core, uint64_t *live,
                       const uint64_t *done);

/* Does operator u, which runs after a set, write a buffer?  Who touches first
   what is no input does in any case. */
bool traffic_core_writes(const traffic_core *core, uint32_t u, uint32_t b,
                         const uint64_t *before);

/* Once the last of the set `done` has written a buffer: would going off chip
   cost a write?  The last state of an output is written in any case. */
bool traffic_core_spills(const traffic_core *core, uint32_t b,
                         const uint64_t *done);

/* A row of operators, of buffers. */
static inline uint64_t *traffic_core_ops(const traffic_core *core,
                                         uint64_t *rows, uint32_t i) {
  return rows + (size_t)i * core->op_words;
}

static inline uint64_t *traffic_core_buffers(const traffic_core *core,
                                             uint64_t *rows, uint32_t i) {
  return rows + (size_t)i * core->buffer_words;
}

#endif
