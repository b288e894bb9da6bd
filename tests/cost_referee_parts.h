/*
 * What the files of the referee share: a machine, a layer and a nest under its
 * eyes, and what both its judge and its ledgers ask of the nest.
 */
#ifndef CALM_TESTS_COST_REFEREE_PARTS_H
#define CALM_TESTS_COST_REFEREE_PARTS_H

#include "cost_referee.h"

typedef struct match {
  const cost_pieces *pieces; /* the next three, as one */
  const accel_arch *arch;
  const accel_layer *layer;
  const accel_nest *nest;
  arena *arena;
  cost_result *out;
} match;

static inline bool referee_keeps(const match *m, uint32_t level,
                                 uint32_t tensor) {
  return m->nest->kept[level] >> tensor & 1;
}

/* Is the nest valid?  Else the verdict says what is wrong. */
bool referee_judge(match *m, cost_fanout_rule rule);

/* Words of the box that the loops below position `end` of nest->loops span;
   where no outer loop repeats a dimension, its last pass is its only one. */
uint64_t referee_words_within(const match *m, uint32_t tensor, uint32_t end);

/* Product of the bounds of spatial loops of levels `level` to `end`, `end` not
   included; both kinds if `kind` is temporal. */
uint64_t referee_spread(const accel_nest *n, uint32_t level, uint32_t end,
                        accel_loop_kind kind);

/* Instances that are used on average: a pass with a residual uses fewer. */
double referee_average(const accel_nest *n, uint32_t level);

#endif
