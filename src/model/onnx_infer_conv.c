#include <inttypes.h>

#include "model/onnx_infer.h"

/*
 * Convolutions.  The filter is [outputs, inputs / group, kernel...], for the
 * transposed one [inputs, outputs / group, kernel...].  Where a row has another
 * operand for the filter, its argument says which and what comes out.
 */
enum {
  CONV_FILTER = 15,   /* the operand that is the filter */
  CONV_INT32 = 16,    /* the output is INT32 */
  CONV_ZERO_TYPE = 32 /* the output has the type of operand 7 */
};

static int32_t conv_type(const infer_node *n) {
  if (n->argument & CONV_INT32) return ONNX_INT32;
  return infer_input_type(n, n->argument & CONV_ZERO_TYPE ? 7 : 0);
}

static calm_status read_group(int64_t *out, infer_node *n) {
  *out = onnx_find_int(n->node, "group", 1);
  if (*out > 0) return CALM_OK;
  return infer_conflict(n, "has a group of %" PRId64 ", it needs 1 or more",
                        *out);
}

static calm_status check_channels(infer_node *n, int64_t channels,
                                  int64_t filter, int64_t group) {
  int64_t taken = infer_multiply(filter, group);
  if (channels == ONNX_UNKNOWN || taken == ONNX_UNKNOWN || channels == taken)
    return CALM_OK;
  return infer_conflict(n,
                        "has an input of %" PRId64
                        " channels, but its filter takes %" PRId64
                        " in each of %" PRId64 " groups",
                        channels, filter, group);
}

static calm_status check_ranks(infer_node *n, const onnx_shape *in,
                               const onnx_shape *filter) {
  if (in && in->rank < 3)
    return infer_conflict(
        n, "has an input of %" PRIu32 " dimensions, it needs 3 or more",
        in->rank);
  if (in && filter && in->rank != filter->rank)
    return infer_conflict(
        n, "has an input of %" PRIu32 " dimensions and a filter of %" PRIu32,
        in->rank, filter->rank);
  return CALM_OK;
}

calm_status infer_conv(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0), *filter;
  bool last = onnx_find_int(n->node, "channels_last", 0) != 0;
  infer_windows windows;
  onnx_shape *out;
  int64_t group;
  filter = infer_input_shape(n, (uint32_t)(n->argument & CONV_FILTER));
  n->outputs[0].type = conv_type(n);
  TRY(check_ranks(n, in, filter));
  TRY(read_group(&group, n));
  if (!in) return CALM_OK;
  uint32_t count = in->rank - 2, channel = last ? in->rank - 1 : 1;
  TRY(infer_read_windows(&windows, n, count, filter, 2));
  TRY(infer_make(&out, n, 0, in->rank));
  infer_copy(out, 0, in, 0);
  if (filter) {
    TRY(check_channels(n, in->dims[channel], filter->dims[1], group));
    infer_copy(out, channel, filter, 0);
  }
  for (uint32_t i = 0; i < count; i++)
    TRY(infer_slide(n, out, last ? 1 + i : 2 + i, in, &windows, i));
  return CALM_OK;
}

/* ---- Transposed ---------------------------------------------------------- */

/* output_shape has the spatial dimensions, or all of them. */
static int64_t stated_output(const infer_node *n, uint32_t i, uint32_t count) {
  const onnx_attribute *a = onnx_find(n->node, "output_shape");
  if (!a || a->type != ONNX_ATTRIBUTE_INTS || a->count < count)
    return ONNX_UNKNOWN;
  return a->ints[a->count - count + i];
}

static int64_t stretch(const infer_node *n, const infer_windows *w, uint32_t i,
                       int64_t in) {
  const infer_window *axis = &w->axes[i];
  int64_t stated = stated_output(n, i, w->count);
  if (stated >= 0) return stated;
  if (w->padding == INFER_PAD_SAME) return infer_multiply(in, axis->stride);
  int64_t extra = infer_attribute_at(n->node, "output_padding", i, 0);
  int64_t reach =
      infer_add(infer_multiply(infer_add(axis->kernel, -1), axis->dilation), 1);
  int64_t moved = infer_multiply(infer_add(in, -1), axis->stride);
  int64_t pads = infer_add(axis->begin, axis->end);
  if (pads == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  return infer_add(infer_add(infer_add(moved, reach), extra), -pads);
}

calm_status infer_conv_transpose(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *filter = infer_input_shape(n, 1);
  infer_windows windows;
  onnx_shape *out;
  int64_t group;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(check_ranks(n, in, filter));
  TRY(read_group(&group, n));
  if (!in) return CALM_OK;
  TRY(infer_read_windows(&windows, n, in->rank - 2, filter, 2));
  TRY(infer_make(&out, n, 0, in->rank));
  infer_copy(out, 0, in, 0);
  if (filter) {
    TRY(check_channels(n, in->dims[1], filter->dims[0], 1));
    infer_set(out, 1, infer_multiply(filter->dims[1], group), NULL);
  }
  for (uint32_t i = 0; i < windows.count; i++) {
    int64_t size = stretch(n, &windows, i, in->dims[2 + i]);
    if (size != ONNX_UNKNOWN && size < 0)
      return infer_conflict(
          n, "cuts more than there is from dimension %" PRIu32, 2 + i);
    infer_set(out, 2 + i, size, NULL);
  }
  return CALM_OK;
}

/* Col2Im: [batch, channels * block, blocks] -> [batch, channels, image...]. */
calm_status infer_col2im(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list image = infer_list_of(n, 1, NULL);
  infer_list block = infer_list_of(n, 2, NULL);
  onnx_shape *out;
  int64_t size = block.data ? 1 : ONNX_UNKNOWN;
  n->outputs[0].type = infer_input_type(n, 0);
  if (image.count == CALM_NONE) return CALM_OK;
  for (uint32_t i = 0; block.data && i < block.count; i++)
    size = infer_multiply(size, block.data[i]);
  TRY(infer_make(&out, n, 0,
                 image.count < INFER_MAX_RANK ? image.count + 2 : CALM_NONE));
  if (in && in->rank == 3) {
    infer_copy(out, 0, in, 0);
    infer_set(out, 1, infer_divide(in->dims[1], size), NULL);
  }
  for (uint32_t i = 0; image.data && i < image.count; i++)
    infer_set(out, 2 + i, image.data[i] < 0 ? ONNX_UNKNOWN : image.data[i],
              NULL);
  return CALM_OK;
}
