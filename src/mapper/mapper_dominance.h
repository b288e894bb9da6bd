/*
 * When one label makes another superfluous: whatever completes the second costs
 * no less than the same after the first.
 */
#ifndef CALM_MAPPER_MAPPER_DOMINANCE_H
#define CALM_MAPPER_MAPPER_DOMINANCE_H

#include "mapper/mapper_label.h"

/* How labels are compared. */
typedef struct mapper_comparison {
  const mapper_space *space;
  uint32_t level;   /* both stand among its temporal loops, at the same node */
  bool delay;       /* cycles matter */
  bool same_spread; /* both have to use as many multipliers in the end */
  bool rounded;     /* costs as they are when all is rounded */
  bool ties;        /* rounded: a cycle decides */
  double more_pj;   /* rounded: what a cycle can mean, in energy */
} mapper_comparison;

bool mapper_dominates(const mapper_comparison *c, const mapper_label *a,
                      const mapper_label *b);

/* Do they differ in nothing that matters, not even for how counts are rounded?
 */
bool mapper_label_equal(const mapper_space *s, const mapper_label *a,
                        const mapper_label *b);

#endif
