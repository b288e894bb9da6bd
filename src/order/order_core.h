/*
 * The order problem as the exact search sees it.  Sizes are divided by their
 * common divisor, buffers without bytes are gone, and of each buffer only those
 * touchers are kept that can be its first or its last one.  Buffers that begin
 * (or die) by the same operators are one group.  Everything lives in the arena
 * it was built in; building is linear in the problem for windows of bounded
 * length.
 */
#ifndef CALM_ORDER_CORE_H
#define CALM_ORDER_CORE_H

#include "order/order.h"

/* Rows of operators, and for each operator the rows that it is in. */
typedef struct order_groups {
  uint32_t count;
  uint64_t *bytes;
  uint32_t *begin, *ops; /* row g: ops[begin[g] .. begin[g + 1]], ascending */
  uint32_t *of_begin, *of;
} order_groups;

/* Operator `op` saves bytes when group `death` dies by it and group `birth`
   has not begun (CALM_NONE: it always begins with op). */
typedef struct order_permission {
  uint32_t op, death, birth;
  uint64_t bytes;
  uint64_t spared; /* of these, workspace */
} order_permission;

/* What a cut through the problem pays for: bytes, live from the time when node
   `birth` is in the set until node `death` is.  Nodes are operators, then
   groups of births, then groups of deaths; CALM_NONE: pinned. */
typedef struct order_span {
  uint64_t bytes;
  uint32_t birth, death;
} order_span;

typedef struct order_core {
  const order_problem *problem;
  uint32_t op_count, words; /* words of a set of operators */
  const uint32_t *pred_begin, *preds, *succ_begin, *succs;
  uint64_t unit;        /* bytes = scaled size * unit */
  uint64_t start_bytes; /* mem of the empty set */
  uint64_t end_bytes;   /* mem of the full set */
  uint64_t fixed_bytes; /* live throughout; part of both */
  uint64_t *born;       /* per operator: what can only begin with it */
  order_groups births;  /* what begins with the first of several */
  uint64_t *spared;     /* per group of births: the most workspace that
                           whoever begins it needs no more */
  bool any_spared;      /* one of these is not 0 */
  bool *alike; /* per group of births: whoever is spared workspace there could
                  do so in place of any other (order_expand.c) */
  order_groups deaths;           /* what dies with the last of one or more */
  uint64_t *workspace;           /* per operator */
  uint64_t *reuse;               /* per operator: its largest permission */
  order_permission *permissions; /* ascending by op */
  uint32_t *permission_begin;    /* per operator */
  uint32_t *reach;      /* per operator: its last successor, or itself */
  uint32_t last_source; /* the last operator without predecessors */
  uint64_t *eventful;   /* operators that free something or have workspace */
  uint64_t *key;        /* per operator: random, for hashing sets */
  bool plain;           /* neither workspace nor permissions */
  uint32_t span_count;  /* for the flow bound */
  order_span *spans;
  uint32_t *span_of; /* buffer -> span, CALM_NONE if it costs nothing */
} order_core;

/* The greatest common divisor of all sizes; 1 if all are 0. */
uint64_t order_core_unit(const order_problem *p);

/* `p` must outlive the core. */
calm_status order_core_build(order_core *out, const order_problem *p,
                             uint64_t unit, uint64_t seed, arena *a);

#endif
