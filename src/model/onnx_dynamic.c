/*
 * Sizes that --dim gives hold for the plan, not for the file: who runs it may
 * choose others.  So the file is read once more without them, and what then has
 * an open dimension, other than the first, is not the same from run to run.
 */
#include <string.h>

#include "model/onnx_parts.h"

static bool is_open(const onnx_shape *shape) {
  if (shape->rank == ONNX_NO_RANK) return true;
  for (uint32_t axis = 1; axis < shape->rank; axis++)
    if (shape->dims[axis] < 0) return true;
  return false;
}

/* Both readings find the same values; if the second does not end well (NULL),
   nothing is certain. */
static void mark(graph *to, const onnx_graph *open) {
  for (tensor_id t = 0; t < to->tensors.count; t++) {
    graph_tensor *tensor = &to->tensors.data[t];
    if (tensor->flags & CALM_TENSOR_CONST) continue;
    tensor->dynamic = tensor->dynamic || !open ||
                      is_open(&open->values.data[tensor->file_index].shape);
  }
}

static calm_status read_open(onnx_reader *open) {
  TRY(onnx_parse(open));
  return onnx_infer(open);
}

calm_status onnx_mark_dynamic(onnx_reader *r) {
  calm_model shadow;
  onnx_reader open;
  if (r->dims.count == 0) return CALM_OK;
  model_init(&shadow, r->context, r->model->path);
  shadow.map = r->model->map;
  shadow.fixed_weights = r->model->fixed_weights;
  onnx_reader_init(&open, &shadow);
  context_mute(r->context, true);
  const calm_status status = read_open(&open);
  context_mute(r->context, false);
  for (uint32_t i = 0; status != CALM_NO_MEMORY && i < r->graphs.count; i++)
    mark(&r->model->graphs.data[i],
         status == CALM_OK ? &open.graphs.data[i] : NULL);
  onnx_reader_free(&open);
  model_clear(&shadow);
  return status == CALM_NO_MEMORY ? status : CALM_OK;
}
