#include <inttypes.h>

#include "model/onnx_infer.h"

/* ---- Gather -------------------------------------------------------------- */

static calm_status gather_axis(uint32_t *out, infer_node *n, uint32_t rank) {
  return infer_axis(out, n, onnx_find_int(n->node, "axis", 0), rank);
}

/* The indices take the place of the axis. */
calm_status infer_gather(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *indices = infer_input_shape(n, 1);
  onnx_shape *out;
  uint32_t axis, j = 0;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !indices) return CALM_OK;
  TRY(gather_axis(&axis, n, in->rank));
  TRY(infer_make(&out, n, 0, in->rank - 1 + indices->rank));
  for (uint32_t i = 0; i < axis; i++) infer_copy(out, j++, in, i);
  for (uint32_t i = 0; i < indices->rank; i++) infer_copy(out, j++, indices, i);
  for (uint32_t i = axis + 1; i < in->rank; i++) infer_copy(out, j++, in, i);
  return CALM_OK;
}

calm_status fold_gather(infer_node *n) {
  const onnx_contents *in = infer_input_contents(n, 0);
  const onnx_contents *indices = infer_input_contents(n, 1);
  onnx_contents *out;
  uint32_t axis;
  if (!in || !indices || !indices->integers || indices->count == 0)
    return CALM_OK;
  const onnx_shape *shape = infer_input_shape(n, 0);
  TRY(gather_axis(&axis, n, shape->rank));
  TRY(infer_make_contents(&out, n, 0));
  int64_t size = shape->dims[axis];
  int64_t inner = infer_product(shape, axis + 1, shape->rank);
  for (uint32_t k = 0; out && k < out->count; k++) {
    int64_t column = k % inner, row = k / inner;
    int64_t at = indices->integers[row % indices->count];
    if (at == ONNX_UNKNOWN) continue;
    if (at < 0) at += size;
    if (at < 0 || at >= size)
      return infer_conflict(
          n, "takes an element beyond the %" PRId64 " of its axis", size);
    int64_t from = (row / indices->count * size + at) * inner + column;
    if (from < in->count) infer_move(out, k, in, (uint32_t)from);
  }
  return CALM_OK;
}

/* GatherElements, and whatever has the shape of operand 1. */
calm_status infer_like_indices(infer_node *n) {
  n->outputs[0].type = infer_input_type(n, 0);
  infer_share(n, 0, 1);
  return CALM_OK;
}

/* The last dimension of the indices counts the axes that they address. */
calm_status infer_gather_nd(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *indices = infer_input_shape(n, 1);
  int64_t batch = onnx_find_int(n->node, "batch_dims", 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !indices || indices->rank == 0) return CALM_OK;
  int64_t depth = indices->dims[indices->rank - 1];
  if (depth == ONNX_UNKNOWN) return CALM_OK;
  int64_t rest = (int64_t)in->rank - infer_add(batch, depth);
  if (batch < 0 || depth > in->rank || rest < 0)
    return infer_conflict(n, "addresses %" PRId64 " of %" PRIu32 " dimensions",
                          depth, in->rank);
  uint32_t head = indices->rank - 1, tail = (uint32_t)rest;
  TRY(infer_make(&out, n, 0, head + tail));
  for (uint32_t i = 0; i < head; i++) infer_copy(out, i, indices, i);
  for (uint32_t i = 0; i < tail; i++)
    infer_copy(out, head + i, in, in->rank - tail + i);
  return CALM_OK;
}

/* ---- Found by data ------------------------------------------------------- */

static bool counts(const onnx_contents *c, uint32_t i, bool *unknown) {
  if (c->reals) {
    if (c->reals[i] != c->reals[i]) *unknown = true;
    return c->reals[i] != 0;
  }
  if (c->integers[i] == ONNX_UNKNOWN) *unknown = true;
  return c->integers[i] != 0;
}

/* [rank, found], a scalar counting as one dimension. */
calm_status infer_nonzero(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_contents *from = infer_input_contents(n, 0);
  onnx_shape *out;
  bool unknown = false;
  n->outputs[0].type = ONNX_INT64;
  TRY(infer_make(&out, n, 0, 2));
  TRY(infer_depends(n, 0));
  if (!in) return CALM_OK;
  infer_set(out, 0, in->rank ? in->rank : 1, NULL);
  int64_t found = 0;
  for (uint32_t i = 0; from && i < from->count; i++)
    found += counts(from, i, &unknown);
  if (from && !unknown) infer_set(out, 1, found, NULL);
  return CALM_OK;
}

calm_status fold_nonzero(infer_node *n) {
  const onnx_contents *from = infer_input_contents(n, 0);
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_contents *out;
  bool unknown;
  int64_t strides[INFER_MAX_RANK];
  if (!from || !infer_complete(&n->outputs[0].shape)) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  if (!out) return CALM_OK;
  infer_strides(strides, in);
  uint32_t columns = (uint32_t)n->outputs[0].shape.dims[1], column = 0;
  for (uint32_t k = 0; k < from->count; k++) {
    if (!counts(from, k, &unknown)) continue;
    for (uint32_t i = 0; i < in->rank; i++)
      infer_set_integer(out, i * columns + column,
                        k / strides[i] % in->dims[i]);
    if (in->rank == 0) infer_set_integer(out, 0, 0);
    column++;
  }
  return CALM_OK;
}

/* Along an axis, or over all elements in one line. */
calm_status infer_compress(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_contents *flags = infer_input_contents(n, 1);
  onnx_shape *out;
  uint32_t axis = 0;
  int64_t found = flags && flags->integers ? 0 : ONNX_UNKNOWN;
  bool unknown = false;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_depends(n, 1));
  for (uint32_t i = 0; found != ONNX_UNKNOWN && i < flags->count; i++)
    found += counts(flags, i, &unknown);
  if (unknown) found = ONNX_UNKNOWN;
  if (!onnx_find(n->node, "axis")) return infer_make_line(n, 0, found);
  if (!in) return CALM_OK;
  TRY(gather_axis(&axis, n, in->rank));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++) infer_copy(out, i, in, i);
  infer_set(out, axis, found, NULL);
  return CALM_OK;
}

/* Unique: along an axis the slices, else the elements; three lists. */
calm_status infer_unique(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  uint32_t axis;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_depends(n, 0));
  for (uint32_t o = 1; o < 4; o++) {
    bool inverse = o == 2 && in && !onnx_find(n->node, "axis");
    n->outputs[o].type = ONNX_INT64;
    TRY(infer_make_line(
        n, o, inverse ? infer_product(in, 0, in->rank) : ONNX_UNKNOWN));
  }
  if (!onnx_find(n->node, "axis")) return infer_make_line(n, 0, ONNX_UNKNOWN);
  if (!in) return CALM_OK;
  TRY(gather_axis(&axis, n, in->rank));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++)
    if (i != axis) infer_copy(out, i, in, i);
  infer_set(&n->outputs[2].shape, 0, in->dims[axis], NULL);
  return CALM_OK;
}

/* Boxes that survive: [found, 3]. */
calm_status infer_suppression(infer_node *n) {
  onnx_shape *out;
  n->outputs[0].type = ONNX_INT64;
  TRY(infer_depends(n, 1));
  TRY(infer_make(&out, n, 0, 2));
  infer_set(out, 1, 3, NULL);
  return CALM_OK;
}

/* ---- Ranked -------------------------------------------------------------- */

calm_status infer_topk(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  int64_t k = onnx_find(n->node, "k") ? onnx_find_int(n->node, "k", 0)
                                      : infer_scalar(n, 1);
  uint32_t axis;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  n->outputs[1].type = ONNX_INT64;
  if (!in) return CALM_OK;
  TRY(infer_axis(&axis, n, onnx_find_int(n->node, "axis", -1), in->rank));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++) infer_copy(out, i, in, i);
  infer_set(out, axis, k, NULL);
  n->outputs[1].shape = *out;
  return CALM_OK;
}

/* The depth becomes one more axis of the indices. */
calm_status infer_one_hot(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  int64_t depth = infer_scalar(n, 1);
  uint32_t axis;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 2);
  if (!in) return CALM_OK;
  TRY(infer_make(&out, n, 0, in->rank + 1));
  TRY(infer_axis(&axis, n, onnx_find_int(n->node, "axis", -1), out->rank));
  for (uint32_t i = 0, j = 0; i < out->rank; i++)
    if (i == axis)
      infer_set(out, i, depth, NULL);
    else
      infer_copy(out, i, in, j++);
  return CALM_OK;
}
