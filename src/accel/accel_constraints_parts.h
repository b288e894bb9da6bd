/*
 * What the files that read constraints share: rules as they are gathered, and
 * how a contradiction is told.
 */
#ifndef CALM_ACCEL_ACCEL_CONSTRAINTS_PARTS_H
#define CALM_ACCEL_ACCEL_CONSTRAINTS_PARTS_H

#include "accel/accel_nest_parts.h"

typedef struct accel_rules_draft {
  accel_subject subject;
  accel_constraints rules;
} accel_rules_draft;

/* "file:line" of a place, for the middle of a message. */
enum { ACCEL_SPOT_SIZE = 256 };
const char *accel_place_spot(char spot[ACCEL_SPOT_SIZE], accel_place place);

/* Room for the rules of all levels: none yet. */
calm_status accel_rules_begin(accel_rules_draft *d);

/* Add what a directive says of a level.  What contradicts an earlier rule on
   the same thing is an error with both places. */
calm_status accel_rules_add(accel_rules_draft *d, uint32_t level,
                            accel_directive_type type,
                            const accel_yaml *directive);
calm_status accel_rules_add_tensors(accel_rules_draft *d, uint32_t level,
                                    uint32_t keep, uint32_t bypass,
                                    accel_place place);
calm_status accel_rules_add_factor(accel_rules_draft *d, uint32_t level,
                                   bool spatial, const accel_factor_rule *rule);

/* Timeloop's front end of version 0.4 puts the dimensions that can have no
   spatial loop innermost into the order of a mesh, if they are not in it; they
   take the first places of the split.  When all rules are there. */
void accel_rules_place_ones(accel_rules_draft *d);

/* Can all rules hold at once?  Otherwise an error that names those that
   cannot. */
calm_status accel_rules_settle(const accel_rules_draft *d);

/* The least and the largest factor that a rule allows. */
uint64_t accel_rule_low(const accel_factor_rule *r);
uint64_t accel_rule_high(const accel_factor_rule *r);

#endif
