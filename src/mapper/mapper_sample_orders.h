/*
 * The orders of a nest's temporal loops, one of each kind that matters: two
 * orders are of one kind if one becomes the other by exchanging neighbours that
 * no count depends on (hand-overs between neighbours on a mesh aside, which
 * only model `timeloop` has).  Listed loops of the constraints stay where they
 * are.
 */
#ifndef CALM_MAPPER_MAPPER_SAMPLE_ORDERS_H
#define CALM_MAPPER_MAPPER_SAMPLE_ORDERS_H

#include "accel/accel_constraints.h"
#include "cost/cost_tables.h"

/* Tensors, as a block of loops finds them: sets of bits.  `open`: no loop has
   moved some tile of it yet; `alive`: loops have moved one, but all of them
   slide a window. */
typedef struct mapper_waiting {
  uint32_t open, alive;
} mapper_waiting;

/* The loops of a block that may change places. */
typedef struct mapper_order {
  accel_loop *loops; /* as given: letters */
  uint32_t first;    /* in the nest */
  uint32_t count;
  uint8_t word[ACCEL_MAX_DIMENSIONS]; /* letters, innermost first */
  mapper_waiting waiting[ACCEL_MAX_DIMENSIONS + 1]; /* before each of them */
} mapper_order;

typedef struct mapper_orders {
  const cost_tables *tables;
  const accel_constraints *constraints; /* NULL: none */
  accel_nest *nest;
  mapper_order *blocks;     /* per level */
  uint32_t *moving, *alone; /* per dimension: tensors it moves; whose tiles it
                               never lets overlap */
} mapper_orders;

calm_status mapper_orders_init(mapper_orders *out, const cost_tables *t,
                               const accel_constraints *c, arena *a);

/* From now on orders of this perfect nest; its own comes first. */
void mapper_orders_begin(mapper_orders *o, accel_nest *n);

/* Changes the nest to the next order; false after the last, and the nest is as
   it was in the beginning. */
bool mapper_orders_next(mapper_orders *o);

#endif
