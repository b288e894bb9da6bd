/*
 * Layers that look the same with dimensions exchanged, as P with Q and R with S
 * of a square convolution.  A machine cannot tell them apart, so each label has
 * a twin that costs as much: only one of the two is searched.
 */
#ifndef CALM_MAPPER_MAPPER_MIRROR_H
#define CALM_MAPPER_MAPPER_MIRROR_H

#include "base/arena.h"
#include "mapper/mapper_label.h"

typedef struct mapper_mirror {
  uint32_t twins[ACCEL_MAX_DIMENSIONS]; /* what each is exchanged with */
  double scales[ACCEL_MAX_DIMENSIONS];  /* unit of its shifts, if a window */
  uint32_t moved;                       /* dimensions that have another twin */
  const uint32_t *nodes;                /* per node: the other one */
} mapper_mirror;

/* Makes s->mirror, NULL if the layer has none, or if rules or networks tell
   dimensions apart. */
calm_status mapper_mirror_init(mapper_space *s, arena *a);

/* Makes the label the one of the two twins that is searched.  True if it was
   the other one. */
bool mapper_mirror_turn(mapper_label *l, const mapper_space *s);

/* The dimension in the other twin. */
static inline uint32_t mapper_mirror_twin(const mapper_space *s,
                                          uint32_t dimension) {
  return s->mirror ? s->mirror->twins[dimension] : dimension;
}

#endif
