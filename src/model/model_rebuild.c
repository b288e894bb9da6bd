/* The constants of a model and its file with another graph, by format. */
#include "model/model.h"

static calm_status no_file(const calm_model *model) {
  return context_fail(
      model->context, CALM_MISUSE,
      "%s: only a model that was opened from a .tflite or .onnx "
      "file has constants",
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
