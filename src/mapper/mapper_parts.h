/* What the files of the exact search share but nobody else needs: how a space
   is made, in two parts. */
#ifndef CALM_MAPPER_MAPPER_PARTS_H
#define CALM_MAPPER_MAPPER_PARTS_H

#include "base/arena.h"
#include "mapper/mapper_space.h"

/* Tensors, axes and nodes; all else is not there yet. */
calm_status mapper_space_begin(mapper_space *out, const mapper_problem *p,
                               arena *a);

/* Axes, nodes, and what follows from a node alone. */
calm_status mapper_lattice_init(mapper_space *s, arena *a);

/* Links, and accounts with their prices. */
calm_status mapper_accounts_init(mapper_space *s, bool energy, bool delay,
                                 arena *a);

/* The ways to spread over each fan-out. */
calm_status mapper_fans_init(mapper_space *s, arena *a);

/* What is known before a search with given keep sets. */
typedef struct mapper_given {
  const mapper_rules *rules;
  double most_cycles; /* nests with more are of no use */
  double most_value;  /* nor those that cost as much */
  bool root_only;     /* no search: just its first bound */
} mapper_given;

/* With must_keep == may_keep.  CALM_LIMIT also if nothing costs less than
   given->most_value: then that is the bound. */
calm_status mapper_exact_given(mapper_result *out, const mapper_problem *p,
                               const mapper_given *given, limits *l, arena *a);

/* Over all keep sets between must_keep and may_keep. */
calm_status mapper_bypass_search(mapper_result *out, const mapper_problem *p,
                                 const mapper_given *given, limits *l,
                                 arena *a);

/* The least cycles of any nest. */
calm_status mapper_cycles_init(mapper_space *s, arena *a);

#endif
