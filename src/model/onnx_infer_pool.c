#include <inttypes.h>

#include "model/onnx_infer.h"

/* The argument: pixels come before channels. */
calm_status infer_pool(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  bool last = n->argument || onnx_find_int(n->node, "channels_last", 0) != 0;
  infer_windows windows;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  n->outputs[1].type = ONNX_INT64;
  if (!in) return CALM_OK;
  if (in->rank < 3)
    return infer_conflict(
        n, "has an input of %" PRIu32 " dimensions, it needs 3 or more",
        in->rank);
  uint32_t count = in->rank - 2, channel = last ? in->rank - 1 : 1;
  TRY(infer_read_windows(&windows, n, count, NULL, 0));
  TRY(infer_make(&out, n, 0, in->rank));
  infer_copy(out, 0, in, 0);
  infer_copy(out, channel, in, channel);
  for (uint32_t i = 0; i < count; i++)
    TRY(infer_slide(n, out, last ? 1 + i : 2 + i, in, &windows, i));
  n->outputs[1].shape = *out;
  return CALM_OK;
}

calm_status infer_global_pool(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  bool last = onnx_find_int(n->node, "channels_last", 0) != 0;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++)
    if (i == 0 || i == (last ? in->rank - 1 : 1))
      infer_copy(out, i, in, i);
    else
      infer_set(out, i, 1, NULL);
  return CALM_OK;
}

/* Output `o` is [rows, columns of `in`, sizes...]. */
static calm_status make_regions(infer_node *n, const onnx_shape *rois,
                                int64_t height, int64_t width) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_make(&out, n, 0, 4));
  if (rois && rois->rank) infer_copy(out, 0, rois, 0);
  if (in && in->rank > 1) infer_copy(out, 1, in, 1);
  infer_set(out, 2, height, NULL);
  infer_set(out, 3, width, NULL);
  return CALM_OK;
}

calm_status infer_roi_align(infer_node *n) {
  return make_regions(n, infer_input_shape(n, 1),
                      onnx_find_int(n->node, "output_height", 1),
                      onnx_find_int(n->node, "output_width", 1));
}

calm_status infer_roi_pool(infer_node *n) {
  return make_regions(
      n, infer_input_shape(n, 1),
      infer_attribute_at(n->node, "pooled_shape", 0, ONNX_UNKNOWN),
      infer_attribute_at(n->node, "pooled_shape", 1, ONNX_UNKNOWN));
}

/* The inverse of MaxPool, unless operand 2 says the shape. */
calm_status infer_unpool(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list stated = infer_list_of(n, 2, NULL);
  infer_windows windows;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || in->rank < 3) return CALM_OK;
  TRY(infer_read_windows(&windows, n, in->rank - 2, NULL, 0));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < 2; i++) infer_copy(out, i, in, i);
  for (uint32_t i = 0; !stated.given && i < windows.count; i++) {
    const infer_window *w = &windows.axes[i];
    int64_t moved = infer_multiply(infer_add(in->dims[2 + i], -1), w->stride);
    int64_t pads = infer_add(w->begin, w->end);
    if (pads == ONNX_UNKNOWN || moved == ONNX_UNKNOWN) continue;
    infer_set(out, 2 + i, infer_add(infer_add(moved, w->kernel), -pads), NULL);
  }
  for (uint32_t i = 0; stated.data && i < stated.count && i < in->rank; i++)
    infer_set(out, i, stated.data[i], NULL);
  return CALM_OK;
}
