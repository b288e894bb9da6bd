/*
 * The elements of a fan-out: which of them get the same words at once, how far
 * these travel over the mesh, and whom a neighbour serves with what it got
 * before.  Elements are numbered along the spatial loops, the innermost
 * fastest; their tiles lie at different places, and equal places are equal
 * words.
 */
#ifndef CALM_COST_COST_REPLAY_MESH_H
#define CALM_COST_COST_REPLAY_MESH_H

#include "base/vector.h"
#include "cost/cost_replay_nest.h"

/* The elements in one kind of pass: in a last one there may be fewer. */
typedef struct replay_members {
  uint32_t last; /* dimensions in their last pass */
  uint32_t count;
  int64_t *places;  /* per element: its tile's, as one number */
  uint32_t *groups; /* per element: equal places, equal group */
  uint32_t group_count;
  uint32_t pattern; /* of delivery, if no neighbour serves */
} replay_members;

/* Groups of equal size: cost_group for one word of a tile. */
typedef struct replay_share {
  uint64_t multicast, scatter;
  double hops; /* for one word to each */
} replay_share;

/* One group while its elements are gone through. */
typedef struct replay_tally {
  uint32_t size, column;
  double hops, below;
} replay_tally;

/* How the words of a tile are delivered. */
typedef struct replay_pattern {
  uint32_t first_share, share_count;
  uint32_t group_count, served; /* served: elements that neighbours serve */
  double words;                 /* delivered so, in the end */
} replay_pattern;

/* The pattern for deltas `apart` from each other, sent to `now` after `before`.
 */
typedef struct replay_relation {
  uint32_t now, before, pattern;
  int64_t apart;
} replay_relation;

typedef struct replay_mesh {
  uint64_t elements, columns, rows;
  uint64_t *radix;       /* per rank: how a vector becomes a place */
  int64_t *span;         /* per rank: how far two elements are apart at most */
  uint32_t uneven;       /* dimensions of imperfect spatial loops */
  bool *served;          /* per element */
  replay_tally *tallies; /* per group */
  uint32_t *share_of;    /* per size of group */
  VECTOR(replay_members) members;
  VECTOR(replay_pattern) patterns;
  VECTOR(replay_share) shares;
  VECTOR(replay_relation) relations;
} replay_mesh;

#endif
