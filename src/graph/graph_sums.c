#include "graph/graph_sums.h"

#include <inttypes.h>

static const graph_tensor *tensor_at(const graph *g, tensor_id t) {
  return &g->tensors.data[t];
}

static calm_status fail(const graph *g, const char *path, const graph_op *op,
                        tensor_id t, const char *what) {
  return graph_fail(g->arena->context, path, op->place,
                    "operator '%s': tensor '%s' %s", op->name,
                    tensor_at(g, t)->name, what);
}

/* One output that lives no longer than the graph runs. */
static calm_status check_output(const graph *g, const char *path,
                                const graph_op *op) {
  if (op->output_count != 1 || op->outputs[0] == CALM_NONE)
    return graph_fail(g->arena->context, path, op->place,
                      "operator '%s': one of kind %s has exactly one output",
                      op->name, op->kind_name);
  if (tensor_at(g, op->outputs[0])->flags & CALM_TENSOR_VARIABLE)
    return fail(g, path, op, op->outputs[0],
                "is a variable, and a sum is none");
  return CALM_OK;
}

/* An operand has no bytes but those of the sum, and nobody else sees it. */
static calm_status check_operand(const graph *g, const char *path,
                                 const graph_op *sum, tensor_id t) {
  const unsigned apart = CALM_TENSOR_INPUT | CALM_TENSOR_OUTPUT |
                         CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE;
  if (tensor_at(g, t)->flags & apart || g->producer[t] == CALM_NONE)
    return fail(g, path, sum, t,
                "is added up in place, so an operator has to compute it, and "
                "it can be no input, output, const or variable");
  if (g->reader_begin[t + 1] - g->reader_begin[t] != 1)
    return fail(g, path, sum, t,
                "is added up in place, so nobody else can read it, nor the sum "
                "twice");
  if (tensor_at(g, t)->bytes != tensor_at(g, sum->outputs[0])->bytes)
    return fail(g, path, sum, t, "does not have the bytes of the sum");
  return CALM_OK;
}

static calm_status check_sum(const graph *g, const char *path,
                             const graph_op *op) {
  TRY(check_output(g, path, op));
  if (op->input_count == 0)
    return graph_fail(g->arena->context, path, op->place,
                      "operator '%s': a partial_sum has at least one operand",
                      op->name);
  for (uint32_t i = 0; i < op->input_count; i++) {
    if (op->inputs[i] == CALM_NONE)
      return graph_fail(g->arena->context, path, op->place,
                        "operator '%s': operand %" PRIu32
                        " of a partial_sum is absent",
                        op->name, i);
    TRY(check_operand(g, path, op, op->inputs[i]));
  }
  return CALM_OK;
}

/* What an add_into makes is told by its one reader, if that is a sum. */
static calm_status check_addition(const graph *g, const char *path,
                                  const graph_op *op) {
  TRY(check_output(g, path, op));
  const tensor_id out = op->outputs[0];
  if (op->input_count != 1 || op->inputs[0] == CALM_NONE)
    return graph_fail(g->arena->context, path, op->place,
                      "operator '%s': an add_into has exactly one operand",
                      op->name);
  if (tensor_at(g, op->inputs[0])->bytes != tensor_at(g, out)->bytes)
    return fail(g, path, op, op->inputs[0],
                "does not have the bytes of what is made of it");
  if (!graph_goes_into_sum(g, out))
    return fail(g, path, op, out,
                "is the output of an add_into, so a partial_sum has to read "
                "it");
  return CALM_OK;
}

bool graph_goes_into_sum(const graph *g, tensor_id t) {
  const uint32_t first = g->reader_begin[t];
  return first < g->reader_begin[t + 1] &&
         g->ops.data[g->readers[first]].kind == OP_partial_sum;
}

bool graph_has_sums(const graph *g) {
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == OP_partial_sum) return true;
  return false;
}

calm_status graph_check_sums(const graph *g, const char *path) {
  for (op_id u = 0; u < g->ops.count; u++) {
    const graph_op *op = &g->ops.data[u];
    if (op->kind == OP_partial_sum) TRY(check_sum(g, path, op));
    if (op->kind == OP_add_into) TRY(check_addition(g, path, op));
  }
  return CALM_OK;
}
