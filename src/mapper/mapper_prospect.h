/*
 * What a label costs at least once it is spread over the next fan-out, for all
 * ways to spread of one kind at a time.  Most labels are worth nothing at any
 * of the fan-out's kinds, and need not be tried at each of its spreads.
 */
#ifndef CALM_MAPPER_MAPPER_PROSPECT_H
#define CALM_MAPPER_MAPPER_PROSPECT_H

#include "base/arena.h"
#include "mapper/mapper_bound.h"

typedef struct mapper_prospect {
  const mapper_space *space;
  const mapper_label *label; /* that is to be spread */
  uint32_t level;            /* whose fan-out it is */
  uint32_t most_casts;       /* of any tensor, in any fan-out */
  double *costs; /* [((t * most_casts + cast) * account_count + account) * 2]:
                    if the free loops of the tensor do not come first, and if
                    they do */
  double *bases; /* per account: what no cast changes */
} mapper_prospect;

/* Sorts the spreads of a fan-out by kind. */
calm_status mapper_prospect_sort(mapper_fan *fan, const mapper_space *s,
                                 mapper_spread *spreads, arena *a);

calm_status mapper_prospect_init(mapper_prospect *out, const mapper_space *s,
                                 arena *a);

/* The label stands at the end of the temporal loops below `level`. */
void mapper_prospect_look(mapper_prospect *p, const mapper_label *l,
                          uint32_t level);

mapper_floor mapper_prospect_floor(const mapper_prospect *p,
                                   const mapper_kind *kind);

#endif
