/*
 * Which level keeps which tensor: all choices, those first that cost least at
 * best.  The bound is that of nests of all tensors: a sum over levels, so that
 * choices need not be made to be compared, however many there are.
 */
#ifndef CALM_MAPPER_MAPPER_KEEPS_H
#define CALM_MAPPER_MAPPER_KEEPS_H

#include "base/limits.h"
#include "mapper/mapper_heap.h"
#include "mapper/mapper_parts.h"

/* The choices above some level. */
typedef struct mapper_keep {
  double cost;      /* of the links between them */
  uint32_t level;   /* choices for this one and those outside are made */
  uint32_t nearest; /* per tensor, as digits: the innermost that keeps it */
  uint32_t kept;    /* at `level` */
  uint32_t outer;   /* the choice that this one continues, or CALM_NONE */
} mapper_keep;

typedef struct mapper_keeps {
  const mapper_space *space;
  const uint32_t *must, *may;
  limits *limits;
  arena *arena;
  uint32_t base;        /* of the digits: levels, and none */
  uint32_t size;        /* numbers of so many digits */
  mapper_price *prices; /* [level * tensor_count + tensor] */
  double *links; /* [level * size + number]: cost of what a level keeps */
  double
      *inside; /* [level * size + nearest]: cost of what is inside, at best */
  VECTOR(mapper_keep) all;
  mapper_heap open; /* by least energy */
  bool sterile;     /* energies do not matter */
} mapper_keeps;

/* `s` is any space of the problem.  CALM_UNSUPPORTED: too many tensors and
   levels for the tables. */
calm_status mapper_keeps_init(mapper_keeps *out, const mapper_space *s,
                              const uint32_t *must, const uint32_t *may,
                              limits *l, arena *a);
void mapper_keeps_free(mapper_keeps *k);

/* No choice that is still to come has nests of less energy; HUGE_VAL: none
   is. */
double mapper_keeps_bound(const mapper_keeps *k);

/* The bound of one choice. */
double mapper_keeps_cost(const mapper_keeps *k, const uint32_t *kept);

/* The next choice: kept[level].  There is one. */
calm_status mapper_keeps_next(mapper_keeps *k, uint32_t *kept);

#endif
