/*
 * The graph of what a replay has walked: nodes by their key, in an open table,
 * each with the state that it leaves behind.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "cost/cost_replay_parts.h"

#if CALM_HOSTILE
enum { FIRST_SLOTS = 2 };
#else
enum { FIRST_SLOTS = 256 };
#endif

/*
 * In a perfect nest a loop is entered in few states: where the last tile and
 * the last delta lie depends on which outer loop has stepped on, and the
 * remembered step is one of those that occur; for L loops that is L squared at
 * the very most, a handful in practice.  Each dimension with imperfect loops
 * may double it, by its last pass.  So nests that are meant seriously take some
 * thousand nodes; what takes more than COST_REPLAY_STEPS is refused.  A node,
 * which also takes memory, counts for many steps: a quarter million nodes.
 */
enum { NODE_STEPS = 256 };

calm_status cost_replay_stop(replay *r, cost_fault fault, double needed,
                             double available) {
  r->excess = (cost_excess){fault, needed, available};
  return REPLAY_STOPPED;
}

calm_status cost_replay_too_large(replay *r) {
  return cost_replay_stop(r, COST_TOO_LARGE, INFINITY, (double)ACCEL_MAX_COUNT);
}

calm_status cost_replay_spend(replay *r, uint64_t steps) {
  if (steps > r->steps) {
    r->steps = 0;
    return cost_replay_stop(r, COST_LIMIT_STEPS, INFINITY, COST_REPLAY_STEPS);
  }
  r->steps -= steps;
  return CALM_OK;
}

uint64_t cost_replay_hash(const replay *r, const int64_t *key) {
  return hash_bytes(key, r->graph.state_words * sizeof *key);
}

static const int64_t *key_of(const replay *r, uint32_t node) {
  return r->graph.states.data + (size_t)node * 2 * r->graph.state_words;
}

const int64_t *cost_replay_left(const replay *r, uint32_t node) {
  return key_of(r, node) + r->graph.state_words;
}

/* The slot of a key, or the free one where it would go. */
static uint32_t *find_slot(const replay *r, const int64_t *key, uint64_t hash) {
  const uint32_t mask = r->graph.slot_count - 1;
  uint32_t i = (uint32_t)hash & mask;
  for (; r->graph.slots[i]; i = (i + 1) & mask) {
    const uint32_t node = r->graph.slots[i] - 1;
    if (r->graph.nodes.data[node].hash == hash &&
        !memcmp(key_of(r, node), key, r->graph.state_words * sizeof *key))
      break;
  }
  return &r->graph.slots[i];
}

uint32_t cost_replay_find(const replay *r, const int64_t *key, uint64_t hash) {
  if (r->graph.slot_count == 0) return CALM_NONE;
  const uint32_t slot = *find_slot(r, key, hash);
  return slot ? slot - 1 : CALM_NONE;
}

/* The old table stays in the scratch: all of them together are as large as the
   last one. */
static calm_status widen_table(replay *r) {
  const uint32_t count =
      r->graph.slot_count ? r->graph.slot_count * 2 : FIRST_SLOTS;
  ARENA_ARRAY(&r->scratch, r->graph.slots, count);
  r->graph.slot_count = count;
  for (uint32_t i = 0; i < r->graph.nodes.count; i++)
    *find_slot(r, key_of(r, i), r->graph.nodes.data[i].hash) = i + 1;
  return CALM_OK;
}

calm_status cost_replay_keep(uint32_t *out, replay *r, const int64_t *key,
                             const int64_t *state, const replay_node *node) {
  const uint32_t words = r->graph.state_words;
  calm_context *context = r->scratch.context;
  TRY(cost_replay_spend(r, NODE_STEPS));
  if ((r->graph.nodes.count + 1) * 4 > r->graph.slot_count * 3)
    TRY(widen_table(r));
  VECTOR_RESERVE(context, &r->graph.nodes, 1);
  VECTOR_RESERVE(context, &r->graph.states, 2 * words);
  int64_t *to = r->graph.states.data + r->graph.states.count;
  memcpy(to, key, words * sizeof *to);
  memcpy(to + words, state, words * sizeof *to);
  r->graph.states.count += 2 * words;
  r->graph.nodes.data[r->graph.nodes.count] = *node;
  *find_slot(r, key, node->hash) = r->graph.nodes.count + 1;
  *out = r->graph.nodes.count++;
  return CALM_OK;
}
