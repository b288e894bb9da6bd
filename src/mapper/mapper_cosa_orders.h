/*
 * The orders of loops at the permutation level that differ in reuse.  A tensor
 * is reused in a loop that it is not related to, if no loop that it is related
 * to stands further in.  So an order is a sequence in which tensors cease to be
 * reused, and there are few of them: for a convolution in CoSA's terms three.
 */
#ifndef CALM_MAPPER_MAPPER_COSA_ORDERS_H
#define CALM_MAPPER_MAPPER_COSA_ORDERS_H

#include "mapper/mapper_cosa_program.h"

typedef struct mapper_cosa_order {
  uint32_t dimensions[ACCEL_MAX_DIMENSIONS]; /* innermost first */
  uint32_t count;
  uint32_t reused[ACCEL_MAX_TENSORS]; /* dimensions: in them the tensor is */
  uint32_t absent; /* the order needs these to have no loops there */
} mapper_cosa_order;

/* With objective BALANCE, traffic must not be overestimated either.  Then an
   order needs each group that is not absent to have a loop, and orders are
   better than others only if they need the same. */
typedef struct mapper_cosa_orders {
  mapper_cosa_order *orders; /* none is at least as good as another */
  uint32_t count;
  uint32_t groups[ACCEL_MAX_DIMENSIONS]; /* dimensions absent at once, or not */
  uint32_t group_count;
} mapper_cosa_orders;

/* Those that the constraints on the level allow.  CALM_UNSUPPORTED if they are
   too many. */
calm_status mapper_cosa_orders_find(mapper_cosa_orders *out,
                                    const mapper_cosa_program *p, arena *a);

/* Dimensions in the order of a block: first those that constraints place
   innermost, then the rest as `base` has it, then the outermost. */
void mapper_cosa_block_order(uint32_t *out, const mapper_cosa_program *p,
                             const accel_block_rules *rules,
                             const uint32_t *base);

/* R S P Q C K N, and what else there is. */
void mapper_cosa_usual_order(uint32_t *out, const mapper_cosa_program *p);

#endif
