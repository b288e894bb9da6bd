/* The file of a rewritten model, by format, and the numbers in it. */
#include "model/model.h"

#include <string.h>

static calm_status no_file(const calm_model *model) {
  return context_fail(
      model->context, CALM_MISUSE,
      "%s: a model that was built or read from memory has no file "
      "to be rewritten; open a file",
      model->path);
}

calm_status model_constant(const uint8_t **out, uint64_t *length,
                           const calm_model *model, tensor_id t, arena *a) {
  if (!model->map.bytes) return no_file(model);
  switch (model->format) {
    case MODEL_TFLITE: return tflite_constant(out, length, model, t, a);
    case MODEL_ONNX: return onnx_constant(out, length, model, t, a);
    default: return no_file(model);
  }
}

calm_status model_rebuild(const uint8_t **out, size_t *length,
                          const calm_model *model, const graph_edit *edit,
                          arena *a) {
  if (!model->map.bytes) return no_file(model);
  switch (model->format) {
    case MODEL_TFLITE: return tflite_rebuild(out, length, model, edit, a);
    case MODEL_ONNX: return onnx_rebuild(out, length, model, edit, a);
    default: return no_file(model);
  }
}

/* ---- Numbers ------------------------------------------------------------- */

static calm_status find_numbers(tensor_id *out, const calm_model *model,
                                const graph *like, name_table *names) {
  const graph *g = &model->graphs.data[0];
  for (tensor_id t = 0; t < like->tensors.count; t++)
    TRY(name_table_add(names, like->tensors.data[t].name, t));
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    out[t] = name_table_find(names, g->tensors.data[t].name);
    if (out[t] == CALM_NONE || g->tensors.count != like->tensors.count)
      return context_fail(model->context, CALM_INTERNAL,
                          "%s: tensor '%.100s' is not one of those meant",
                          model->path, g->tensors.data[t].name);
  }
  return CALM_OK;
}

static void renumber(tensor_id *ids, uint32_t count, const tensor_id *numbers) {
  for (uint32_t i = 0; i < count; i++)
    if (ids[i] != CALM_NONE) ids[i] = numbers[ids[i]];
}

calm_status model_number_like(calm_model *model, const graph *like) {
  graph *g = &model->graphs.data[0];
  tensor_id *numbers;
  graph_tensor *old;
  name_table names;
  ARENA_ARRAY(&model->arena, numbers, g->tensors.count);
  ARENA_ARRAY(&model->arena, old, g->tensors.count);
  name_table_init(&names, model->context);
  const calm_status status = find_numbers(numbers, model, like, &names);
  name_table_free(&names);
  TRY(status);
  for (tensor_id t = 0; t < g->tensors.count; t++) old[t] = g->tensors.data[t];
  for (tensor_id t = 0; t < g->tensors.count; t++)
    g->tensors.data[numbers[t]] = old[t];
  for (op_id u = 0; u < g->ops.count; u++) {
    graph_op *op = &g->ops.data[u];
    renumber(op->inputs, op->input_count, numbers);
    renumber(op->outputs, op->output_count, numbers);
  }
  return graph_finish(g, model->path);
}
