/*
 * Which tiles a nest can have at all: costs aside, from the innermost loop
 * outwards and back, over all nodes at once.  What counts is put into a
 * question, so that a rule can be left out of it: rules on factors, capacities,
 * fan-outs, multipliers in use.  Orders of temporal loops do not count: they
 * never keep a tile from growing.
 */
#ifndef CALM_MAPPER_MAPPER_REACH_H
#define CALM_MAPPER_MAPPER_REACH_H

#include "mapper/mapper_rules.h"

/* What a level lets pass. */
typedef struct mapper_gate {
  /* Per axis and digit: MAPPER_MAY_BE; NULL: any factor. */
  const uint8_t *temporal[MAPPER_MOST_AXES], *spatial[MAPPER_MOST_AXES];
  uint32_t fitting, filling; /* tensors that must fit, and that fill it */
  double capacity, least;    /* words */
  const mapper_spread *spreads;
  uint32_t spread_count;
  bool endless; /* a fan-out of any size; `spreads` do not count */
} mapper_gate;

typedef struct mapper_question {
  const mapper_space *space; /* its lattice */
  const mapper_gate *gates;  /* per level */
  uint64_t most_work;
} mapper_question;

typedef struct mapper_reach {
  bool known; /* false: it would be too much work */
  uint64_t work;
  double spread; /* most multipliers of any nest; 0: there is no nest */
  /* [level * node_count + node], of nodes where the temporal loops of a level
     can end: most multipliers in use up to there; most times more from there
     until the nest is complete.  0: it cannot be. */
  float *inner, *outer;
} mapper_reach;

/* `spread` only. */
calm_status mapper_reach_ask(mapper_reach *out, const mapper_question *q,
                             arena *a);

/* All of it. */
calm_status mapper_reach_find(mapper_reach *out, const mapper_question *q,
                              arena *a);

/* Words of some tensors' tiles. */
double mapper_reach_words(const mapper_space *s, uint32_t node,
                          uint32_t tensors);

/* The least product of spatial factors below `level`, whose fan-out is endless,
   with which a nest can be completed; `r` is the answer to `q`.  Two rows of
   numbers, one per node, are used. */
double mapper_reach_least_fan(const mapper_reach *r, const mapper_question *q,
                              uint32_t level, float *row, float *after);

#endif
