/* Sums whose operands are added in any order. */
#include "rewrite/rewrite_parts.h"

const rewrite_hooks rewrite_sums_hooks = {0};
