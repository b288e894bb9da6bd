/*
 * Weights are weights wherever they come from.  Exporters write them as
 * initializers, as Constant nodes, or as a ConstantOfShape, an Identity, a
 * DequantizeLinear, a Transpose or a Cast of such; runtimes compute all of them
 * once, before the first run.  So a node of ai.onnx that draws nothing at
 * random, runs no body and reads weights alone is no operator, and what it
 * writes is a weight.  Weights that the caller may replace are weights, but
 * what is computed from them is not.
 */
#include <string.h>

#include "model/onnx_parts.h"

static bool has_prefix(const char *word, const char *prefix) {
  return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* Sequences and optionals are no tensors and stay what they are. */
static bool makes_tensors(const onnx_node *node) {
  return !has_prefix(node->op_type, "Sequence") &&
         !has_prefix(node->op_type, "Optional") &&
         !has_prefix(node->op_type, "SplitToSequence");
}

static bool runs_bodies(const onnx_node *node) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].graphs) return true;
  return false;
}

static bool is_fixed(const onnx_graph *g, value_id v) {
  const unsigned flags = g->values.data[v].flags;
  return (flags & ONNX_VALUE_WEIGHT) &&
         !(flags & (ONNX_VALUE_DEFAULT | ONNX_VALUE_OPAQUE));
}

static bool computes_weights(const onnx_graph *g, const onnx_node *node) {
  if (*node->domain || node->function != CALM_NONE || onnx_is_random(g, node) ||
      !makes_tensors(node) || runs_bodies(node))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != CALM_NONE && !is_fixed(g, node->inputs[i]))
      return false;
  return true;
}

static void inherit_flags(onnx_reader *r, onnx_graph *g) {
  const unsigned kept =
      ONNX_VALUE_WEIGHT | ONNX_VALUE_DEFAULT | ONNX_VALUE_OPAQUE;
  for (value_id v = 0; v < g->values.count; v++) {
    onnx_value *value = &g->values.data[v];
    if (value->flags & ONNX_VALUE_OUTER)
      value->flags |=
          r->graphs.data[g->parent].values.data[value->outer].flags & kept;
  }
}

/* A graph comes behind the one around it, whose weights are then known. */
void onnx_mark_weights(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    onnx_graph *g = &r->graphs.data[i];
    inherit_flags(r, g);
    for (uint32_t n = 0; n < g->nodes.count; n++) {
      onnx_node *node = &g->nodes.data[g->order[n]];
      node->weights_only = computes_weights(g, node);
      for (uint32_t k = 0; node->weights_only && k < node->output_count; k++)
        if (node->outputs[k] != CALM_NONE)
          g->values.data[node->outputs[k]].flags |= ONNX_VALUE_WEIGHT;
    }
  }
}
