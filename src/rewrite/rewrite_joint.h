/*
 * Where a chain of operators may be joined into one: at a tensor that nobody
 * else needs, between operators that no control edge holds.
 */
#ifndef CALM_REWRITE_REWRITE_JOINT_H
#define CALM_REWRITE_REWRITE_JOINT_H

#include "graph/graph.h"

/* An operator with one output, no state, no workspace and only data edges. */
bool rewrite_is_loose(const graph *g, op_id u);

/* The loose operator that makes `t`, if one operand of one operator is all that
   needs it; else CALM_NONE. */
op_id rewrite_sole_source(const graph *g, tensor_id t);

/* Equal type and dimensions; of abstract tensors, equal bytes. */
bool rewrite_same_shape(const graph_tensor *a, const graph_tensor *b);

#endif
