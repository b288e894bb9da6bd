/*
 * What a replay has walked: a graph of nodes, which are tiles, and loops with
 * an edge to each iteration they were walked through.  A node is known by the
 * state in which it is entered, and leaves one behind; both are rows of words,
 * a header and then vectors of one word per rank.  The depth and the dimensions
 * in their last pass belong to the key alone, the rest is what is remembered of
 * the tile before.  Vectors that are not set are zero.
 */
#ifndef CALM_COST_COST_REPLAY_GRAPH_H
#define CALM_COST_COST_REPLAY_GRAPH_H

#include "base/vector.h"

enum {
  STATE_DEPTH,   /* loops still to be entered */
  STATE_LAST,    /* dimensions (bits) whose outer loops are at their last */
  STATE_HAS,     /* bits: HAS_... */
  STATE_MEMBERS, /* of the fan-out, when the delta was sent */
  STATE_HEADER
};
enum { HAS_TILE = 1, HAS_STEP = 2, HAS_DELTA = 4 };
typedef enum replay_vector {
  VECTOR_OFFSET, /* the last tile's origin, seen from the current one */
  VECTOR_EXTENT, /* its extents */
  VECTOR_STEP,   /* the step that a next tile is expected to repeat */
  VECTOR_PLACE,  /* of the last delta: its origin, seen from the current tile */
  VECTOR_BOX,    /* and its shape: a box of these extents ... */
  VECTOR_LOW,    /* ... without what lies between low and high */
  VECTOR_HIGH,
  VECTORS_WITH_LINKS,
  VECTORS_WITHOUT = VECTOR_PLACE
} replay_vector;

typedef struct replay_node {
  uint64_t hash;    /* of its key */
  uint32_t edges;   /* the newest one; CALM_NONE: a tile */
  uint32_t pattern; /* of a tile */
  uint32_t members; /* of a tile */
  double words;     /* of a tile */
  double times;     /* how often it is visited in the end */
} replay_node;

/* From a loop to one of its iterations. */
typedef struct replay_edge {
  uint32_t node, older;
  double times;
} replay_edge;

typedef struct replay_graph {
  uint32_t state_words;
  VECTOR(int64_t) states; /* per node: key, and the state it leaves */
  VECTOR(replay_node) nodes;
  VECTOR(replay_edge) edges;
  uint32_t *slots; /* of a hash table: id of a node plus 1, or 0 */
  uint32_t slot_count;
} replay_graph;

#endif
