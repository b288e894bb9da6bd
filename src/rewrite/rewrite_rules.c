/* The table of rules, for whoever shows it. */
#include "rewrite/rewrite.h"

static const calm_rule_info rules[REWRITE_RULES] = {
#define RULE(name, option, needs, identity, cost) \
  {#name, option, needs, identity, cost},
#include "rewrite/rules.def"
#undef RULE
};

const calm_rule_info *calm_rule_at(size_t index) {
  return index < REWRITE_RULES ? &rules[index] : NULL;
}
