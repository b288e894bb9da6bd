/* Parts of tensors, and tensors put together or padded. */
#include <inttypes.h>

#include "model/onnx_infer.h"

/* ---- Slice --------------------------------------------------------------- */

/* What is taken along one axis.  Unknown where an end of it is. */
typedef struct range {
  int64_t first, step, count;
  bool whole;
} range;

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Ends below 0 count from the end of the axis; then they are moved into it. */
static range make_range(int64_t size, int64_t start, int64_t end,
                        int64_t step) {
  range r = {.step = step, .count = ONNX_UNKNOWN};
  r.whole = start == 0 && step == 1 && end >= INT32_MAX;
  if (start == ONNX_UNKNOWN || end == ONNX_UNKNOWN || size == ONNX_UNKNOWN ||
      step == ONNX_UNKNOWN || step == 0)
    return r;
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    r.first = clamp(start, 0, size);
    int64_t span = clamp(end, 0, size) - r.first;
    r.count = span > 0 ? (span - 1) / step + 1 : 0;
  } else {
    r.first = clamp(start, 0, size - 1);
    int64_t span = r.first - clamp(end, -1, size - 1);
    int64_t stride = step == INT64_MIN ? INT64_MAX : -step;
    r.count = span > 0 && size > 0 ? (span - 1) / stride + 1 : 0;
  }
  return r;
}

static int64_t element(const infer_list *list, uint32_t i, int64_t otherwise) {
  if (!list->given) return otherwise;
  return list->data && i < list->count ? list->data[i] : ONNX_UNKNOWN;
}

/* Ranges of all axes; *sure is false if not even the axes are known. */
static calm_status read_ranges(range *ranges, bool *sure, infer_node *n,
                               const onnx_shape *in) {
  infer_list starts = infer_list_of(n, 1, "starts");
  infer_list ends = infer_list_of(n, 2, "ends");
  infer_list axes = infer_axes_of(n, 3, "axes");
  infer_list steps = infer_list_of(n, 4, NULL);
  uint32_t count = axes.given ? axes.count : starts.count;
  *sure = starts.given && ends.given && count != CALM_NONE &&
          (!axes.given || axes.data);
  for (uint32_t i = 0; i < in->rank; i++)
    ranges[i] = (range){.step = 1, .count = in->dims[i], .whole = true};
  for (uint32_t k = 0; *sure && k < count; k++) {
    uint32_t i;
    TRY(infer_axis(&i, n, axes.given ? axes.data[k] : (int64_t)k, in->rank));
    ranges[i] = make_range(in->dims[i], element(&starts, k, 0),
                           element(&ends, k, 0), element(&steps, k, 1));
  }
  return CALM_OK;
}

calm_status infer_slice(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  range ranges[INFER_MAX_RANK];
  bool sure;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank));
  TRY(read_ranges(ranges, &sure, n, in));
  for (uint32_t i = 0; sure && i < in->rank; i++)
    if (ranges[i].whole)
      infer_copy(out, i, in, i);
    else
      infer_set(out, i, ranges[i].count, NULL);
  return CALM_OK;
}

calm_status fold_slice(infer_node *n) {
  range ranges[INFER_MAX_RANK];
  int64_t strides[INFER_MAX_RANK], offset = 0;
  bool sure;
  if (!infer_input_contents(n, 0) || !infer_complete(&n->outputs[0].shape))
    return CALM_OK;
  const onnx_shape *in = infer_input_shape(n, 0);
  TRY(read_ranges(ranges, &sure, n, in));
  if (!sure) return CALM_OK;
  infer_strides(strides, in);
  for (uint32_t i = 0; i < in->rank; i++) {
    offset += ranges[i].first * strides[i];
    strides[i] =
        ranges[i].count > 1 ? infer_multiply(strides[i], ranges[i].step) : 0;
  }
  return infer_move_strided(n, 0, offset, strides, NULL);
}

/* ---- Split --------------------------------------------------------------- */

enum { UNEQUAL_PARTS = 18 }; /* the opset that allows a smaller last one */

/*
 * The sizes are a list, or all outputs are as large as the first and the last
 * has what is left.
 */
static int64_t part_size(const infer_list *sizes, int64_t size, uint32_t parts,
                         uint32_t i) {
  if (sizes->given) return element(sizes, i, ONNX_UNKNOWN);
  if (size == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  int64_t each = size / parts + (size % parts != 0);
  int64_t left = size - infer_multiply(each, i);
  return left < 0 ? 0 : left < each ? left : each;
}

static calm_status check_parts(infer_node *n, const infer_list *sizes,
                               int64_t size) {
  int64_t sum = 0;
  for (uint32_t i = 0; sizes->data && i < sizes->count; i++)
    sum = infer_add(sum, sizes->data[i]);
  if (!sizes->data || sum == ONNX_UNKNOWN || size == ONNX_UNKNOWN ||
      sum == size)
    return CALM_OK;
  return infer_conflict(
      n, "splits %" PRId64 " into parts that sum up to %" PRId64, size, sum);
}

/* Before opset 18 equal parts are meant, and since then their number is told.
 */
static calm_status check_equal_parts(infer_node *n, const infer_list *sizes,
                                     int64_t size, uint32_t parts) {
  const int64_t told = onnx_find_int(n->node, "num_outputs", parts);
  if (told != parts)
    return infer_conflict(
        n, "splits into %" PRId64 " parts, but has %" PRIu32 " outputs", told,
        parts);
  if (sizes->given || n->node->opset == 0 || n->node->opset >= UNEQUAL_PARTS ||
      size == ONNX_UNKNOWN || size % parts == 0)
    return CALM_OK;
  return infer_conflict(n, "splits %" PRId64 " into %" PRIu32 " equal parts",
                        size, parts);
}

calm_status infer_split(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list sizes = infer_list_of(n, 1, "split");
  uint32_t parts = n->node->output_count, axis;
  for (uint32_t o = 0; o < parts; o++)
    n->outputs[o].type = infer_input_type(n, 0);
  if (!in || parts == 0) return CALM_OK;
  TRY(infer_axis(&axis, n, onnx_find_int(n->node, "axis", 0), in->rank));
  TRY(check_parts(n, &sizes, in->dims[axis]));
  TRY(check_equal_parts(n, &sizes, in->dims[axis], parts));
  for (uint32_t o = 0; o < parts; o++) {
    onnx_shape *out;
    TRY(infer_make(&out, n, o, in->rank));
    for (uint32_t i = 0; i < in->rank; i++) infer_copy(out, i, in, i);
    if (parts > 1 || sizes.given)
      infer_set(out, axis, part_size(&sizes, in->dims[axis], parts, o), NULL);
  }
  return CALM_OK;
}

calm_status fold_split(infer_node *n) {
  int64_t strides[INFER_MAX_RANK], offset = 0;
  uint32_t axis;
  if (!infer_input_contents(n, 0)) return CALM_OK;
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_strides(strides, in);
  TRY(infer_axis(&axis, n, onnx_find_int(n->node, "axis", 0), in->rank));
  for (uint32_t o = 0; o < n->node->output_count; o++) {
    if (!infer_complete(&n->outputs[o].shape)) return CALM_OK;
    TRY(infer_move_strided(n, o, offset, strides, NULL));
    offset += n->outputs[o].shape.dims[axis] * strides[axis];
  }
  return CALM_OK;
}

/* ---- Concat -------------------------------------------------------------- */

/* The argument: the first operand that is a tensor and how many belong to
   each; QLinearConcat has (tensor, scale, zero) from operand 2 on. */
typedef struct parts {
  uint32_t first, step;
} parts;

static parts parts_of(const infer_node *n) {
  return n->argument ? (parts){2, 3} : (parts){0, 1};
}

static calm_status concat_axis(uint32_t *out, infer_node *n, uint32_t rank) {
  return infer_axis(out, n, onnx_find_int(n->node, "axis", 1), rank);
}

/* One operand of which nothing is known leaves the rest of the shape. */
calm_status infer_concat(infer_node *n) {
  parts p = parts_of(n);
  onnx_shape *out = NULL;
  uint32_t axis = 0;
  n->outputs[0].type = infer_input_type(n, p.first);
  for (uint32_t i = p.first; i < n->node->input_count; i += p.step) {
    const onnx_shape *in = infer_input_shape(n, i);
    if (!in) continue;
    if (out && in->rank != out->rank)
      return infer_conflict(
          n, "joins tensors of %" PRIu32 " and %" PRIu32 " dimensions",
          out->rank, in->rank);
    if (!out) {
      TRY(infer_make(&out, n, 0, in->rank));
      TRY(concat_axis(&axis, n, in->rank));
    }
    for (uint32_t k = 0; k < in->rank; k++)
      if (k != axis) TRY(infer_agree(n, out, k, in, k));
  }
  int64_t sum = 0;
  for (uint32_t i = p.first; out && i < n->node->input_count; i += p.step) {
    const onnx_shape *in = infer_input_shape(n, i);
    sum = infer_add(sum, in ? in->dims[axis] : ONNX_UNKNOWN);
  }
  if (out) infer_set(out, axis, sum, NULL);
  return CALM_OK;
}

static bool has_contents(const infer_node *n) {
  for (uint32_t i = 0; i < n->node->input_count; i++)
    if (infer_input_contents(n, i)) return true;
  return false;
}

calm_status fold_concat(infer_node *n) {
  const onnx_shape *shape = &n->outputs[0].shape;
  onnx_contents *out;
  uint32_t axis, at = 0;
  if (!infer_complete(shape) || !has_contents(n)) return CALM_OK;
  TRY(concat_axis(&axis, n, shape->rank));
  TRY(infer_make_contents(&out, n, 0));
  if (!out) return CALM_OK;
  uint32_t outer = (uint32_t)infer_product(shape, 0, axis);
  uint32_t row = outer ? out->count / outer : 0;
  for (uint32_t i = 0; i < n->node->input_count; i++) {
    const onnx_shape *in = infer_input_shape(n, i);
    const onnx_contents *from = infer_input_contents(n, i);
    if (!in) continue;
    uint32_t width = (uint32_t)(in->dims[axis] *
                                infer_product(shape, axis + 1, shape->rank));
    for (uint32_t k = 0; from && k < outer * width; k++)
      infer_move(out, k / width * row + at + k % width, from, k);
    at += width;
  }
  return CALM_OK;
}

/* ---- Pad ----------------------------------------------------------------- */

calm_status infer_pad(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list pads = infer_list_of(n, 1, "pads");
  infer_list axes = infer_axes_of(n, 3, NULL);
  onnx_shape *out;
  if (!pads.given) pads = infer_list_of(n, CALM_NONE, "paddings");
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !pads.given) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank));
  uint32_t count = axes.given ? axes.count : in->rank;
  if (!pads.data || (axes.given && !axes.data)) return CALM_OK;
  if (pads.count != 2 * count)
    return infer_conflict(n, "has %" PRIu32 " pads for %" PRIu32 " axes",
                          pads.count, count);
  for (uint32_t i = 0; i < in->rank; i++) infer_copy(out, i, in, i);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i;
    TRY(infer_axis(&i, n, axes.given ? axes.data[k] : (int64_t)k, in->rank));
    int64_t more = infer_add(pads.data[k], pads.data[count + k]);
    int64_t size = infer_add(out->dims[i], more);
    if (size != ONNX_UNKNOWN && size < 0)
      return infer_conflict(n,
                            "takes %" PRId64 " away from dimension %" PRIu32
                            ", which has %" PRId64,
                            -more, i, out->dims[i]);
    if (more != 0) infer_set(out, i, size, NULL);
  }
  return CALM_OK;
}

/* CenterCropPad: the axes named get the sizes of operand 1. */
calm_status infer_center_crop_pad(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list sizes = infer_list_of(n, 1, NULL);
  infer_list axes = infer_list_of(n, CALM_NONE, "axes");
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; axes.given && i < in->rank; i++)
    infer_copy(out, i, in, i);
  uint32_t count = axes.given ? axes.count : in->rank;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t i;
    TRY(infer_axis(&i, n, axes.given ? axes.data[k] : (int64_t)k, in->rank));
    infer_set(out, i, element(&sizes, k, ONNX_UNKNOWN), NULL);
  }
  return CALM_OK;
}
