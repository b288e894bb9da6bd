/*
 * What the files of the replay share.  Timeloop walks the tiles of one tensor
 * at one level and remembers, of the tile before, where it lay and how far the
 * step to it was; and of a fan-out's elements what each was sent last.  All
 * of that is kept here relative to the current tile, so that wherever the walk
 * comes to a loop in the same state it does the same again: each loop is walked
 * once for each state in which it is entered.  What has been walked is a graph
 * of nodes: tiles, and loops that lead to the nodes of their iterations.
 */
#ifndef CALM_COST_COST_REPLAY_PARTS_H
#define CALM_COST_COST_REPLAY_PARTS_H

#include "base/arena.h"
#include "base/vector.h"
#include "cost/cost_parts.h"

/*
 * A state is a row of words: a header, then vectors of one word per rank.  The
 * depth and the dimensions in their last pass belong to a loop's key, the rest
 * is remembered.  Vectors that are not set are zero.
 */
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

/* A loop around the tile. */
typedef struct replay_loop {
  uint64_t bound, residual;
  const int64_t *step; /* per rank: from one iteration's tile to the next */
  uint32_t dimension;  /* its bit */
  accel_loop_kind kind;
  bool own_level; /* of the level in question */
} replay_loop;

/* The elements of a fan-out in one kind of pass, and which of them get the
   same words. */
typedef struct replay_members {
  uint32_t last;   /* dimensions in their last pass */
  uint32_t count;  /* elements */
  int64_t *places; /* where each element's tile lies: equal, same words */
  uint32_t *groups;
  uint32_t group_count;
  uint32_t pattern; /* of delivery, if no neighbour serves */
} replay_members;

/* Groups of equal size. */
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

/* The pattern for deltas `rel` apart, sent to `now` after `before`. */
typedef struct replay_relation {
  uint32_t now, before, pattern;
  int64_t apart;
} replay_relation;

typedef struct replay_node {
  uint64_t hash;
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

typedef struct replay {
  const cost_question *question;
  arena scratch;
  uint64_t work; /* spent */

  /* The nest around the tile (cost_replay_nest.c). */
  uint32_t rank_count; /* those that some loop moves */
  uint32_t *ranks;
  replay_loop *loops; /* innermost first */
  uint32_t depth;     /* how many */
  replay_loop *spread;
  uint32_t spread_count;   /* spatial loops of the level */
  uint32_t *matter;        /* per depth: last passes that are felt inside */
  uint64_t *whole, *rest;  /* tile per dimension: full and last pass */
  const replay_loop *base; /* walked within the operation, or NULL */
  bool direct; /* the innermost loop is of the level, without fan-out */
  bool innermost, links;

  /* Fan-out (cost_links.c). */
  uint64_t fanout, columns, rows;
  uint64_t *radix; /* per rank: how a vector becomes a place */
  int64_t *span;
  uint32_t uneven; /* dimensions of imperfect spatial loops */
  bool *served;    /* per element */
  replay_tally *tallies;
  uint32_t *share_of; /* per size of group */
  VECTOR(replay_members) members;
  VECTOR(replay_pattern) patterns;
  VECTOR(replay_share) shares;
  VECTOR(replay_relation) relations;

  /* What has been walked (cost_replay_memo.c). */
  uint32_t state_words;
  VECTOR(int64_t) states; /* per node: key, and the state it leaves */
  VECTOR(replay_node) nodes;
  VECTOR(replay_edge) edges;
  uint32_t *slots;
  uint32_t slot_count;
  int64_t *frames; /* per depth: key, and the state on the way */
  int64_t *delta;  /* of the current tile: place, box, low, high */
} replay;

/* Inside the replay: there is more to walk than cost_replay agrees to. */
#define REPLAY_TOO_LARGE CALM_UNSUPPORTED

static inline int64_t *cost_state_vector(const replay *r, int64_t *state,
                                         replay_vector v) {
  return state + STATE_HEADER + (size_t)v * r->rank_count;
}

/* Account for work. */
calm_status cost_replay_spend(replay *r, uint64_t work);

/* Make the nest ready. */
calm_status cost_replay_nest(replay *r);

/* The tile's extents in a pass. */
void cost_replay_extents(int64_t *out, const replay *r, uint32_t last);

/* The node of a key, CALM_NONE if it was not walked. */
uint32_t cost_replay_find(const replay *r, const int64_t *key, uint64_t hash);
uint64_t cost_replay_hash(const replay *r, const int64_t *key);

/* Keep a node with its key and the state it leaves; its id to `out`. */
calm_status cost_replay_keep(uint32_t *out, replay *r, const int64_t *key,
                             const int64_t *state, const replay_node *node);

/* What a node leaves. */
const int64_t *cost_replay_left(const replay *r, uint32_t node);

/* Visit the tile in `state`, which becomes what is remembered of it. */
calm_status cost_replay_tile(replay_node *out, replay *r, uint32_t last,
                             int64_t *state);

/* Make the fan-out ready. */
calm_status cost_links_init(replay *r);

/* The members of the fan-out in a pass. */
calm_status cost_replay_members(uint32_t *out, replay *r, uint32_t last);

/* How members get a delta that lies `apart` from the one before. */
calm_status cost_replay_pattern(uint32_t *out, replay *r, uint32_t now,
                                uint32_t before, const int64_t *apart);

#endif
