/*
 * What a label costs at least once it is spread over the next fan-out, for all
 * ways to spread of one kind at a time.  Most labels are worth nothing at any
 * of the fan-out's kinds, and need not be tried at each of its spreads.
 */
#ifndef CALM_MAPPER_MAPPER_PROSPECT_H
#define CALM_MAPPER_MAPPER_PROSPECT_H

#include "base/arena.h"
#include "mapper/mapper_bound.h"

/* A chain before spreading. */
typedef struct mapper_crossing {
  const mapper_chain *chain;
  double words;   /* at least */
  double unmoved; /* iterations that do not move it */
  double halo;
  double fans; /* beyond this one, up to the parent */
  bool below;  /* is the parent further out? */
} mapper_crossing;

typedef struct mapper_prospect {
  const mapper_space *space;
  const mapper_label *label; /* that is to be spread */
  uint32_t level;            /* whose fan-out it is */
  uint32_t stands;           /* that level, or a level further in, among whose
                                temporal loops the label stands */
  uint32_t most_casts;       /* of any tensor, in any fan-out */
  double *costs; /* [((t * most_casts + cast) * account_count + account) * 2]:
                    if the free loops of the tensor do not come first, and if
                    they do */
  bool *priced;  /* [t * most_casts + cast]: are these known? */
  double *bases; /* per account: what no cast changes */
  mapper_crossing *crossings; /* by tensor; those of t begin at first[t] */
  uint32_t first[ACCEL_MAX_TENSORS + 1];
  uint32_t *lucky; /* per level: the kind to try first */
} mapper_prospect;

/* Sorts the spreads of a fan-out by kind. */
calm_status mapper_prospect_sort(mapper_fan *fan, const mapper_space *s,
                                 mapper_spread *spreads, arena *a);

calm_status mapper_prospect_init(mapper_prospect *out, const mapper_space *s,
                                 arena *a);

/* The label stands at the end of the temporal loops below `level`. */
void mapper_prospect_look(mapper_prospect *p, const mapper_label *l,
                          uint32_t level);

/* The label stands among the temporal loops of `level`.  False if there is no
   fan-out any more, or if the next one has too many kinds. */
bool mapper_prospect_look_ahead(mapper_prospect *p, const mapper_label *l,
                                uint32_t level, uint32_t most_kinds);

mapper_floor mapper_prospect_floor(mapper_prospect *p, const mapper_kind *kind);

#endif
