/* What the files of the exact search share but nobody else needs: how a space
   is made, in two parts. */
#ifndef CALM_MAPPER_MAPPER_PARTS_H
#define CALM_MAPPER_MAPPER_PARTS_H

#include "base/arena.h"
#include "mapper/mapper_space.h"

/* Tensors, axes and nodes; all else is not there yet. */
calm_status mapper_space_begin(mapper_space *out, const mapper_problem *p,
                               limits *l, arena *a);

/* Axes, nodes, and what follows from a node alone. */
calm_status mapper_lattice_init(mapper_space *s, arena *a);

/* Links, and accounts with their prices. */
calm_status mapper_accounts_init(mapper_space *s, bool energy, bool delay,
                                 arena *a);

/* What a word costs that arrives at a level, leaves it, or is added to one
   there, at least: instances may share, and networks are left out. */
typedef struct mapper_price {
  double fill, read, update;
} mapper_price;
mapper_price mapper_accounts_price(const mapper_space *s, uint32_t level,
                                   uint32_t tensor);

/* The ways to spread over each fan-out. */
calm_status mapper_fans_init(mapper_space *s, arena *a);

/* The least cycles of any nest. */
calm_status mapper_cycles_init(mapper_space *s, arena *a);

#endif
