/* Which operators stand so free that a chain may go through them. */
#include "rewrite/rewrite_joint.h"

#include <string.h>

#include "rewrite/rewrite_parts.h"

/* The producers of an operator's operands, each once as in preds; operands are
   few where this is asked. */
static uint32_t count_producers(const graph *g, const graph_op *op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->input_count; i++) {
    bool first =
        op->inputs[i] != CALM_NONE && g->producer[op->inputs[i]] != CALM_NONE;
    for (uint32_t k = 0; k < i && first; k++)
      first = op->inputs[k] == CALM_NONE ||
              g->producer[op->inputs[k]] != g->producer[op->inputs[i]];
    count += first;
  }
  return count;
}

static uint32_t count_reading_ops(const graph *g, tensor_id t) {
  uint32_t count = 0;
  for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++)
    count += i == g->reader_begin[t] || g->readers[i] != g->readers[i - 1];
  return count;
}

bool rewrite_is_loose(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  const tensor_id y = rewrite_output(op);
  if (y == CALM_NONE || op->after_count || op->body_count ||
      op->workspace_bytes || graph_op_stateful(op))
    return false;
  return g->pred_begin[u + 1] - g->pred_begin[u] == count_producers(g, op) &&
         g->succ_begin[u + 1] - g->succ_begin[u] == count_reading_ops(g, y);
}

op_id rewrite_sole_source(const graph *g, tensor_id t) {
  const op_id u = g->producer[t];
  if (u == CALM_NONE || rewrite_readers(g, t) != 1) return CALM_NONE;
  if (g->tensors.data[t].flags & (CALM_TENSOR_OUTPUT | CALM_TENSOR_VARIABLE))
    return CALM_NONE;
  return rewrite_is_loose(g, u) ? u : CALM_NONE;
}

bool rewrite_same_shape(const graph_tensor *a, const graph_tensor *b) {
  return a->type == b->type && a->bytes == b->bytes && a->rank == b->rank &&
         (a->rank == 0 || !memcmp(a->dimensions, b->dimensions,
                                  a->rank * sizeof *a->dimensions));
}
