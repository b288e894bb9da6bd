/* Rewritten .tflite files. */
#include "model/model.h"

calm_status tflite_constant(const uint8_t **out, uint64_t *length,
                            const calm_model *model, tensor_id t, arena *a) {
  (void)out, (void)length, (void)t, (void)a;
  return context_fail(model->context, CALM_UNSUPPORTED,
                      "%s: constants of .tflite files cannot be read yet",
                      model->path);
}

calm_status tflite_rebuild(const uint8_t **out, size_t *length,
                           const calm_model *model, const graph_edit *edit,
                           arena *a) {
  (void)out, (void)length, (void)edit, (void)a;
  return context_fail(model->context, CALM_UNSUPPORTED,
                      "%s: rewritten .tflite files cannot be written yet",
                      model->path);
}
