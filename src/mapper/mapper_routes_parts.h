/*
 * Routes in two parts: how far words travel if a spread's axes stand in a given
 * order (mapper_routes_hops.c), and which orders none of the others beats
 * (mapper_routes.c).
 */
#ifndef CALM_MAPPER_MAPPER_ROUTES_PARTS_H
#define CALM_MAPPER_MAPPER_ROUTES_PARTS_H

#include "mapper/mapper_routes.h"

/* Scratch of one order and one tensor. */
typedef struct mapper_router {
  uint32_t *keys;       /* per element: equal where the same word is needed */
  uint32_t *starts;     /* per key: its first in `elements` */
  uint32_t *elements;   /* by keys, then by number */
  uint32_t *seen, *row; /* per column: the group that was there, and where */
  cost_bin *bins;
  uint32_t bin_count, room;
} mapper_router;

/* An order that is judged. */
typedef struct mapper_layout {
  const mapper_space *space;
  mapper_router *router;
  uint32_t level;
  const mapper_spread *spread;
  const mapper_routes *routes;
  uint8_t axes[MAPPER_MOST_AXES]; /* the order */
  uint32_t count;
  uint32_t step[MAPPER_MOST_AXES]; /* per axis: by how much it moves a key */
  uint32_t key_count;
  mapper_route *found; /* [pattern * tensor_count + t] */
  double *merits;
  uint32_t merit_count, merit_room;
} mapper_layout;

static inline double mapper_layout_factor(const mapper_layout *y,
                                          uint32_t axis) {
  return y->space->axes[axis].divisors[y->spread->digits[axis]];
}

/* Pairs, and all patterns that their tiles come to. */
calm_status mapper_routes_find_patterns(mapper_routes *out,
                                        const mapper_space *s,
                                        const mapper_spread *spread);

/* The way of a tensor's words in a pattern; y->router has its bins. */
void mapper_routes_follow(mapper_route *out, mapper_layout *y, uint32_t tensor,
                          uint32_t pattern);

#endif
