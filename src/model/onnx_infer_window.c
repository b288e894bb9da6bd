#include <inttypes.h>
#include <string.h>

#include "model/onnx_infer.h"

/*
 * Windows that slide over the spatial dimensions.  Along one axis a window of
 * `kernel` elements, `dilation` apart, reaches over
 *
 *     reach = (kernel - 1) * dilation + 1
 *
 * and starts anew every `stride`, so that it fits so many times:
 *
 *     out = floor((begin + in + end - reach) / stride) + 1
 *
 * With ceil_mode the quotient is rounded up, but a window that would begin in
 * the padding behind the input is left out.
 */

static calm_status read_auto_pad(infer_windows *w, infer_node *n) {
  static const struct {
    const char *name;
    infer_padding padding;
  } rows[] = {{"NOTSET", INFER_PAD_GIVEN},
              {"", INFER_PAD_GIVEN},
              {"SAME_UPPER", INFER_PAD_SAME},
              {"SAME_LOWER", INFER_PAD_SAME},
              {"VALID", INFER_PAD_VALID}};
  const onnx_attribute *a = onnx_find(n->node, "auto_pad");
  w->padding = INFER_PAD_GIVEN;
  if (!a || a->type != ONNX_ATTRIBUTE_STRING || !a->s) return CALM_OK;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(a->s, rows[i].name)) {
      w->padding = rows[i].padding;
      return CALM_OK;
    }
  return infer_conflict(n,
                        "has the auto_pad '%.40s', which is not one of NOTSET, "
                        "VALID, SAME_UPPER, SAME_LOWER",
                        a->s);
}

static calm_status read_padding(infer_windows *w, infer_node *n) {
  const onnx_attribute *pads = onnx_find(n->node, "pads");
  TRY(read_auto_pad(w, n));
  if (w->padding == INFER_PAD_GIVEN && pads && pads->count != 2 * w->count)
    return infer_conflict(
        n, "has %" PRIu32 " pads, for %" PRIu32 " axes it needs %" PRIu32,
        pads->count, w->count, 2 * w->count);
  return CALM_OK;
}

/* A kernel_shape that is there says the same as the filter. */
static calm_status check_kernel(infer_node *n, uint32_t count,
                                const onnx_shape *filter, uint32_t first) {
  const onnx_attribute *a = onnx_find(n->node, "kernel_shape");
  if (!a || a->type != ONNX_ATTRIBUTE_INTS || a->count == 0) return CALM_OK;
  if (a->count != count)
    return infer_conflict(
        n, "has a kernel_shape of %" PRIu32 " sizes, for %" PRIu32 " axes",
        a->count, count);
  for (uint32_t i = 0; filter && first + i < filter->rank && i < count; i++)
    if (filter->dims[first + i] != ONNX_UNKNOWN &&
        filter->dims[first + i] != a->ints[i])
      return infer_conflict(n,
                            "has a kernel_shape of %" PRId64
                            " for axis %" PRIu32 ", but its filter has %" PRId64
                            " there",
                            a->ints[i], i, filter->dims[first + i]);
  return CALM_OK;
}

static void read_window(infer_windows *w, const infer_node *n, uint32_t i,
                        const onnx_shape *filter, uint32_t first) {
  infer_window *axis = &w->axes[i];
  int64_t kernel = ONNX_UNKNOWN;
  if (filter && first + i < filter->rank) kernel = filter->dims[first + i];
  axis->kernel = infer_attribute_at(n->node, "kernel_shape", i, kernel);
  axis->stride = infer_attribute_at(n->node, "strides", i, 1);
  axis->dilation = infer_attribute_at(n->node, "dilations", i, 1);
  bool given = w->padding == INFER_PAD_GIVEN;
  axis->begin = given ? infer_attribute_at(n->node, "pads", i, 0) : 0;
  axis->end = given ? infer_attribute_at(n->node, "pads", w->count + i, 0) : 0;
}

calm_status infer_read_windows(infer_windows *out, infer_node *n,
                               uint32_t count, const onnx_shape *filter,
                               uint32_t first) {
  out->count = count;
  out->ceil = onnx_find_int(n->node, "ceil_mode", 0) != 0;
  TRY(read_padding(out, n));
  TRY(check_kernel(n, count, filter, first));
  for (uint32_t i = 0; i < count; i++) {
    read_window(out, n, i, filter, first);
    const infer_window *axis = &out->axes[i];
    bool kernel = axis->kernel == ONNX_UNKNOWN || axis->kernel > 0;
    if (!kernel || axis->stride < 1 || axis->dilation < 1)
      return infer_conflict(n,
                            "has a kernel of %" PRId64 ", a stride of %" PRId64
                            " and a dilation of %" PRId64 " for axis %" PRIu32
                            ", all must be above 0",
                            axis->kernel, axis->stride, axis->dilation, i);
  }
  return CALM_OK;
}

static int64_t reach_of(const infer_window *axis) {
  return infer_add(infer_multiply(infer_add(axis->kernel, -1), axis->dilation),
                   1);
}

static int64_t round_up(int64_t a, int64_t b) {
  return infer_divide(infer_add(a, b - 1), b);
}

/* How often the window fits into what `room` is left beside its first place. */
static int64_t count_places(const infer_windows *w, const infer_window *axis,
                            int64_t in, int64_t room) {
  if (!w->ceil) return infer_add(infer_divide(room, axis->stride), 1);
  int64_t places = infer_add(round_up(room, axis->stride), 1);
  int64_t last = infer_multiply(infer_add(places, -1), axis->stride);
  int64_t border = infer_add(in, axis->begin);
  if (last != ONNX_UNKNOWN && border != ONNX_UNKNOWN && last >= border)
    places--;
  return places;
}

calm_status infer_slide(infer_node *n, onnx_shape *out, uint32_t j,
                        const onnx_shape *in, const infer_windows *w,
                        uint32_t i) {
  const infer_window *axis = &w->axes[i];
  int64_t size = in->dims[j];
  if (w->padding == INFER_PAD_SAME) {
    if (axis->stride == 1)
      infer_copy(out, j, in, j);
    else
      infer_set(out, j, round_up(size, axis->stride), NULL);
    return CALM_OK;
  }
  int64_t pads = infer_add(axis->begin, axis->end), reach = reach_of(axis);
  if (axis->stride == 1 && pads != ONNX_UNKNOWN && pads + 1 == reach) {
    infer_copy(out, j, in, j);
    return CALM_OK;
  }
  if (reach == ONNX_UNKNOWN) return CALM_OK;
  int64_t room = infer_add(infer_add(size, pads), -reach);
  if (room != ONNX_UNKNOWN && room < 0)
    return infer_conflict(n,
                          "has a window of %" PRId64 " in dimension %" PRIu32
                          ", where with its padding the input has %" PRId64,
                          reach, j, infer_add(size, pads));
  infer_set(out, j, count_places(w, axis, size, room), NULL);
  return CALM_OK;
}
