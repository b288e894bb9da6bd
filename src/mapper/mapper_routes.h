/*
 * How far words travel over a fan-out whose routes cost something.  Elements
 * are numbered in the order of the spatial loops, so that each order leads to
 * other routes; here are, for each way to spread, the orders that none of the
 * others beats for every tensor.  They are found when they are first asked for.
 */
#ifndef CALM_MAPPER_MAPPER_ROUTES_H
#define CALM_MAPPER_MAPPER_ROUTES_H

#include "base/arena.h"
#include "mapper/mapper_space.h"

/* Two windows of one rank that are both spread: how many of each, and how far a
   step of each leads in common units.  If they never meet, both are 0. */
typedef struct mapper_shear {
  double step, other;
} mapper_shear;

typedef struct mapper_routes {
  const mapper_arrangement *arrangements;
  uint32_t count;
  /* What meets depends on the tile: a pattern is a shear for each pair. */
  const mapper_shear *shears; /* [pattern * pair_count + pair] */
  uint32_t pattern_count, pair_count;
  const struct mapper_pair *pairs;
} mapper_routes;

/* Needs links and fans. */
calm_status mapper_routes_init(mapper_space *s, arena *a);

calm_status mapper_routes_find(const mapper_routes **out, const mapper_space *s,
                               uint32_t level, uint32_t spread);

/* Are as many of its words counted at the routers as travel? */
bool mapper_routes_exact(const mapper_space *s, uint32_t level,
                         uint32_t tensor);

/* Of the tensor, for tiles that are the node. */
const mapper_route *mapper_routes_of(const mapper_space *s,
                                     const mapper_arrangement *arrangement,
                                     uint32_t tensor, uint32_t node);

#endif
