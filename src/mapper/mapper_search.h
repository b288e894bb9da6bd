/*
 * The search: all labels whose bound is below a threshold, from the innermost
 * level outwards, and the best nest among them.  It goes in rounds; each raises
 * the threshold, and adds what the rounds before had pruned.
 */
#ifndef CALM_MAPPER_MAPPER_SEARCH_H
#define CALM_MAPPER_MAPPER_SEARCH_H

#include "base/vector.h"
#include "cost/cost_frame.h"
#include "mapper/mapper_dominance.h"
#include "mapper/mapper_prospect.h"
#include "mapper/mapper_front.h"

/* How a label came to be: a loop, or spreading below a level. */
typedef struct mapper_trail {
  uint32_t before; /* index, CALM_NONE: nothing */
  uint32_t what;   /* temporal: axis << 16 | digit; spatial: of the fan */
  uint16_t level;
  uint16_t order; /* spatial: which of the ways to arrange it */
  bool spatial;
  bool turned; /* what it led to gave way to its twin */
} mapper_trail;

typedef struct mapper_search {
  const mapper_space *space;
  mapper_space blocks; /* the same, for what is rounded; tables NULL: not yet */
  const mapper_rules *rules;
  mapper_objective objective;
  limits *limits;
  calm_context *context;
  double threshold; /* labels that cannot stay below are pruned */
  double spread;    /* 0; else nests that use so many multipliers only */
  double cap;       /* so are those with more cycles */
  double pruned;    /* the least bound of those */
  mapper_prospect prospect; /* of a label that is spread */
  mapper_prospect ahead;    /* of one that may be */
  double floor;             /* children of a label have at least this bound */
  double handled; /* children of a label: those of lesser bounds are there */
  double waiting; /* ... and the least bound of those that are pruned */
  double capped;  /* least cycles of labels beyond the cap */
  bool rounded;   /* look for the best when all is rounded */
  double score;   /* of the best complete label */
  uint64_t states, most_states;
  uint64_t last_ticks; /* rounded: most of a round */
  uint64_t last_tick;  /* ... stop then */
  uint64_t held;       /* bytes of the space */
  VECTOR(mapper_trail) trail;
  VECTOR(uint64_t) labels; /* indices of labels are places in here */
  uint32_t *heads;         /* [level * node_count + node]: a list of labels */
  double *wakes;           /* likewise: the least bound of their children that
                              are pruned */
  double begin_next;       /* likewise, before all loops */
  bool begun;              /* there were rounds, with these: */
  double begun_spread, begun_cap;
  bool begun_rounded;
  mapper_label *label, *above, *next; /* scratch */
  accel_nest nest;                    /* scratch */
  accel_loop loops[2 * COST_MOST_STEPS];
  cost_result cost; /* scratch */
  cost_result best; /* of the nest below; value: of the objective */
  accel_nest best_nest;
  double value;
  double value_cap;    /* a nest with more cycles is of no use */
  bool any;            /* nest that is within the cap will do */
  bool found;          /* is there a nest in best_nest? */
  mapper_front *front; /* NULL, or where all nests go that none beats */
  bool stopped;
} mapper_search;

calm_status mapper_search_init(mapper_search *out, const mapper_space *s,
                               const mapper_rules *rules, limits *l, arena *a);
void mapper_search_free(mapper_search *m);

/* Held by the space, labels and trails. */
uint64_t mapper_search_bytes(const mapper_search *m);

/* Goes on from the last round, unless what it looks for is not the same any
   more; then it starts again.  Keeps the best nest of all rounds. */
calm_status mapper_search_round(mapper_search *m, double threshold);

/* The bound of the very first label. */
double mapper_search_root(mapper_search *m);

/* A nest that was found elsewhere. */
calm_status mapper_search_adopt(mapper_search *m, const accel_nest *n);

/* The nest of a complete label: evaluates it, keeps it if it is better. */
calm_status mapper_search_keep(mapper_search *m, uint32_t trail);

#endif
