/* Operators and tensors as JSON. */
#include "report/report_graph.h"

static json_t *index_of(uint32_t file_index) {
  return file_index == CALM_NONE ? json_null()
                                 : json_integer((json_int_t)file_index);
}

/* Positions in "tensors"; null: absent. */
static json_t *list_operands(const tensor_id *operands, uint32_t count) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    list = report_json_append(list, index_of(operands[i]));
  return list;
}

static json_t *write_op(arena *scratch, const graph_op *op) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name",
                   report_json_name(scratch, op->name), "kind",
                   report_json_name(scratch, op->kind_name), "index",
                   index_of(op->file_index), "inputs",
                   list_operands(op->inputs, op->input_count), "outputs",
                   list_operands(op->outputs, op->output_count));
}

static const char *role_of(unsigned flags) {
  if (flags & CALM_TENSOR_CONST) return "const";
  if (flags & CALM_TENSOR_VARIABLE) return "variable";
  if (flags & CALM_TENSOR_INPUT) return "input";
  return flags & CALM_TENSOR_OUTPUT ? "output" : "activation";
}

static json_t *list_dimensions(const graph_tensor *t) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < t->rank; i++)
    list = report_json_append(list, json_integer(t->dimensions[i]));
  return list;
}

static json_t *write_tensor(arena *scratch, const graph_tensor *t) {
  const bool typed = t->type != ELEMENT_ABSTRACT;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:s}", "name",
      report_json_name(scratch, t->name), "index", index_of(t->file_index),
      "type", typed ? json_string(element_type_name(t->type)) : json_null(),
      "shape", typed ? list_dimensions(t) : json_null(), "bytes",
      report_json_number(t->bytes), "role", role_of(t->flags));
}

json_t *report_graph_json(arena *scratch, const graph *g) {
  json_t *operators = json_array(), *tensors = json_array();
  for (op_id op = 0; op < g->ops.count; op++)
    operators =
        report_json_append(operators, write_op(scratch, &g->ops.data[op]));
  for (tensor_id t = 0; t < g->tensors.count; t++)
    tensors =
        report_json_append(tensors, write_tensor(scratch, &g->tensors.data[t]));
  return json_pack("{s:o, s:o}", "operators", operators, "tensors", tensors);
}
