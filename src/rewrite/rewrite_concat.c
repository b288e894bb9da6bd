/*
 * Which concats can be taken apart: those that join tensors of one kind along
 * their channels, and do nothing else.
 */
#include <stdlib.h>

#include "rewrite/rewrite_parts.h"

static bool is_missing(const graph *g, tensor_id t) {
  return g->producer[t] == CALM_NONE &&
         !(g->tensors.data[t].flags & CALM_TENSOR_INPUT);
}

static const char *refuse_operand(const graph *g, tensor_id t,
                                  const graph_tensor *y) {
  if (t == CALM_NONE) return "an operand of the concat is absent";
  const graph_tensor *x = &g->tensors.data[t];
  if (x->flags & CALM_TENSOR_CONST)
    return "an operand of the concat is a constant";
  if (x->flags & CALM_TENSOR_VARIABLE)
    return "an operand of the concat is a variable";
  if (is_missing(g, t)) return "nobody makes an operand of the concat";
  if (x->dynamic) return "dimensions of the concat are open";
  if (x->bytes == 0) return "an operand of the concat is empty";
  if (x->type != y->type)
    return "the operands of the concat differ in their element type";
  if (x->quantization != y->quantization)
    return "the concat rescales its operands";
  return NULL;
}

/* All dimensions but that of channels are those of the output. */
static bool joins_channels(const graph *g, const graph_tensor *x,
                           const graph_tensor *y) {
  const uint32_t axis = rewrite_channel_axis(g, y->rank);
  if (y->type == ELEMENT_ABSTRACT) return true;
  if (axis == CALM_NONE || x->rank != y->rank) return false;
  for (uint32_t i = 0; i < y->rank; i++)
    if (i != axis && x->dimensions[i] != y->dimensions[i]) return false;
  return true;
}

/* The axis as it is written, counted from the front or from the back. */
static bool says_channels(const graph *g, const graph_op *op, uint32_t rank) {
  const char *said = graph_op_attribute(op, "axis");
  const long axis = rewrite_channel_axis(g, rank);
  if (!said) return true;
  const long value = strtol(said, NULL, 10);
  return value == axis || value == axis - (long)rank;
}

static const char *refuse_shape(const graph *g, const graph_op *op,
                                const graph_tensor *y) {
  uint64_t channels = 0;
  if (y->type != ELEMENT_ABSTRACT && !says_channels(g, op, y->rank))
    return "the concat is not over channels";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const graph_tensor *x = &g->tensors.data[op->inputs[i]];
    if (!joins_channels(g, x, y)) return "the concat is not over channels";
    channels += rewrite_channels(g, x);
  }
  return channels == rewrite_channels(g, y) ? NULL
                                            : "the concat is not over channels";
}

const char *rewrite_refuse_concat(const rewrite_finder *f, op_id u) {
  const graph *g = f->g;
  const graph_op *op = &g->ops.data[u];
  const tensor_id out = rewrite_output(op);
  if (out == CALM_NONE) return "the concat has no output";
  const graph_tensor *y = &g->tensors.data[out];
  if (f->bound[u]) return "other operators wait for the concat, or it for them";
  if (graph_op_attribute(op, "activation"))
    return "the concat has an activation of its own";
  if (y->flags & CALM_TENSOR_VARIABLE) return "the concat is a variable";
  if (y->dynamic) return "dimensions of the concat are open";
  for (uint32_t i = 0; i < op->input_count; i++) {
    const char *refusal = refuse_operand(g, op->inputs[i], y);
    if (refusal) return refusal;
  }
  return refuse_shape(g, op, y);
}
