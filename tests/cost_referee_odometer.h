/*
 * The loops of a nest turned like an odometer, the innermost fastest, imperfect
 * ones by the pass they are in.  Loops that are frozen stand still.
 */
#ifndef CALM_TESTS_COST_REFEREE_ODOMETER_H
#define CALM_TESTS_COST_REFEREE_ODOMETER_H

#include "cost_referee.h"

typedef struct referee_odometer {
  const accel_nest *nest;
  uint32_t begin;     /* loops before it stand still */
  uint64_t *index;    /* per loop */
  const bool *frozen; /* per loop: not turned */
} referee_odometer;

/* Are all loops of a dimension from `from` outwards in their last pass? */
bool referee_is_last(const referee_odometer *o, uint32_t dimension,
                     uint32_t from);

/* To the next position; false after the last one. */
bool referee_turn(referee_odometer *o);

/* The first step of a dimension at the odometer's position. */
uint64_t referee_position(const referee_odometer *o, uint32_t dimension);

#endif
