/*
 * What the files of the replay share.  Timeloop walks the tiles of one tensor
 * at one level and remembers, of the tile before, where it lay and how far the
 * step to it was; and of a fan-out's elements what each was sent last.  All
 * of that is kept here relative to the current tile, so that wherever the walk
 * comes to a loop in the same state it does the same again: each loop is walked
 * once for each state in which it is entered.
 */
#ifndef CALM_COST_COST_REPLAY_PARTS_H
#define CALM_COST_COST_REPLAY_PARTS_H

#include "base/arena.h"
#include "cost/cost_replay_graph.h"
#include "cost/cost_replay_mesh.h"
#include "cost/cost_replay_nest.h"

typedef struct replay {
  const cost_question *question;
  arena scratch;
  uint64_t steps;     /* left */
  cost_excess excess; /* with REPLAY_STOPPED: why */
  bool links;         /* asked for, and there is a fan-out */
  replay_nest nest;
  replay_mesh mesh;
  replay_graph graph;
  int64_t *frames; /* per depth: key, and the state on the way */
  int64_t *delta;  /* of the current tile: place, box, low, high */
} replay;

/* Inside the replay: there is more to walk than cost_replay agrees to. */
#define REPLAY_STOPPED CALM_UNSUPPORTED

/* Why the replay ends here; REPLAY_STOPPED. */
calm_status cost_replay_stop(replay *r, cost_fault fault, double needed,
                             double available);

/* A coordinate or a count is beyond what is exact. */
calm_status cost_replay_too_large(replay *r);

/* Account for steps. */
calm_status cost_replay_spend(replay *r, uint64_t steps);

/* ---- The nest (cost_replay_nest.c) --------------------------------------- */

calm_status cost_replay_make_nest(replay *r);

/* The tile's extents, per rank, in a pass. */
void cost_replay_extents(int64_t *out, const replay *r, uint32_t last);

/* ---- The mesh (cost_replay_mesh.c) --------------------------------------- */

calm_status cost_replay_make_mesh(replay *r);

/* The members of the fan-out in a pass. */
calm_status cost_replay_members(uint32_t *out, replay *r, uint32_t last);

/* How members get a delta that lies `apart` from the one before. */
calm_status cost_replay_pattern(uint32_t *out, replay *r, uint32_t now,
                                uint32_t before, const int64_t *apart);

/* ---- The graph (cost_replay_graph.c) ------------------------------------- */

static inline int64_t *cost_replay_vector(const replay *r, int64_t *state,
                                          replay_vector v) {
  return state + STATE_HEADER + (size_t)v * r->nest.rank_count;
}

/* The node of a key, CALM_NONE if it was not walked. */
uint32_t cost_replay_find(const replay *r, const int64_t *key, uint64_t hash);
uint64_t cost_replay_hash(const replay *r, const int64_t *key);

/* Keep a node with its key and the state it leaves; its id to `out`. */
calm_status cost_replay_keep(uint32_t *out, replay *r, const int64_t *key,
                             const int64_t *state, const replay_node *node);

/* The state that a node leaves. */
const int64_t *cost_replay_left(const replay *r, uint32_t node);

/* ---- The walk (cost_replay_walk.c, cost_replay_tile.c) ------------------- */

/* From the outermost loop; the last node is the root. */
calm_status cost_replay_walk(replay *r);

/* Visit the tile in `state`, which becomes what is remembered of it. */
calm_status cost_replay_tile(replay_node *out, replay *r, uint32_t last,
                             int64_t *state);

#endif
