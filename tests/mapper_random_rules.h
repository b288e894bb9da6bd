/*
 * Random constraints: mostly such as a given nest observes, some that it breaks
 * and some that nothing can observe.
 */
#ifndef CALM_TESTS_MAPPER_RANDOM_RULES_H
#define CALM_TESTS_MAPPER_RANDOM_RULES_H

#include "accel/accel_constraints.h"
#include "cost_random.h"

typedef struct mapper_rule_chances { /* percent */
  uint32_t factor;                   /* a rule on a dimension in a block */
  uint32_t order;                    /* a list of a block */
  uint32_t split, parallelism;
  uint32_t foreign; /* a rule that has nothing to do with the nest */
  uint32_t tight;   /* less capacity; not used here */
} mapper_rule_chances;

void mapper_random_rules(accel_constraints *out, const cost_random_case *c,
                         const mapper_rule_chances *chances, random_state *r,
                         arena *a);

void mapper_print_rules(const accel_constraints *c, const accel_layer *layer);

#endif
