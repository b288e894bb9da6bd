#include <inttypes.h>
#include <string.h>

#include "model/onnx_infer.h"

/* Which axes are reduced: those of the list; all of them without one, or none
   if the node says so. */
typedef struct reduction {
  bool marks[INFER_MAX_RANK];
  bool keep, sure;
  uint32_t gone;
} reduction;

static calm_status read_reduction(reduction *r, infer_node *n,
                                  const onnx_shape *in) {
  infer_list axes = infer_axes_of(n, 1, "axes");
  *r = (reduction){.keep = onnx_find_int(n->node, "keepdims", 1) != 0,
                   .sure = true};
  bool none = !axes.given || axes.count == 0;
  bool skip = onnx_find_int(n->node, "noop_with_empty_axes", 0) != 0;
  r->gone = none ? (skip ? 0 : in->rank) : axes.count;
  if (axes.given && !axes.data) {
    r->sure = false;
    return CALM_OK;
  }
  for (uint32_t i = 0; i < in->rank; i++) r->marks[i] = none && !skip;
  for (uint32_t k = 0; !none && k < axes.count; k++) {
    uint32_t axis;
    TRY(infer_axis(&axis, n, axes.data[k], in->rank));
    if (r->marks[axis]) r->gone--;
    r->marks[axis] = true;
  }
  return CALM_OK;
}

static calm_status make_reduced(infer_node *n, const onnx_shape *in,
                                const reduction *r) {
  onnx_shape *out;
  if (!r->keep && r->gone > in->rank) return CALM_OK;
  TRY(infer_make(&out, n, 0, r->keep ? in->rank : in->rank - r->gone));
  for (uint32_t i = 0, j = 0; r->sure && i < in->rank; i++)
    if (!r->marks[i])
      infer_copy(out, j++, in, i);
    else if (r->keep)
      infer_set(out, j++, 1, NULL);
  return CALM_OK;
}

calm_status infer_reduce(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  reduction r;
  n->outputs[0].type = infer_input_type(n, 0);
  if (!in) return CALM_OK;
  TRY(read_reduction(&r, n, in));
  return make_reduced(n, in, &r);
}

calm_status infer_arg_reduce(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  uint32_t axis;
  n->outputs[0].type = ONNX_INT64;
  if (!in) return CALM_OK;
  TRY(infer_axis(&axis, n, onnx_find_int(n->node, "axis", 0), in->rank));
  reduction r = {.keep = onnx_find_int(n->node, "keepdims", 1) != 0,
                 .sure = true,
                 .gone = 1};
  r.marks[axis] = true;
  return make_reduced(n, in, &r);
}

/* ---- Elements ------------------------------------------------------------ */

typedef enum reducer {
  REDUCE_SUM,
  REDUCE_PROD,
  REDUCE_MIN,
  REDUCE_MAX
} reducer;

static bool find_reducer(reducer *out, const char *op) {
  static const char *const names[] = {"ReduceSum", "ReduceProd", "ReduceMin",
                                      "ReduceMax"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(op, names[i])) {
      *out = (reducer)i;
      return true;
    }
  return false;
}

static int64_t reduce_two(reducer how, int64_t a, int64_t b) {
  if (how == REDUCE_SUM) return infer_add(a, b);
  if (how == REDUCE_PROD) return infer_multiply(a, b);
  if (a == ONNX_UNKNOWN || b == ONNX_UNKNOWN) return ONNX_UNKNOWN;
  return (how == REDUCE_MIN) == (a < b) ? a : b;
}

/* Where element `k` of the operand goes. */
static uint32_t target_of(const reduction *r, const onnx_shape *in,
                          uint32_t k) {
  int64_t at = 0, stride = 1, left = k;
  for (uint32_t i = in->rank; i-- > 0;) {
    if (!r->marks[i]) {
      at += left % in->dims[i] * stride;
      stride *= in->dims[i];
    }
    left /= in->dims[i];
  }
  return (uint32_t)at;
}

calm_status fold_reduce(infer_node *n) {
  const onnx_contents *from = infer_input_contents(n, 0);
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_contents *out;
  reduction r;
  reducer how;
  bool *begun;
  if (!from || !from->integers || !from->count ||
      !find_reducer(&how, n->node->op_type))
    return CALM_OK;
  TRY(read_reduction(&r, n, in));
  if (!r.sure) return CALM_OK;
  TRY(infer_make_contents(&out, n, 0));
  if (!out || !out->integers) return CALM_OK;
  ARENA_ARRAY(&n->r->scratch, begun, out->count);
  for (uint32_t k = 0; k < from->count; k++) {
    uint32_t at = target_of(&r, in, k);
    if (at >= out->count) continue;
    int64_t value = from->integers[k];
    infer_set_integer(
        out, at, begun[at] ? reduce_two(how, out->integers[at], value) : value);
    begun[at] = true;
  }
  return CALM_OK;
}
