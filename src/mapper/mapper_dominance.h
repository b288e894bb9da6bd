/*
 * When one label makes another superfluous: whatever completes the second costs
 * no less than the same after the first.
 */
#ifndef CALM_MAPPER_MAPPER_DOMINANCE_H
#define CALM_MAPPER_MAPPER_DOMINANCE_H

#include "mapper/mapper_label.h"

/* Both stand at the same node among the temporal loops of `level`. */
bool mapper_dominates(const mapper_space *s, const mapper_label *a,
                      const mapper_label *b, uint32_t level, bool delay);

/* Do they differ in nothing that matters, not even for how counts are rounded?
 */
bool mapper_label_equal(const mapper_space *s, const mapper_label *a,
                        const mapper_label *b);

#endif
