/*
 * Which regions to tile, and how.  A state is a set of disjoint regions; moves
 * change it at the operator that sets the bound: a new region around it, other
 * ends, another number of tiles, another mode.  What a state costs is asked of
 * a judge, who tiles, orders and places.  Kept is the Pareto front over arena,
 * extra multiply-accumulates and operators.
 */
#ifndef CALM_TILE_TILE_SEARCH_H
#define CALM_TILE_TILE_SEARCH_H

#include "base/limits.h"
#include "tile/tile.h"

typedef struct tile_score {
  uint64_t head_bytes, tail_bytes; /* tail 0 where nobody knows it */
  uint64_t macs;
  uint32_t op_count;
  uint32_t critical; /* the position, in the graph that is tiled, of the
                        operator that sets the head's bound */
} tile_score;

typedef struct tile_judge {
  void *payload;
  /* *possible false: the regions cannot be tiled like that. */
  calm_status (*score)(tile_score *out, bool *possible, void *payload,
                       const tile_region *regions, uint32_t count);
} tile_judge;

/* What is wanted of the front. */
typedef struct tile_goal {
  bool head;             /* the least head, else the least head and tail */
  uint64_t most_macs;    /* no more than this; UINT64_MAX: any */
  uint64_t budget_bytes; /* the fewest extra multiply-accumulates that fit into
                            this, if any do; UINT64_MAX: no budget */
} tile_goal;

typedef struct tile_state {
  const tile_region *regions; /* ascending */
  uint32_t count;
  tile_score score;
} tile_state;

enum { TILE_NEAR = 16 };

typedef struct tile_choice {
  tile_state *front; /* ascending by arena; the untiled graph is in it */
  uint32_t front_count;
  uint32_t chosen;  /* of the front */
  tile_state *near; /* the best for the goal, the chosen one first, whether of
                       the front or not: a judge's words may be rough */
  uint32_t near_count;
  uint32_t judged;
  limits_reason stopped;
} tile_choice;

calm_status tile_search(tile_choice *out, const graph *g,
                        const tile_judge *judge, const tile_goal *goal,
                        uint64_t seed, limits *l, arena *a);

#endif
