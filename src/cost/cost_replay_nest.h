/*
 * The nest as a replay sees it: one tensor's tile at one level, the spatial
 * loops that spread it below the level, and the loops around it, each with the
 * step by which it moves the tile.
 */
#ifndef CALM_COST_COST_REPLAY_NEST_H
#define CALM_COST_COST_REPLAY_NEST_H

#include "cost/cost_replay.h"

/* A loop that moves the tile.  In the last pass of its dimension it has
   `residual` iterations, else `bound`. */
typedef struct replay_loop {
  uint64_t bound, residual;
  const int64_t
      *step; /* per rank: words from one iteration's tile to the next */
  uint32_t dimension; /* its bit */
  accel_loop_kind kind;
  bool own_level; /* of the level in question */
} replay_loop;

/* Sets of dimensions are bits.  That a dimension is in its last pass is known
   from outside: all its loops further out are at their last iteration. */
typedef struct replay_nest {
  uint32_t rank_count; /* those that some loop moves */
  uint32_t *ranks;
  replay_loop *loops; /* around the tile, innermost first */
  uint32_t depth;     /* how many */
  uint32_t *felt;     /* per depth: dimensions whose last pass is felt inside */
  replay_loop *spread;
  uint32_t spread_count;           /* spatial loops of the level */
  uint64_t *full_tile, *last_tile; /* steps per dimension, by the pass */
  const replay_loop *base;         /* walked within the operation, or NULL */
  bool direct; /* the innermost loop is of the level, without fan-out */
  bool innermost;
} replay_nest;

static inline uint64_t cost_replay_bound(const replay_loop *l, uint32_t last) {
  return last & l->dimension ? l->residual : l->bound;
}

#endif
