/* Rewritten .onnx files. */
#include "model/model.h"

calm_status onnx_rebuild(const uint8_t **out, size_t *length,
                         const calm_model *model, const graph_edit *edit,
                         arena *a) {
  (void)out, (void)length, (void)edit, (void)a;
  return context_fail(model->context, CALM_UNSUPPORTED,
                      "%s: rewritten .onnx files cannot be written yet",
                      model->path);
}
