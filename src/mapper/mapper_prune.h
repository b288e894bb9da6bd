/*
 * Which labels are of no use in a round of the search: their bounds are not
 * below the threshold, or beyond the cap, or nothing new on the front.  What is
 * pruned is noted in the search: the least bound (`waiting`), or the least
 * cycles if that is what it was pruned for (`capped`).
 */
#ifndef CALM_MAPPER_MAPPER_PRUNE_H
#define CALM_MAPPER_MAPPER_PRUNE_H

#include "mapper/mapper_search.h"

/* What a nest of such costs is judged by. */
double mapper_prune_score(const mapper_search *m, const mapper_floor *f);

/* Can no completion of the label be of use?  Its score is put into it. */
bool mapper_prune_label(mapper_search *m, mapper_label *l, uint32_t level);

/* ... or was it made when its parent was expanded before? */
bool mapper_prune_child(mapper_search *m, mapper_label *l, uint32_t level);

/* Is no spread of the kind of any use to the label that m->prospect looks at?
 *floor: the score that all of them have at least. */
bool mapper_prune_kind(double *floor, mapper_search *m, const mapper_label *l,
                       const mapper_kind *kind);

#endif
