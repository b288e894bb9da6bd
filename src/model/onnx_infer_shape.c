#include <inttypes.h>
#include <string.h>

#include "model/onnx_infer.h"

/* ---- Reshape ------------------------------------------------------------- */

/*
 * What -1 stands for is the number of elements over the product of the other
 * dimensions.  Both may be unknown and the quotient known all the same: an
 * unknown dimension that occurs on both sides, copied by 0 or under its name,
 * cancels out.
 *
 *     [batch, 3, 4] as [0, -1]   ->  -1 is 12
 *     [batch, 3, 4] as [-1, 12]  ->  -1 is batch
 */
typedef struct reshape {
  infer_node *n;
  const onnx_shape *in;
  onnx_shape *out;
  infer_list list;
  uint32_t rest; /* the dimension that is -1, or the only unknown one */
  bool used[INFER_MAX_RANK]; /* dimensions of the input that cancelled out */
} reshape;

static calm_status read_target(reshape *r, uint32_t i) {
  int64_t size = r->list.data[i];
  bool copied = size == 0 && !onnx_find_int(r->n->node, "allowzero", 0);
  if (size == -1) {
    if (r->rest != CALM_NONE)
      return infer_conflict(r->n, "has -1 twice in its shape");
    r->rest = i;
  } else if (copied && r->in && i >= r->in->rank) {
    return infer_conflict(
        r->n, "copies dimension %" PRIu32 " of an input that has %" PRIu32, i,
        r->in->rank);
  } else if (copied) {
    if (r->in) infer_copy(r->out, i, r->in, i);
  } else if (size < 0 && size != ONNX_UNKNOWN) {
    return infer_conflict(r->n, "makes a dimension of %" PRId64, size);
  } else {
    infer_set(r->out, i, size, r->list.symbols ? r->list.symbols[i] : NULL);
  }
  return CALM_OK;
}

/* Does an unknown dimension of the output occur in the input? */
static bool cancel(reshape *r, uint32_t i) {
  const onnx_shape *in = r->in;
  bool copied = r->list.data && r->list.data[i] == 0;
  for (uint32_t k = 0; k < in->rank; k++) {
    bool same = copied ? k == i : infer_same_dim(r->out, i, in, k);
    if (in->dims[k] != ONNX_UNKNOWN || r->used[k] || !same) continue;
    return r->used[k] = true;
  }
  return false;
}

/* Cancel what can be; is there at most one dimension left to be found? */
static bool find_rest(reshape *r) {
  for (uint32_t i = 0; i < r->out->rank; i++) {
    if (r->out->dims[i] != ONNX_UNKNOWN || i == r->rest || cancel(r, i))
      continue;
    if (r->rest != CALM_NONE) return false;
    r->rest = i;
  }
  return true;
}

static calm_status solve(reshape *r) {
  int64_t above = 1, below = 1;
  uint32_t open = 0, last = 0;
  for (uint32_t k = 0; k < r->in->rank; k++) {
    if (r->in->dims[k] != ONNX_UNKNOWN)
      above = infer_multiply(above, r->in->dims[k]);
    else if (!r->used[k])
      open++, last = k;
  }
  for (uint32_t i = 0; i < r->out->rank; i++)
    if (r->out->dims[i] != ONNX_UNKNOWN)
      below = infer_multiply(below, r->out->dims[i]);
  if (above == ONNX_UNKNOWN || below == ONNX_UNKNOWN) return CALM_OK;
  if (open == 1 && r->rest != CALM_NONE && above == below)
    infer_copy(r->out, r->rest, r->in, last);
  if (open) return CALM_OK;
  bool fits =
      r->rest == CALM_NONE ? above == below : below == 0 || above % below == 0;
  if (!fits)
    return infer_conflict(
        r->n,
        "has %" PRId64 " elements, which do not fit into a shape of %" PRId64,
        above, below);
  if (r->rest != CALM_NONE && below != 0)
    infer_set(r->out, r->rest, above / below, NULL);
  return CALM_OK;
}

calm_status infer_reshape(infer_node *n) {
  reshape r = {.n = n, .in = infer_input_shape(n, 0), .rest = CALM_NONE};
  r.list = infer_list_of(n, 1, "shape");
  n->outputs[0].type = infer_input_type(n, 0);
  if (!r.list.given || r.list.count == CALM_NONE) return CALM_OK;
  TRY(infer_make(&r.out, n, 0, r.list.count));
  for (uint32_t i = 0; r.list.data && i < r.list.count; i++)
    TRY(read_target(&r, i));
  return r.in && find_rest(&r) ? solve(&r) : CALM_OK;
}

/* [d0 * ... , ... * dn], cut before `axis`. */
static void set_product(onnx_shape *out, uint32_t i, const onnx_shape *in,
                        uint32_t first, uint32_t end) {
  uint32_t open = 0, last = 0;
  int64_t known = 1;
  for (uint32_t k = first; k < end; k++)
    if (in->dims[k] == ONNX_UNKNOWN)
      open++, last = k;
    else
      known = infer_multiply(known, in->dims[k]);
  if (open == 1 && known == 1)
    infer_copy(out, i, in, last);
  else
    infer_set(out, i, open && known ? ONNX_UNKNOWN : known, NULL);
}

calm_status infer_flatten(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_make(&out, n, 0, 2));
  if (!in) return CALM_OK;
  int64_t axis = onnx_find_int(n->node, "axis", 1);
  if (axis < 0) axis += in->rank;
  if (axis < 0 || axis > (int64_t)in->rank)
    return infer_conflict(
        n, "has the axis %" PRId64 ", but there are %" PRIu32 " dimensions",
        axis, in->rank);
  set_product(out, 0, in, 0, (uint32_t)axis);
  set_product(out, 1, in, (uint32_t)axis, in->rank);
  return CALM_OK;
}

/* ---- Dimensions of 1 ----------------------------------------------------- */

/* Which of `rank` axes the list names. */
static calm_status mark_axes(bool *marks, infer_node *n, const infer_list *list,
                             uint32_t rank) {
  memset(marks, 0, INFER_MAX_RANK * sizeof *marks);
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t axis;
    TRY(infer_axis(&axis, n, list->data[i], rank));
    marks[axis] = true;
  }
  return CALM_OK;
}

/* Without a list all dimensions of 1 go, so that one that is not known leaves
   even the rank open. */
static calm_status mark_ones(bool *marks, bool *sure, const onnx_shape *in) {
  *sure = infer_complete(in);
  for (uint32_t i = 0; i < in->rank; i++) marks[i] = in->dims[i] == 1;
  return CALM_OK;
}

calm_status infer_squeeze(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list axes = infer_axes_of(n, 1, "axes");
  bool marks[INFER_MAX_RANK], sure = true;
  uint32_t rank = 0;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  if (axes.given && !axes.data) {
    if (axes.count > in->rank) return CALM_OK;
    return infer_make(&out, n, 0, in->rank - axes.count);
  }
  TRY(axes.given ? mark_axes(marks, n, &axes, in->rank)
                 : mark_ones(marks, &sure, in));
  if (!sure) return CALM_OK;
  for (uint32_t i = 0; i < in->rank; i++) {
    if (marks[i] && in->dims[i] != 1 && in->dims[i] != ONNX_UNKNOWN)
      return infer_conflict(
          n, "drops dimension %" PRIu32 ", which is %" PRId64 " and not 1", i,
          in->dims[i]);
    rank += !marks[i];
  }
  TRY(infer_make(&out, n, 0, rank));
  for (uint32_t i = 0, j = 0; i < in->rank; i++)
    if (!marks[i]) infer_copy(out, j++, in, i);
  return CALM_OK;
}

calm_status infer_unsqueeze(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list axes = infer_axes_of(n, 1, "axes");
  bool marks[INFER_MAX_RANK];
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !axes.given || axes.count > INFER_MAX_RANK) return CALM_OK;
  uint32_t rank = in->rank + axes.count, added = 0;
  TRY(infer_make(&out, n, 0, rank));
  if (!axes.data) return CALM_OK;
  TRY(mark_axes(marks, n, &axes, rank));
  for (uint32_t i = 0; i < rank; i++) added += marks[i];
  if (added != axes.count) return infer_conflict(n, "adds the same axis twice");
  for (uint32_t i = 0, j = 0; i < rank; i++)
    if (marks[i])
      infer_set(out, i, 1, NULL);
    else
      infer_copy(out, i, in, j++);
  return CALM_OK;
}

/* ---- Order, repetition --------------------------------------------------- */

static calm_status source_axis(uint32_t *out, infer_node *n, uint32_t i,
                               uint32_t rank) {
  int64_t from = infer_attribute_at(n->node, "perm", i, rank - 1 - i);
  return infer_axis(out, n, from, rank);
}

calm_status infer_transpose(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_attribute *perm = onnx_find(n->node, "perm");
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  if (perm && perm->count != in->rank)
    return infer_conflict(n, "permutes %" PRIu32 " of %" PRIu32 " dimensions",
                          perm->count, in->rank);
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i < in->rank; i++) {
    uint32_t from;
    TRY(source_axis(&from, n, i, in->rank));
    infer_copy(out, i, in, from);
  }
  return CALM_OK;
}

calm_status fold_transpose(infer_node *n) {
  int64_t from[INFER_MAX_RANK], strides[INFER_MAX_RANK];
  if (!infer_input_contents(n, 0)) return CALM_OK;
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_strides(from, in);
  for (uint32_t i = 0; i < in->rank; i++) {
    uint32_t axis;
    TRY(source_axis(&axis, n, i, in->rank));
    strides[i] = from[axis];
  }
  return infer_move_strided(n, 0, 0, strides, NULL);
}

calm_status infer_expand(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list list = infer_list_of(n, 1, NULL);
  onnx_shape *target;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || !list.given || list.count == CALM_NONE) return CALM_OK;
  TRY(infer_make(&target, n, 0, list.count));
  for (uint32_t i = 0; list.data && i < list.count; i++)
    infer_set(target, i, list.data[i], list.symbols ? list.symbols[i] : NULL);
  return infer_broadcast(n, 0, in, target);
}

calm_status fold_expand(infer_node *n) {
  int64_t from[INFER_MAX_RANK], strides[INFER_MAX_RANK] = {0};
  const onnx_shape *out = &n->outputs[0].shape;
  if (!infer_input_contents(n, 0) || !infer_complete(out)) return CALM_OK;
  const onnx_shape *in = infer_input_shape(n, 0);
  uint32_t ahead = out->rank - in->rank;
  infer_strides(from, in);
  for (uint32_t i = 0; i < in->rank; i++)
    strides[ahead + i] = in->dims[i] == 1 ? 0 : from[i];
  return infer_move_strided(n, 0, 0, strides, NULL);
}

calm_status infer_tile(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_list list = infer_list_of(n, 1, NULL);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in || (n->node->opset > 0 && n->node->opset < 6)) return CALM_OK;
  if (list.count != CALM_NONE && list.count != in->rank)
    return infer_conflict(n, "repeats %" PRIu32 " of %" PRIu32 " dimensions",
                          list.count, in->rank);
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; list.data && i < in->rank; i++)
    if (list.data[i] == 1)
      infer_copy(out, i, in, i);
    else
      infer_set(out, i, infer_multiply(in->dims[i], list.data[i]), NULL);
  return CALM_OK;
}

calm_status fold_tile(infer_node *n) {
  int64_t strides[INFER_MAX_RANK];
  if (!infer_input_contents(n, 0)) return CALM_OK;
  const onnx_shape *in = infer_input_shape(n, 0);
  infer_strides(strides, in);
  return infer_move_strided(n, 0, 0, strides, in->dims);
}

/* ---- Channels and pixels ------------------------------------------------- */

static void set_quotient(onnx_shape *out, uint32_t i, int64_t dim,
                         int64_t divisor) {
  infer_set(out, i, infer_divide(dim, divisor), NULL);
}

/* The argument: 1 for DepthToSpace, 0 for SpaceToDepth. */
calm_status infer_depth_space(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  int64_t block = onnx_find_int(n->node, "blocksize", ONNX_UNKNOWN);
  int64_t area = infer_multiply(block, block);
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  TRY(infer_make(&out, n, 0, 4));
  if (!in || in->rank != 4) return CALM_OK;
  infer_copy(out, 0, in, 0);
  if (n->argument)
    set_quotient(out, 1, in->dims[1], area);
  else
    infer_set(out, 1, infer_multiply(in->dims[1], area), NULL);
  for (uint32_t i = 2; i < 4; i++)
    if (n->argument)
      infer_set(out, i, infer_multiply(in->dims[i], block), NULL);
    else
      set_quotient(out, i, in->dims[i], block);
  return CALM_OK;
}
