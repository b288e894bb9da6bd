/*
 * The bytes of weights.  An initializer or a Constant has them as raw data or
 * as a list of numbers, one of several, by type.  What only hands them on under
 * another shape has the same ones, and ConstantOfShape one element again and
 * again.  Everything else that makes weights from weights is left to runtimes.
 */
#include <string.h>

#include "base/number.h"
#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

/* ---- Where they are ------------------------------------------------------ */

/* How a TensorProto spells the elements of a type if they are not raw. */
typedef struct spelling {
  uint32_t number; /* of the field; 0: calm does not read it */
  proto_wire wire;
  unsigned bytes; /* of the tensor, per number */
} spelling;

enum { ONNX_COMPLEX64 = 14, ONNX_COMPLEX128 = 15 };

static spelling spell(int32_t type) {
  const element_type element = onnx_element_type(type);
  if (element == ELEMENT_ABSTRACT) return (spelling){0, PROTO_VARINT, 0};
  switch (type) {
    case ONNX_STRING: return (spelling){0, PROTO_VARINT, 0};
    case ONNX_FLOAT:
    case ONNX_COMPLEX64: return (spelling){4, PROTO_FIXED32, 4};
    case ONNX_INT64: return (spelling){7, PROTO_VARINT, 8};
    case ONNX_DOUBLE:
    case ONNX_COMPLEX128: return (spelling){10, PROTO_FIXED64, 8};
    case ONNX_UINT32: return (spelling){11, PROTO_VARINT, 4};
    case ONNX_UINT64: return (spelling){11, PROTO_VARINT, 8};
    default:
      return (spelling){5, PROTO_VARINT, (element_type_bits(element) + 7) / 8};
  }
}

/* Bytes that the numbers of the field make; varints are not looked at, of them
   there are as many as there should be. */
static calm_status count_spelt(uint64_t *out, const proto_file *file,
                               proto_span span, const spelling *s,
                               uint64_t expected) {
  proto_cursor c = proto_open(file, span);
  uint64_t bytes = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == PROTO_KEY(s->number, s->wire))
      bytes += s->bytes;
    else if (f.key != PROTO_KEY(s->number, PROTO_BYTES))
      continue;
    else if (s->wire == PROTO_VARINT)
      bytes = expected;
    else
      bytes += f.span.end - f.span.begin;
    if (s->wire == PROTO_VARINT) bytes = expected;
  }
  *out = bytes;
  return CALM_OK;
}

calm_status onnx_locate(onnx_origin *out, const proto_file *file,
                        const onnx_tensor *tensor, proto_span span) {
  const spelling s = spell(tensor->type);
  uint64_t expected, bytes = tensor->length;
  *out = (onnx_origin){.contents = CONTENTS_ELSEWHERE, .span = span};
  if (!s.number || tensor->external ||
      !graph_bytes_of(&expected, onnx_element_type(tensor->type), tensor->dims,
                      tensor->rank))
    return CALM_OK;
  if (!tensor->bytes) TRY(count_spelt(&bytes, file, span, &s, expected));
  if (bytes != expected) return CALM_OK;
  out->contents = CONTENTS_HERE;
  out->form = ORIGIN_TENSOR;
  return CALM_OK;
}

/* ---- What nodes do with them --------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(word, *words)) return true;
  return false;
}

static bool hands_on(const onnx_node *node) {
  static const char *const types[] = {"Identity", "Flatten",   "Reshape",
                                      "Squeeze",  "Unsqueeze", NULL};
  return node->input_count > 0 && node->inputs[0] != CALM_NONE &&
         is_one_of(node->op_type, types);
}

static onnx_origin of_constant(const onnx_node *node) {
  static const char *const lists[] = {"value_float", "value_floats",
                                      "value_int", "value_ints", NULL};
  const onnx_attribute *a =
      node->attribute_count == 1 ? &node->attributes[0] : NULL;
  onnx_origin none = {.contents = CONTENTS_ELSEWHERE};
  if (a && !strcmp(a->name, "value") && a->type == ONNX_ATTRIBUTE_TENSOR)
    return a->tensor.origin;
  if (!a || !is_one_of(a->name, lists)) return none;
  return (onnx_origin){CONTENTS_HERE, ORIGIN_NUMBERS, a->span};
}

static onnx_origin of_filled(const onnx_node *node) {
  const onnx_attribute *a = onnx_find(node, "value");
  onnx_origin origin = {CONTENTS_HERE, ORIGIN_FILLED, {0, 0}};
  if (!a) return origin;
  if (a->type != ONNX_ATTRIBUTE_TENSOR ||
      a->tensor.origin.contents != CONTENTS_HERE)
    return (onnx_origin){.contents = CONTENTS_ELSEWHERE};
  origin.span = a->tensor.origin.span;
  return origin;
}

static onnx_origin of_node(const onnx_graph *g, const onnx_node *node) {
  if (!strcmp(node->op_type, "Constant")) return of_constant(node);
  if (!strcmp(node->op_type, "ConstantOfShape")) return of_filled(node);
  if (hands_on(node)) return g->values.data[node->inputs[0]].origin;
  return (onnx_origin){.contents = CONTENTS_COMPUTED};
}

void onnx_trace_origins(onnx_reader *r) {
  for (uint32_t i = 0; i < r->graphs.count; i++) {
    onnx_graph *g = &r->graphs.data[i];
    for (uint32_t n = 0; n < g->nodes.count; n++) {
      const onnx_node *node = &g->nodes.data[g->order[n]];
      if (!node->weights_only) continue;
      const onnx_origin origin = of_node(g, node);
      for (uint32_t k = 0; k < node->output_count; k++)
        if (node->outputs[k] != CALM_NONE)
          g->values.data[node->outputs[k]].origin = origin;
    }
  }
}

/* ---- The bytes ----------------------------------------------------------- */

/* A weight that is being read: its bytes, and where from. */
typedef struct extraction {
  const calm_model *model;
  const graph_tensor *tensor;
  proto_file file;
  arena *a;
  const uint8_t *bytes;
  uint64_t length;
} extraction;

static calm_status refuse(const extraction *e, const char *reason) {
  return context_fail(e->model->context, CALM_UNSUPPORTED, "%s: '%s' %s",
                      e->model->path, e->tensor->name, reason);
}

/* The numbers of a field, each as so many bytes. */
static calm_status take_numbers(extraction *e, proto_span message,
                                const spelling *s) {
  uint64_t *numbers;
  uint32_t count;
  uint8_t *bytes;
  TRY(proto_numbers(&numbers, &count, e->a, &e->file, message, s->number,
                    s->wire));
  ARENA_ARRAY(e->a, bytes, (size_t)count * s->bytes);
  for (uint32_t i = 0; i < count; i++)
    for (unsigned b = 0; b < s->bytes; b++)
      bytes[(size_t)i * s->bytes + b] = (uint8_t)(numbers[i] >> (8 * b));
  e->bytes = bytes;
  e->length = (uint64_t)count * s->bytes;
  return CALM_OK;
}

/* The last raw data counts, as for any field that comes twice. */
static calm_status take_tensor(extraction *e, proto_span tensor) {
  int32_t type = ONNX_UNDEFINED;
  proto_cursor c = proto_open(&e->file, tensor);
  e->length = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_TENSOR_TYPE) type = (int32_t)f.value;
    if (f.key != KEY_TENSOR_RAW) continue;
    e->bytes = e->file.bytes + f.span.begin;
    e->length = f.span.end - f.span.begin;
  }
  if (e->length) return CALM_OK;
  const spelling s = spell(type);
  return take_numbers(e, tensor, &s);
}

/* The one element, as often as there is room. */
static calm_status take_filled(extraction *e, proto_span element) {
  static const uint8_t zero[4] = {0};
  const uint64_t length = e->tensor->bytes;
  uint8_t *bytes;
  e->bytes = zero;
  e->length = sizeof zero;
  if (element.end) TRY(take_tensor(e, element));
  if (!e->length || element_type_bits(e->tensor->type) != 8 * e->length)
    return refuse(e, "is filled with something that is not one element");
  ARENA_ARRAY(e->a, bytes, length);
  for (uint64_t i = 0; i < length; i++) bytes[i] = e->bytes[i % e->length];
  e->bytes = bytes;
  e->length = length;
  return CALM_OK;
}

/* One float or int, or a list of them. */
static calm_status take_attribute(extraction *e, proto_span attribute) {
  const bool real = e->tensor->type == ELEMENT_f32;
  const spelling one =
      real ? (spelling){2, PROTO_FIXED32, 4} : (spelling){3, PROTO_VARINT, 8};
  const spelling many =
      real ? (spelling){7, PROTO_FIXED32, 4} : (spelling){8, PROTO_VARINT, 8};
  TRY(take_numbers(e, attribute, &many));
  if (e->length || !e->tensor->bytes) return CALM_OK;
  return take_numbers(e, attribute, &one);
}

static calm_status take(extraction *e, const onnx_origin *origin) {
  switch (origin->form) {
    case ORIGIN_TENSOR: return take_tensor(e, origin->span);
    case ORIGIN_FILLED: return take_filled(e, origin->span);
    case ORIGIN_NUMBERS: return take_attribute(e, origin->span);
    default: return refuse(e, "has no bytes in the file");
  }
}

calm_status onnx_constant(const uint8_t **out, uint64_t *length,
                          const calm_model *model, tensor_id t, arena *a) {
  const graph_tensor *tensor = &model->graphs.data[0].tensors.data[t];
  extraction e = {.model = model,
                  .tensor = tensor,
                  .file = {model->context, model->path, model->map.bytes,
                           model->map.length},
                  .a = a};
  if (!(tensor->flags & CALM_TENSOR_CONST)) return refuse(&e, "is no constant");
  if (tensor->contents == CONTENTS_COMPUTED)
    return refuse(&e, "is computed, or may be replaced by who runs the model");
  if (tensor->contents == CONTENTS_ELSEWHERE)
    return refuse(&e, "has its bytes elsewhere");
  TRY(take(&e, &model->origins[tensor->file_index]));
  if (e.length != tensor->bytes)
    return refuse(&e, "has fewer or more bytes than its shape needs");
  *out = e.bytes;
  *length = e.length;
  return CALM_OK;
}
