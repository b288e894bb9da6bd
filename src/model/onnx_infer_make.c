#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/onnx_infer.h"

/* ---- Constant ------------------------------------------------------------ */

/* The least number means "to the very first" where it is an element, so that
   its neighbour serves as well; it must not look unknown. */
static onnx_contents tame(onnx_contents contents) {
  for (uint32_t i = 0; contents.integers && i < contents.count; i++)
    if (contents.integers[i] == ONNX_UNKNOWN) contents.integers[i]++;
  return contents;
}

static calm_status constant_tensor(infer_node *n, const onnx_tensor *tensor) {
  onnx_shape *out;
  n->outputs[0].type = tensor->type;
  TRY(infer_make(&out, n, 0, tensor->rank));
  for (uint32_t i = 0; i < tensor->rank; i++)
    infer_set(out, i, tensor->dims[i], NULL);
  n->outputs[0].contents = tame(tensor->contents);
  return CALM_OK;
}

static calm_status constant_integers(infer_node *n, int64_t *ints,
                                     uint32_t count, bool line) {
  n->outputs[0].type = ONNX_INT64;
  TRY(line ? infer_make_line(n, 0, count)
           : infer_make_scalar(n, 0, ONNX_INT64));
  if (count <= ONNX_SMALL)
    n->outputs[0].contents =
        tame((onnx_contents){.integers = ints, .count = count});
  return CALM_OK;
}

static calm_status constant_reals(infer_node *n, double *reals, uint32_t count,
                                  bool line) {
  n->outputs[0].type = ONNX_FLOAT;
  TRY(line ? infer_make_line(n, 0, count)
           : infer_make_scalar(n, 0, ONNX_FLOAT));
  if (count <= ONNX_SMALL)
    n->outputs[0].contents = (onnx_contents){.reals = reals, .count = count};
  return CALM_OK;
}

calm_status infer_constant(infer_node *n) {
  for (uint32_t i = 0; i < n->node->attribute_count; i++) {
    onnx_attribute *a = &n->node->attributes[i];
    if (!strcmp(a->name, "value")) return constant_tensor(n, &a->tensor);
    if (!strcmp(a->name, "value_int"))
      return constant_integers(n, &a->i, 1, false);
    if (!strcmp(a->name, "value_ints"))
      return constant_integers(n, a->ints, a->count, true);
    if (!strcmp(a->name, "value_float"))
      return constant_reals(n, &a->f, 1, false);
    if (!strcmp(a->name, "value_floats"))
      return constant_reals(n, a->floats, a->count, true);
    if (!strcmp(a->name, "value_string"))
      return infer_make_scalar(n, 0, ONNX_STRING);
    if (!strcmp(a->name, "value_strings")) {
      n->outputs[0].type = ONNX_STRING;
      return infer_make_line(n, 0, a->count);
    }
  }
  return CALM_OK;
}

/* ---- ConstantOfShape ----------------------------------------------------- */

calm_status infer_constant_of_shape(infer_node *n) {
  infer_list list = infer_list_of(n, 0, NULL);
  const onnx_attribute *value = onnx_find(n->node, "value");
  onnx_shape *out;
  n->outputs[0].type = value ? value->tensor.type : ONNX_FLOAT;
  if (list.count == CALM_NONE) return CALM_OK;
  TRY(infer_make(&out, n, 0, list.count));
  for (uint32_t i = 0; list.data && i < list.count; i++)
    infer_set(out, i, list.data[i], list.symbols ? list.symbols[i] : NULL);
  return CALM_OK;
}

calm_status fold_constant_of_shape(infer_node *n) {
  const onnx_attribute *value = onnx_find(n->node, "value");
  onnx_contents *out;
  TRY(infer_make_contents(&out, n, 0));
  for (uint32_t i = 0; out && i < out->count; i++)
    if (!value)
      out->reals[i] = 0;
    else if (value->tensor.contents.count == 1)
      infer_move(out, i, &value->tensor.contents, 0);
  return CALM_OK;
}

/* ---- What a shape is ----------------------------------------------------- */

/* Dimensions from `start` to before `end`, below 0 counted from the last. */
static void read_span(uint32_t *first, uint32_t *end, const infer_node *n,
                      uint32_t rank) {
  int64_t most = rank, from = onnx_find_int(n->node, "start", 0);
  int64_t to = onnx_find_int(n->node, "end", most);
  from = from < -most ? 0 : from < 0 ? from + most : from > most ? most : from;
  to = to < -most ? 0 : to < 0 ? to + most : to > most ? most : to;
  *first = (uint32_t)from;
  *end = (uint32_t)(to < from ? from : to);
}

calm_status infer_shape_of(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  uint32_t first = 0, end = 0;
  n->outputs[0].type = ONNX_INT64;
  if (!in) return infer_make_line(n, 0, ONNX_UNKNOWN);
  read_span(&first, &end, n, in->rank);
  return infer_make_line(n, 0, end - first);
}

calm_status fold_shape(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_contents *out;
  uint32_t first, end;
  TRY(infer_make_contents(&out, n, 0));
  if (!in || !out) return CALM_OK;
  read_span(&first, &end, n, in->rank);
  for (uint32_t i = first; i < end; i++) {
    infer_set_integer(out, i - first, in->dims[i]);
    out->symbols[i - first] = infer_symbol(in, i);
  }
  return CALM_OK;
}

calm_status fold_size(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_contents *out;
  TRY(infer_make_contents(&out, n, 0));
  if (in && out) infer_set_integer(out, 0, infer_product(in, 0, in->rank));
  return CALM_OK;
}

/* ---- Range --------------------------------------------------------------- */

static double real_scalar(const infer_node *n, uint32_t i) {
  const onnx_contents *c = infer_input_contents(n, i);
  if (!c || c->count != 1) return (double)NAN;
  if (c->reals) return c->reals[0];
  return c->integers[0] == ONNX_UNKNOWN ? (double)NAN : (double)c->integers[0];
}

/* ceil((limit - start) / step), as -floor((start - limit) / step). */
static int64_t integer_length(int64_t start, int64_t limit, int64_t step) {
  int64_t span = infer_add(start, infer_multiply(limit, -1));
  return infer_multiply(infer_divide(span, step), -1);
}

/* In integers where they are, as doubles would round large ones. */
static int64_t range_length(infer_node *n) {
  int64_t count = ONNX_UNKNOWN;
  if (infer_is_integer(infer_input_type(n, 0))) {
    count = integer_length(infer_scalar(n, 0), infer_scalar(n, 1),
                           infer_scalar(n, 2));
  } else {
    double real = -infer_floor((real_scalar(n, 0) - real_scalar(n, 1)) /
                               real_scalar(n, 2));
    if (real > -9.0e18 && real < 9.0e18) count = (int64_t)real;
  }
  return count < 0 && count != ONNX_UNKNOWN ? 0 : count;
}

calm_status infer_range(infer_node *n) {
  n->outputs[0].type = infer_input_type(n, 0);
  for (uint32_t i = 0; i < 3; i++)
    if (!infer_input_contents(n, i)) {
      TRY(infer_depends(n, i));
      return infer_make_line(n, 0, ONNX_UNKNOWN);
    }
  return infer_make_line(n, 0, range_length(n));
}

calm_status fold_range(infer_node *n) {
  const onnx_contents *start = infer_input_contents(n, 0);
  const onnx_contents *step = infer_input_contents(n, 2);
  onnx_contents *out;
  TRY(infer_make_contents(&out, n, 0));
  if (!start || !step || !out || !out->integers || !start->integers ||
      !step->integers)
    return CALM_OK;
  for (uint32_t i = 0; i < out->count; i++)
    infer_set_integer(
        out, i,
        infer_add(start->integers[0], infer_multiply(step->integers[0], i)));
  return CALM_OK;
}

/* ---- Others that make something of sizes --------------------------------- */

/* A window function of so many samples. */
calm_status infer_window_function(infer_node *n) {
  n->outputs[0].type =
      (int32_t)onnx_find_int(n->node, "output_datatype", ONNX_FLOAT);
  return infer_make_line(n, 0, infer_scalar(n, 0));
}

calm_status infer_mel_matrix(infer_node *n) {
  int64_t bins = infer_scalar(n, 0), length = infer_scalar(n, 1);
  onnx_shape *out;
  n->outputs[0].type =
      (int32_t)onnx_find_int(n->node, "output_datatype", ONNX_FLOAT);
  TRY(infer_make(&out, n, 0, 2));
  infer_set(out, 0, infer_add(infer_divide(length, 2), 1), NULL);
  infer_set(out, 1, bins, NULL);
  return CALM_OK;
}

calm_status infer_multinomial(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  onnx_shape *out;
  n->outputs[0].type = (int32_t)onnx_find_int(n->node, "dtype", ONNX_INT32);
  TRY(infer_make(&out, n, 0, 2));
  if (in && in->rank) infer_copy(out, 0, in, 0);
  infer_set(out, 1, onnx_find_int(n->node, "sample_size", 1), NULL);
  return CALM_OK;
}

/* ---- Signals ------------------------------------------------------------- */

/* [..., length, ..., 1 or 2]: the length is given, or kept; of the spectrum of
   real numbers half is enough, and from that half they come back. */
calm_status infer_dft(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  bool operand = n->node->opset >= 20;
  bool half = onnx_find_int(n->node, "onesided", 0) != 0;
  int64_t axis = onnx_find_int(n->node, "axis", 1);
  uint32_t at;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (operand) axis = infer_input(n, 2) ? infer_scalar(n, 2) : -2;
  if (!in || axis == ONNX_UNKNOWN) return CALM_OK;
  TRY(infer_axis(&at, n, axis, in->rank));
  TRY(infer_make(&out, n, 0, in->rank));
  for (uint32_t i = 0; i + 1 < in->rank; i++) infer_copy(out, i, in, i);
  bool back = half && onnx_find_int(n->node, "inverse", 0) != 0;
  infer_set(out, in->rank - 1, back ? 1 : 2, NULL);
  int64_t length = infer_input(n, 1) ? infer_scalar(n, 1)
                   : back ? infer_multiply(infer_add(in->dims[at], -1), 2)
                          : in->dims[at];
  if (half && !back)
    infer_set(out, at, infer_add(infer_divide(length, 2), 1), NULL);
  else if (infer_input(n, 1) || back)
    infer_set(out, at, length, NULL);
  return CALM_OK;
}

/* [batch, samples, 1 or 2] -> [batch, frames, bins, 2]. */
calm_status infer_stft(infer_node *n) {
  const onnx_shape *in = infer_input_shape(n, 0);
  const onnx_shape *window = infer_input_shape(n, 2);
  int64_t step = infer_scalar(n, 1), length = ONNX_UNKNOWN;
  onnx_shape *out;
  n->outputs[0].type = infer_input_type(n, 0);
  if (infer_input(n, 3))
    length = infer_scalar(n, 3);
  else if (window && window->rank == 1)
    length = window->dims[0];
  TRY(infer_make(&out, n, 0, 4));
  if (!in || in->rank < 2 || length == ONNX_UNKNOWN) return CALM_OK;
  infer_copy(out, 0, in, 0);
  int64_t moves = infer_divide(infer_add(in->dims[1], -length), step);
  infer_set(out, 1, infer_add(moves, 1), NULL);
  bool half = onnx_find_int(n->node, "onesided", 1) != 0;
  infer_set(out, 2, half ? length / 2 + 1 : length, NULL);
  infer_set(out, 3, 2, NULL);
  return CALM_OK;
}
