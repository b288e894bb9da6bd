/* The edit that keeps every tensor and operator, for tests of what rebuilds
   files. */
#ifndef CALM_TESTS_EDIT_IDENTITY_H
#define CALM_TESTS_EDIT_IDENTITY_H

#include "graph/graph_edit.h"

static inline calm_status edit_keep_all(graph_edit *edit, const graph *g) {
  uint32_t id;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    TRY(graph_edit_add_tensor(
        &id, edit, &g->tensors.data[t],
        &(edit_tensor){.from = t, .contents = EDIT_SAME}));
  for (op_id u = 0; u < g->ops.count; u++)
    TRY(graph_edit_add_op(
        &id, edit, &g->ops.data[u],
        &(edit_op){.from = u, .role = EDIT_KEEP, .activation = true}));
  return graph_edit_finish(edit, "identity");
}

#endif
