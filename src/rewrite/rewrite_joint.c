/* Which operators stand so free that a chain may go through them. */
#include "rewrite/rewrite_joint.h"

#include <string.h>

#include "rewrite/rewrite_parts.h"

/* Does `u` read t?  Its readers are in their order. */
static bool is_reader(const graph *g, op_id u, tensor_id t) {
  uint32_t low = g->reader_begin[t], high = g->reader_begin[t + 1];
  const uint32_t end = high;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (g->readers[middle] < u)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && g->readers[low] == u;
}

static bool makes_operand(const graph *g, op_id pred, op_id u) {
  const graph_op *op = &g->ops.data[pred];
  for (uint32_t i = 0; i < op->output_count; i++)
    if (op->outputs[i] != CALM_NONE && is_reader(g, u, op->outputs[i]))
      return true;
  return false;
}

static bool waits_for_operands_only(const graph *g, op_id u) {
  for (uint32_t i = g->pred_begin[u]; i < g->pred_begin[u + 1]; i++)
    if (!makes_operand(g, g->preds[i], u)) return false;
  return true;
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
  return waits_for_operands_only(g, u) &&
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
