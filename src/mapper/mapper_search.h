/*
 * One round of the search: all labels whose bound is below a threshold, from
 * the innermost level outwards, and the best nest among them.
 */
#ifndef CALM_MAPPER_MAPPER_SEARCH_H
#define CALM_MAPPER_MAPPER_SEARCH_H

#include "base/vector.h"
#include "cost/cost_frame.h"
#include "mapper/mapper_dominance.h"

/* How a label came to be: a loop, or spreading below a level. */
typedef struct mapper_trail {
  uint32_t before; /* index, CALM_NONE: nothing */
  uint32_t what;   /* temporal: axis << 16 | digit; spatial: of the fan */
  uint16_t level;
  uint16_t order; /* spatial: which of the ways to arrange it */
  bool spatial;
} mapper_trail;

/* Labels of one block: a pool, and lists by node. */
typedef struct mapper_shelf {
  unsigned char *labels;
  uint32_t count, capacity;
  uint32_t *heads; /* per node */
} mapper_shelf;

typedef struct mapper_search {
  const mapper_space *space;
  const mapper_rules *rules;
  mapper_objective objective;
  limits *limits;
  calm_context *context;
  double threshold; /* labels that cannot stay below are pruned */
  double spread;    /* 0; else nests that use so many multipliers only */
  double cap;       /* so are those with more cycles */
  double pruned;    /* the least bound of those */
  double capped;    /* least cycles of labels beyond the cap */
  bool rounded;     /* look for the best when all is rounded */
  double score;     /* of the best complete label */
  uint64_t states, most_states;
  VECTOR(mapper_trail) trail;
  mapper_shelf shelves[2];
  mapper_label *label, *above, *next; /* scratch */
  accel_nest nest;                    /* scratch */
  accel_loop loops[2 * COST_MOST_STEPS];
  cost_result cost; /* scratch */
  cost_result best; /* of the nest below; value: of the objective */
  accel_nest best_nest;
  double value;
  double value_cap; /* a nest with more cycles is of no use */
  bool found;       /* is there a nest in best_nest? */
  bool stopped;
} mapper_search;

calm_status mapper_search_init(mapper_search *out, const mapper_space *s,
                               const mapper_rules *rules, limits *l, arena *a);
void mapper_search_free(mapper_search *m);

/* Also keeps the best nest of earlier rounds. */
calm_status mapper_search_round(mapper_search *m, double threshold);

/* The bound of the very first label. */
double mapper_search_root(mapper_search *m);

/* The nest of a complete label: evaluates it, keeps it if it is better. */
calm_status mapper_search_keep(mapper_search *m, uint32_t trail);

#endif
