/*
 * Nests drawn at random.  Each prime factor of a bound goes to one of the
 * places where machine and constraints let it be a loop, all alike; the loops
 * of a place stand in any order that the constraints allow; what may but need
 * not be kept is kept every other time.  Of one dimension everything is in
 * order then; whether all of them together fit is for the cost room to say.
 */
#ifndef CALM_MAPPER_MAPPER_SAMPLE_DRAW_H
#define CALM_MAPPER_MAPPER_SAMPLE_DRAW_H

#include "base/random.h"
#include "mapper/mapper.h"

/* Places are numbered level * 3 + accel_loop_kind. */
enum { MAPPER_KINDS = 3 };

typedef struct mapper_prime {
  uint64_t value;
  const uint32_t *places; /* where it may go */
  uint32_t place_count;
} mapper_prime;

/* The factor of a dimension in a block of loops. */
typedef struct mapper_range {
  uint64_t low, high;
} mapper_range;

typedef struct mapper_bound {
  mapper_prime *primes;
  uint32_t prime_count;
  mapper_range *ranges; /* per level: of temporal loops, of spatial ones */
} mapper_bound;

typedef struct mapper_draw {
  const mapper_problem *problem;
  mapper_bound *bounds; /* per dimension */
  accel_fanout *rooms;  /* per level: what one dimension may spread below it */
  const char *reason;   /* there is nothing to draw; NULL: there is */
  uint64_t *factors;    /* scratch: [dimension * places + place] */
  accel_nest nest;      /* that was drawn, perfect */
  random_state random;
} mapper_draw;

/* `a` keeps all of it; what the problem points to must outlive it. */
calm_status mapper_draw_init(mapper_draw *out, const mapper_problem *p,
                             uint64_t seed, arena *a);

/* Draws into d->nest; d->reason must be NULL.  False: in many tries, nothing
   observed the rules on some dimension. */
bool mapper_draw_next(mapper_draw *d);

#endif
