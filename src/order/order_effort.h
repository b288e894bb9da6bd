/*
 * What a proof will cost.  The states below a threshold grow with it by a
 * nearly constant factor, so two deaths at different thresholds tell what a
 * third one will take.  Integers only: the same deaths, the same prediction.
 */
#ifndef CALM_ORDER_EFFORT_H
#define CALM_ORDER_EFFORT_H

#include <stdint.h>

/* The last deaths of passes in one direction, by rising threshold. */
typedef struct order_effort {
  uint32_t deaths;           /* of these, at most 2 are kept */
  uint64_t tau[2], ticks[2]; /* the older one first */
} order_effort;

void order_effort_note(order_effort *e, uint64_t tau, uint64_t ticks);

/* The ticks until a pass at tau dies; UINT64_MAX if that is not to be told from
   two deaths below it, or too many to count. */
uint64_t order_effort_predict(const order_effort *e, uint64_t tau);

#endif
