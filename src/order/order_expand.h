/*
 * The steps that lead on from a down-set.  A step runs a set of operators at
 * once and comes to a larger down-set; the steps returned are few, yet whenever
 * any order completes the state within tau, one of them can be completed, too
 * (the argument is in order_expand.c).  The cost follows the operators near the
 * state, those that could run before memory exceeds tau, not the size of the
 * problem.
 */
#ifndef CALM_ORDER_EXPAND_H
#define CALM_ORDER_EXPAND_H

#include "order/order_core.h"

typedef struct order_rules {
  bool blocks, commit;
} order_rules;

/*
 * A cause names a step, so that its operators can be found again from the state
 * it left: all that group c needs to die; the same, for permission c, with its
 * operator last; operator c and all it needs; all that remains.
 */
static inline uint32_t order_cause_permission(const order_core *core,
                                              uint32_t permission) {
  return core->deaths.count + permission;
}

static inline uint32_t order_cause_op(const order_core *core, uint32_t op) {
  return core->deaths.count + core->permission_begin[core->op_count] + op;
}

static inline uint32_t order_cause_rest(const order_core *core) {
  return order_cause_op(core, core->op_count);
}

typedef struct order_step {
  uint64_t mem;        /* of the set it leads to */
  uint64_t cost;       /* the most memory on the way */
  uint32_t op;         /* it runs this operator; if CALM_NONE: */
  const uint64_t *ops; /* these local ones, or, NULL, all that remain */
  uint32_t cause;
} order_step;

/* A local set that may become a step. */
typedef struct order_candidate {
  const uint64_t *ops;
  uint64_t new_bytes;   /* what begins in it */
  uint64_t freed_bytes; /* what dies exactly with its last operator */
  uint64_t cost;        /* UINT64_MAX: not offered as a step */
  uint32_t size, cause;
  bool minimal; /* frees something, and nothing within it does */
} order_candidate;

/* Scratch of one expansion, and its result. */
typedef struct order_expansion {
  const order_core *core;
  order_rules rules;
  uint64_t tau;
  uint64_t *set; /* the state at hand */
  uint64_t mem;

  /* Operators near the state, in ascending order; their local numbers. */
  uint32_t near_count, near_capacity;
  uint32_t words, stride; /* words of a local set: in use, reserved */
  uint32_t *op;           /* local -> operator */
  uint32_t *local;        /* operator -> local, where `near` has it */
  uint64_t *near;
  uint64_t *before; /* per local: itself and its local ancestors */
  uint64_t *cost;   /* per local: new bytes of those */
  uint64_t *born;   /* per local */

  /* Groups that begin with the first of several, not begun in the state. */
  uint32_t unborn_count;
  uint64_t *unborn_bytes;
  uint64_t *unborn_ops;   /* local sets */
  uint32_t *unborn_of;    /* birth group -> unborn, if stamped */
  uint32_t *unborn_group; /* the way back */
  uint64_t *birth_stamp, *death_stamp, stamp;
  uint64_t *begun_stamp; /* birth group -> the last state it was looked up in */
  bool *begun;           /* what was found there */

  uint32_t candidate_count, candidate_capacity, row_count;
  order_candidate *candidates;
  uint64_t *rows;         /* local sets that are no `before` */
  uint64_t *without;      /* one more, for a set without its last operator */
  uint32_t *candidate_of; /* death group -> candidate, if stamped */

  uint32_t step_count;
  order_step *steps;
  uint64_t ticks;
  uint64_t pruned; /* the smallest cost above tau of a step not taken */
  bool truncated;  /* more was near than there is room for */
} order_expansion;

/* Reserve the scratch for `near_capacity` operators near a state; with all
   operators of the problem nothing can be truncated. */
calm_status order_expansion_init(order_expansion *out, const order_core *core,
                                 order_rules rules, uint32_t near_capacity,
                                 arena *a);

/* Find the steps from e->set, whose mem and reach are given, within tau; count
   the effort in e->ticks. */
void order_expand(order_expansion *e, uint64_t mem, uint32_t reach,
                  uint64_t tau);

/* Parts of it: blocks and stops from the operators near (order_block.c), and
   the bytes that begin in a local set. */
void order_expand_blocks(order_expansion *e);
uint64_t order_new_bytes(const order_expansion *e, const uint64_t *ops);

/* The operators of a step, in running order, to `out`; the set is updated.
   Yields their number.  `stack` has room for all operators. */
uint32_t order_step_replay(uint32_t *out, const order_core *core, uint64_t *set,
                           uint32_t cause, uint32_t *stack);

#endif
