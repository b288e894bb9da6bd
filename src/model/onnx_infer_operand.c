#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/onnx_infer.h"

/* ---- Operands ------------------------------------------------------------ */

const onnx_value *infer_input(const infer_node *n, uint32_t i) {
  if (i >= n->node->input_count || n->node->inputs[i] == CALM_NONE) return NULL;
  return &n->graph->values.data[n->node->inputs[i]];
}

const onnx_shape *infer_input_shape(const infer_node *n, uint32_t i) {
  const onnx_value *value = infer_input(n, i);
  return value && value->shape.rank != ONNX_NO_RANK ? &value->shape : NULL;
}

int32_t infer_input_type(const infer_node *n, uint32_t i) {
  const onnx_value *value = infer_input(n, i);
  return value ? value->type : ONNX_UNDEFINED;
}

/* ---- Attributes ---------------------------------------------------------- */

bool infer_attribute_is(const onnx_node *node, const char *name,
                        const char *value) {
  const onnx_attribute *a = onnx_find(node, name);
  return a && a->type == ONNX_ATTRIBUTE_STRING && a->s && !strcmp(a->s, value);
}

int64_t infer_attribute_at(const onnx_node *node, const char *name, uint32_t i,
                           int64_t otherwise) {
  const onnx_attribute *a = onnx_find(node, name);
  if (!a || a->type != ONNX_ATTRIBUTE_INTS || i >= a->count) return otherwise;
  return a->ints[i];
}

/* ---- Reasons ------------------------------------------------------------- */

/* "operator 'NAME' (TYPE)"; the name of the first output where it has none. */
static int describe(char *out, size_t size, const infer_node *n) {
  const char *name = n->node->name;
  for (uint32_t i = 0; (!name || !*name) && i < n->node->output_count; i++)
    if (n->node->outputs[i] != CALM_NONE)
      name = n->graph->values.data[n->node->outputs[i]].name;
  return snprintf(out, size, "operator '%.100s' (%.60s) ", name ? name : "",
                  n->node->op_type);
}

static calm_status keep_why(infer_node *n, const char *text) {
  n->why = arena_string(&n->r->scratch, text, strlen(text));
  return n->why ? CALM_OK : context_no_memory(n->r->context);
}

calm_status infer_explain(infer_node *n, const char *what) {
  char text[512];
  int length = describe(text, sizeof text, n);
  snprintf(text + length, sizeof text - (size_t)length, "%s", what);
  return keep_why(n, text);
}

calm_status infer_conflict(infer_node *n, const char *format, ...) {
  char text[512];
  int length = describe(text, sizeof text, n);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
  va_end(arguments);
  TRY(keep_why(n, text));
  return CALM_BAD_INPUT;
}

/* Where the operand itself is known in part, it knows the reason better. */
calm_status infer_depends(infer_node *n, uint32_t i) {
  const onnx_value *value = infer_input(n, i);
  char text[512];
  if (n->why || !value) return CALM_OK;
  if (value->why) {
    n->why = value->why;
    return CALM_OK;
  }
  int length = describe(text, sizeof text, n);
  snprintf(text + length, sizeof text - (size_t)length,
           "depends on '%.100s', which is computed from data",
           value->name ? value->name : "");
  return keep_why(n, text);
}

/* ---- Lists --------------------------------------------------------------- */

static infer_list list_of_operand(infer_node *n, const onnx_value *value,
                                  uint32_t i) {
  static const int64_t none[1];
  const onnx_shape *shape = &value->shape;
  infer_list list = {.given = true, .count = CALM_NONE};
  bool counted = shape->rank == 0 || (shape->rank == 1 && shape->dims[0] >= 0 &&
                                      shape->dims[0] < ONNX_SMALL);
  if (counted) list.count = shape->rank == 0 ? 1 : (uint32_t)shape->dims[0];
  if (value->contents.integers) {
    list.data = value->contents.integers;
    list.symbols = value->contents.symbols;
    list.count = value->contents.count;
  } else if (list.count == 0) {
    list.data = none;
  } else {
    infer_depends(n, i);
  }
  return list;
}

infer_list infer_list_of(infer_node *n, uint32_t i, const char *attribute) {
  const onnx_value *value = infer_input(n, i);
  if (value) return list_of_operand(n, value, i);
  const onnx_attribute *a = attribute ? onnx_find(n->node, attribute) : NULL;
  if (a && a->type == ONNX_ATTRIBUTE_INTS && (a->ints || a->count == 0)) {
    static const int64_t none[1];
    return (infer_list){
        .given = true, .data = a->ints ? a->ints : none, .count = a->count};
  }
  if (a && a->type == ONNX_ATTRIBUTE_INT)
    return (infer_list){.given = true, .data = &a->i, .count = 1};
  return (infer_list){0};
}

infer_list infer_axes_of(infer_node *n, uint32_t i, const char *attribute) {
  infer_list list = infer_list_of(n, i, attribute);
  for (uint32_t k = 0; list.data && k < list.count; k++)
    if (list.data[k] == ONNX_UNKNOWN) list.data = NULL;
  return list;
}

/* Some operators take a number of any type for a count. */
static int64_t only_element(const onnx_contents *c) {
  if (c->count != 1) return ONNX_UNKNOWN;
  if (c->integers) return c->integers[0];
  double real = c->reals ? c->reals[0] : (double)NAN;
  return real > -9.0e15 && real < 9.0e15 ? (int64_t)real : ONNX_UNKNOWN;
}

int64_t infer_scalar(infer_node *n, uint32_t i) {
  const onnx_value *value = infer_input(n, i);
  if (!value) return ONNX_UNKNOWN;
  int64_t element = only_element(&value->contents);
  if (element == ONNX_UNKNOWN) infer_depends(n, i);
  return element;
}

calm_status infer_axis(uint32_t *out, infer_node *n, int64_t axis,
                       uint32_t rank) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank)
    return infer_conflict(
        n, "has the axis %" PRId64 ", but there are %" PRIu32 " dimensions",
        axis, rank);
  *out = (uint32_t)(axis < 0 ? axis + rank : axis);
  return CALM_OK;
}

/* ---- Elements ------------------------------------------------------------ */

bool infer_is_integer(int32_t type) {
  return (type >= ONNX_UINT8 && type <= ONNX_INT64) || type == ONNX_BOOL ||
         type == 12 || type == 13; /* UINT32, UINT64 */
}

bool infer_is_real(int32_t type) {
  return type == ONNX_FLOAT || type == ONNX_DOUBLE || type == ONNX_FLOAT16 ||
         type == 16; /* BFLOAT16 */
}

const onnx_contents *infer_input_contents(const infer_node *n, uint32_t i) {
  const onnx_value *value = infer_input(n, i);
  if (!value || (!value->contents.integers && !value->contents.reals))
    return NULL;
  return infer_complete(&value->shape) &&
                 infer_product(&value->shape, 0, value->shape.rank) ==
                     value->contents.count
             ? &value->contents
             : NULL;
}

calm_status infer_make_contents(onnx_contents **out, infer_node *n,
                                uint32_t o) {
  onnx_value *value = &n->outputs[o];
  bool integer = infer_is_integer(value->type);
  *out = NULL;
  if (!infer_complete(&value->shape)) return CALM_OK;
  if (!integer && !infer_is_real(value->type)) return CALM_OK;
  int64_t count = infer_product(&value->shape, 0, value->shape.rank);
  if (count < 0 || count > ONNX_SMALL) return CALM_OK;
  onnx_contents *made = &value->contents;
  made->count = (uint32_t)count;
  if (integer) {
    ARENA_ARRAY(&n->r->scratch, made->integers, made->count);
    ARENA_ARRAY(&n->r->scratch, made->symbols, made->count);
  } else {
    ARENA_ARRAY(&n->r->scratch, made->reals, made->count);
  }
  for (uint32_t i = 0; i < made->count; i++)
    if (integer)
      made->integers[i] = ONNX_UNKNOWN;
    else
      made->reals[i] = (double)NAN;
  *out = made;
  return CALM_OK;
}

void infer_move(onnx_contents *out, uint32_t i, const onnx_contents *from,
                uint32_t j) {
  if (out->integers && from->integers) {
    out->integers[i] = from->integers[j];
    out->symbols[i] = from->symbols ? from->symbols[j] : NULL;
  } else if (out->reals && from->reals) {
    out->reals[i] = from->reals[j];
  }
}

void infer_set_integer(onnx_contents *out, uint32_t i, int64_t value) {
  out->integers[i] = value;
  out->symbols[i] = NULL;
}

void infer_strides(int64_t *out, const onnx_shape *shape) {
  int64_t stride = 1;
  for (uint32_t i = shape->rank; i-- > 0;) {
    out[i] = stride;
    stride = infer_multiply(stride, shape->dims[i]);
  }
}

calm_status infer_move_strided(infer_node *n, uint32_t o, int64_t offset,
                               const int64_t *strides, const int64_t *wrap) {
  const onnx_contents *from = infer_input_contents(n, 0);
  const onnx_shape *shape = &n->outputs[o].shape;
  onnx_contents *out;
  if (!from) return CALM_OK;
  TRY(infer_make_contents(&out, n, o));
  for (uint32_t k = 0; out && k < out->count; k++) {
    int64_t left = k, at = offset;
    for (uint32_t i = shape->rank; i-- > 0;) {
      int64_t c = left % shape->dims[i];
      left /= shape->dims[i];
      if (wrap) c %= wrap[i];
      at = infer_add(at, infer_multiply(c, strides[i]));
    }
    if (at >= 0 && at < from->count) infer_move(out, k, from, (uint32_t)at);
  }
  return CALM_OK;
}
