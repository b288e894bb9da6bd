#include "model/onnx_infer.h"

/* The argument of a row: the type of the output, 0 for that of operand 0. */
static int32_t output_type(const infer_node *n) {
  return n->argument ? n->argument : infer_input_type(n, 0);
}

/* Of one operand, element by element; a sequence stays a sequence. */
calm_status infer_same(infer_node *n) {
  const onnx_value *in = infer_input(n, 0);
  n->outputs[0].type = output_type(n);
  n->outputs[0].flags = in->flags & ONNX_VALUE_OPAQUE;
  infer_share(n, 0, 0);
  return CALM_OK;
}

/* The type is an attribute, else that of operand 0 or FLOAT. */
calm_status infer_like(infer_node *n) {
  int32_t type = infer_input_type(n, 0);
  int64_t given = onnx_find_int(n->node, "dtype", type ? type : ONNX_FLOAT);
  n->outputs[0].type = (int32_t)given;
  infer_share(n, 0, 0);
  return CALM_OK;
}

calm_status infer_cast(infer_node *n) {
  n->outputs[0].type = (int32_t)onnx_find_int(n->node, "to", ONNX_UNDEFINED);
  infer_share(n, 0, 0);
  return CALM_OK;
}

calm_status infer_cast_like(infer_node *n) {
  n->outputs[0].type = infer_input_type(n, 1);
  infer_share(n, 0, 0);
  return CALM_OK;
}

/* Dropout: the mask is of the type of the data up to opset 9. */
calm_status infer_dropout(infer_node *n) {
  bool old = n->node->opset > 0 && n->node->opset < 10;
  TRY(infer_same(n));
  n->outputs[1].type = old ? infer_input_type(n, 0) : ONNX_BOOL;
  infer_share(n, 1, 0);
  return CALM_OK;
}

/* Of any number of operands that broadcast.  Operators of opset 6 and older say
   with `broadcast` that the second one takes the shape of the first. */
calm_status infer_broadcast_all(infer_node *n) {
  n->outputs[0].type = output_type(n);
  if (onnx_find_int(n->node, "broadcast", 0) == 1) {
    infer_share(n, 0, 0);
    return CALM_OK;
  }
  for (uint32_t i = 0; i < n->node->input_count; i++)
    if (infer_input(n, i) && !infer_input_shape(n, i)) return CALM_OK;
  infer_share(n, 0, 0);
  for (uint32_t i = 1; i < n->node->input_count; i++)
    if (infer_input(n, i))
      TRY(infer_broadcast(n, 0, &n->outputs[0].shape, infer_input_shape(n, i)));
  return CALM_OK;
}

/* Where: the condition has no say in the type. */
calm_status infer_where(infer_node *n) {
  TRY(infer_broadcast_all(n));
  n->outputs[0].type = infer_input_type(n, 1);
  return CALM_OK;
}

/* Max, Min, Sum, Mean of a single sequence of floats and the like need nothing
   more; of a slope, an index or an axis only operand 0 counts. */
calm_status infer_random(infer_node *n) {
  infer_list shape = infer_list_of(n, CALM_NONE, "shape");
  onnx_shape *out;
  n->outputs[0].type = (int32_t)onnx_find_int(n->node, "dtype", ONNX_FLOAT);
  if (!shape.given) return CALM_OK;
  TRY(infer_make(&out, n, 0, shape.count));
  for (uint32_t i = 0; i < shape.count; i++)
    infer_set(out, i, shape.data[i] < 0 ? ONNX_UNKNOWN : shape.data[i], NULL);
  return CALM_OK;
}

/* ---- Normalisation ------------------------------------------------------- */

/* In training there are running means and variances, one per channel; opset 7
   to 13 saves two more. */
calm_status infer_batch_norm(infer_node *n) {
  TRY(infer_same(n));
  for (uint32_t o = 1; o < 5; o++) {
    uint32_t from = o % 2 ? 3 : 4;
    n->outputs[o].type = infer_input_type(n, from);
    infer_share(n, o, from);
  }
  return CALM_OK;
}

/* Mean and deviation keep the dimensions, those that are normalised as 1. */
static calm_status make_statistic(infer_node *n, uint32_t o, int64_t axis) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  uint32_t first;
  n->outputs[o].type =
      (int32_t)onnx_find_int(n->node, "stash_type", ONNX_FLOAT);
  if (!in) return CALM_OK;
  TRY(infer_axis(&first, n, axis, in->rank));
  TRY(infer_make(&out, n, o, in->rank));
  for (uint32_t i = 0; i < in->rank; i++)
    if (i < first)
      infer_copy(out, i, in, i);
    else
      infer_set(out, i, 1, NULL);
  return CALM_OK;
}

/* The argument: up to which output there are statistics (2: mean, deviation;
   1: deviation alone). */
calm_status infer_layer_norm(infer_node *n) {
  n->outputs[0].type = infer_input_type(n, 0);
  infer_share(n, 0, 0);
  for (uint32_t o = 1; o <= (uint32_t)n->argument; o++)
    if (o < n->node->output_count)
      TRY(make_statistic(n, o, onnx_find_int(n->node, "axis", -1)));
  return CALM_OK;
}

/* Sum and normalisation in one: output 3 is the sum. */
calm_status infer_skip_norm(infer_node *n) {
  n->outputs[0].type = n->outputs[3].type = infer_input_type(n, 0);
  infer_share(n, 0, 0);
  infer_share(n, 3, 0);
  for (uint32_t o = 1; o < 3; o++)
    if (o < n->node->output_count) TRY(make_statistic(n, o, -1));
  return CALM_OK;
}

/* ---- Quantization -------------------------------------------------------- */

/* To the type of the zero point, else to what the attribute says. */
calm_status infer_quantize(infer_node *n) {
  int32_t zero = infer_input_type(n, 2);
  int64_t type = onnx_find_int(n->node, "output_dtype", 0);
  n->outputs[0].type = zero ? zero : type ? (int32_t)type : ONNX_UINT8;
  infer_share(n, 0, 0);
  return CALM_OK;
}

/* To the type of the scale, since opset 23 to what the attribute says. */
calm_status infer_dequantize(infer_node *n) {
  int64_t type = onnx_find_int(n->node, "output_dtype", 0);
  n->outputs[0].type = type ? (int32_t)type : infer_input_type(n, 1);
  infer_share(n, 0, 0);
  return CALM_OK;
}

calm_status infer_dynamic_quantize(infer_node *n) {
  n->outputs[0].type = ONNX_UINT8;
  infer_share(n, 0, 0);
  TRY(infer_make_scalar(n, 1, ONNX_FLOAT));
  return infer_make_scalar(n, 2, ONNX_UINT8);
}

/* QLinearAdd and QLinearMul: A, scale, zero, B, scale, zero, ... */
calm_status infer_qlinear_binary(infer_node *n) {
  const onnx_shape *a = infer_input_shape(n, 0), *b = infer_input_shape(n, 3);
  n->outputs[0].type = infer_input_type(n, 0);
  return a && b ? infer_broadcast(n, 0, a, b) : CALM_OK;
}

/* ---- No tensors ---------------------------------------------------------- */

calm_status infer_opaque(infer_node *n) {
  n->outputs[0].flags = ONNX_VALUE_OPAQUE;
  return CALM_OK;
}

calm_status infer_scalar_out(infer_node *n) {
  int32_t type = n->argument ? n->argument : infer_input_type(n, 0);
  return infer_make_scalar(n, 0, type);
}
