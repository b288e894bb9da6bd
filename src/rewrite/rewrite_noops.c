/* Operators that hand on their input as it is: who reads the output reads the
   input. */
#include <string.h>

#include "rewrite/rewrite_parts.h"

/* The operand that is handed on, by kind; CALM_NONE: it is another kind. */
static uint32_t handed_slot(const graph *g, const graph_op *op) {
  switch (op->kind) {
    case OP_identity:
    case OP_dropout:
    case OP_reshape:
    case OP_squeeze:
    case OP_expand_dims:
    case OP_bitcast:
    case OP_cast: return 0;
    case OP_concat: return op->input_count == 1 ? 0 : CALM_NONE;
    case OP_split:
    case OP_split_v:
      for (uint32_t i = 0; i < op->input_count; i++)
        if (op->inputs[i] != CALM_NONE &&
            !(g->tensors.data[op->inputs[i]].flags & CALM_TENSOR_CONST))
          return i;
      return CALM_NONE;
    default: return CALM_NONE;
  }
}

/* Between tensors of which only the bytes are known, a cast may do anything. */
static bool casts(op_kind kind) {
  return kind == OP_bitcast || kind == OP_cast;
}

static bool same_contents(const graph_tensor *x, const graph_tensor *y,
                          op_kind kind) {
  if (x->type != y->type || x->rank != y->rank || x->bytes != y->bytes ||
      x->quantization != y->quantization || x->dynamic || y->dynamic)
    return false;
  if (x->type == ELEMENT_ABSTRACT) return !casts(kind);
  return x->rank == 0 ||
         !memcmp(x->dimensions, y->dimensions, x->rank * sizeof *x->dimensions);
}

tensor_id rewrite_handed_on(const graph *g, op_id u) {
  const graph_op *op = &g->ops.data[u];
  const uint32_t slot = handed_slot(g, op);
  const tensor_id in = rewrite_operand(op, slot), out = rewrite_output(op);
  if (in == CALM_NONE || out == CALM_NONE ||
      graph_op_attribute(op, "activation") ||
      !same_contents(&g->tensors.data[in], &g->tensors.data[out], op->kind))
    return CALM_NONE;
  return in;
}

/* A variable may change between the no-op and those who read its output; a
   constant may be what a file asks for by its name. */
static const char *refuse_ends(const graph_tensor *x, const graph_tensor *y) {
  if (y->flags & CALM_TENSOR_OUTPUT) return "its output is one of the graph";
  if ((x->flags | y->flags) & CALM_TENSOR_VARIABLE)
    return "it copies a variable";
  if (x->flags & CALM_TENSOR_CONST) return "it copies a constant";
  return NULL;
}

/* Graphs that an operator runs may ask for its output by name. */
static bool is_captured(const graph *g, tensor_id t) {
  for (uint32_t i = g->reader_begin[t]; i < g->reader_begin[t + 1]; i++)
    if (g->ops.data[g->readers[i]].body_count) return true;
  return false;
}

static const char *refuse(const rewrite_finder *f, op_id u, tensor_id in,
                          tensor_id out) {
  const graph *g = f->g;
  if (f->bound[u]) return "other operators wait for it, or it for them";
  if (is_captured(g, out)) return "a graph inside this one reads its output";
  return refuse_ends(&g->tensors.data[in], &g->tensors.data[out]);
}

static calm_status find(rewrite_finder *f, op_id u) {
  const graph *g = f->g;
  const tensor_id in = rewrite_handed_on(g, u);
  if (in == CALM_NONE) return CALM_OK;
  const tensor_id out = rewrite_output(&g->ops.data[u]);
  return rewrite_add_site(f, REWRITE_noops, u, refuse(f, u, in, out), true);
}

const rewrite_hooks rewrite_noops_hooks = {.find = find};
