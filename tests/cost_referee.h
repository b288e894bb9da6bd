/*
 * The referee of the cost room: a slow simulator that walks every iteration of
 * a small nest and holds, for each buffer, the set of words that is in it. What
 * is delivered, to how many at once, what is read, filled and updated follows
 * from sets that are compared, not from formulas.  It knows the conventions of
 * docs/cost-model.md and shares no code with src/cost; cost_result serves as
 * the form in which both answer.
 *
 * Nests should have at most some thousand iterations.  Without memory, or if
 * the nest is not what it claims (an iteration that is visited twice, or not at
 * all), the program aborts.
 */
#ifndef CALM_TESTS_COST_REFEREE_H
#define CALM_TESTS_COST_REFEREE_H

#include "cost/cost.h"
#include "cost_pieces.h"

/* The answer to a nest under the model `exact`; everything in it lives in `a`.
   Only an answer whose verdict is COST_VALID has numbers. */
void cost_referee(cost_result *out, const cost_pieces *c,
                  cost_fanout_rule fanout, arena *a);

/* The first difference between two answers as one line, NULL if there is none.
   Counts have to be equal, energies to 1e-9; hops are looked at if `hops`. */
const char *cost_referee_difference(const cost_result *a, const cost_result *b,
                                    const cost_pieces *pieces, bool hops,
                                    arena *memory);

/* ---- The walk, of which the rest is derived ------------------------------ */

/* Words that leave a level, by how many instances take one and how many such
   words leave at once. */
typedef struct referee_stream {
  cost_group *groups; /* ascending by (multicast, scatter) */
  uint32_t group_count, group_capacity;
  uint64_t fanout;
} referee_stream;

/* Of one tensor from one level to what is below it, as if all levels kept it;
   per instance of the level. */
void referee_walk(referee_stream *out, const cost_pieces *c, uint32_t tensor,
                  uint32_t level, arena *a);

/* What one place of a fan-out is given: numbers of words. */
typedef struct referee_given {
  const uint32_t *words;
  uint32_t count;
} referee_given;

/* Is told what all places are given at each visit; places are numbered as the
   spatial loops count, the innermost fastest. */
typedef void referee_watcher(void *data, const referee_given *given,
                             uint32_t places);

/* The walk over the first instance of the level, for somebody who watches. */
void referee_watch(const cost_pieces *c, uint32_t tensor, uint32_t level,
                   referee_watcher *watcher, void *data, arena *a);

/* The iterations of the nest, each of them looked at: all points of the layer,
   and each once. */
uint64_t referee_count_iterations(const accel_layer *layer,
                                  const accel_nest *nest, arena *a);

/* Steps that a dimension takes within the loops below `end` (a position in
   nest->loops), in full passes or in the last one. */
uint64_t referee_extent(const accel_nest *nest, uint32_t end,
                        uint32_t dimension, bool last);

/* Where the loops of a level begin in nest->loops, and where its temporal ones
   do. */
uint32_t referee_begin(const accel_nest *nest, uint32_t level);
uint32_t referee_temporal(const accel_nest *nest, uint32_t level);

void *referee_memory(arena *a, size_t count, size_t size);

#endif
