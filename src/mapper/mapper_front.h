/*
 * Energy and cycles of nests that nothing beats in both: the staircase of those
 * found so far, and the corners below it where a better one might still be.
 * Nests are copied into the front's own arena.
 */
#ifndef CALM_MAPPER_MAPPER_FRONT_H
#define CALM_MAPPER_MAPPER_FRONT_H

#include "base/vector.h"
#include "mapper/mapper_bound.h"

/* A nest that was found. */
typedef struct mapper_stair {
  double energy_pj, cycles;
  accel_nest nest;
} mapper_stair;

typedef struct mapper_front {
  arena arena;
  VECTOR(mapper_stair) stairs; /* by rising cycles and falling energy */
  VECTOR(mapper_floor)
  corners;              /* what some nests cost at least, where no nest
                           was found that costs no more */
  uint32_t old_corners; /* the first of them, of which no more will be
                           known */
  double least_cycles;  /* no nest has fewer */
} mapper_front;

void mapper_front_init(mapper_front *out, calm_context *context);
void mapper_front_free(mapper_front *f);

/* Is a nest known that is no worse than these costs?  Energies are the same up
   to the last digits. */
bool mapper_front_covers(const mapper_front *f, const mapper_floor *costs);

/* Could rounding hide a nest that is better than those known in what costs at
   least this much? */
bool mapper_front_hides(const mapper_front *f, const mapper_floor *costs);

/* Keeps the nest unless one is known that is no worse; drops those that are
   no better than it. */
calm_status mapper_front_enter(mapper_front *f, const accel_nest *n,
                               double energy_pj, double cycles);

/* Of some nests only this is known. */
calm_status mapper_front_open(mapper_front *f, const mapper_floor *costs);

/* Corners that nests cover by now are none. */
void mapper_front_close(mapper_front *f);

/* How much better than all nests known one of these costs would be: the least
   factor by which energy or cycles of one of those are more; at least 1. */
double mapper_front_gap(const mapper_front *f, const mapper_floor *costs);

#endif
