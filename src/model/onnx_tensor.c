/*
 * Weights: initializers and the tensors among attributes.  Only their heads are
 * read, and the elements of those small enough to be shapes, axes, scales or
 * paddings; everything else stays where it is.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

enum {
  TENSOR_DIMS = 1,
  TENSOR_FLOATS = 4,
  TENSOR_INT32S = 5,
  TENSOR_INT64S = 7,
  TENSOR_DOUBLES = 10,
  TENSOR_UINT64S = 11,
  SPARSE_DIMS = 3,
  PLACE_EXTERNAL = 1
};

/* ---- Data in other files ------------------------------------------------- */

/* A path that leads out of the folder of the model could make whoever follows
   it read any file. */
static bool leaves_folder(const char *path) {
  if (path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':'))
    return true;
  while (*path) {
    size_t part = strcspn(path, "/\\");
    if (part == 2 && path[0] == '.' && path[1] == '.') return true;
    path += part + (path[part] != '\0');
  }
  return false;
}

static calm_status read_external(onnx_tensor *out, onnx_reader *r,
                                 proto_span span) {
  const char *key = "", *value = "";
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_ENTRY_KEY)
      TRY(proto_string(&key, &r->scratch, &r->file, f.span));
    if (f.key == KEY_ENTRY_VALUE)
      TRY(proto_string(&value, &r->scratch, &r->file, f.span));
  }
  if (!strcmp(key, "location") && (!*value || leaves_folder(value)))
    return proto_fail(&r->file, span.begin,
                      "external data at '%s'; its location must be a path "
                      "inside the folder of the model",
                      value);
  if (!strcmp(key, "location") && !r->model->external) {
    r->model->external = arena_string(&r->model->arena, value, strlen(value));
    if (!r->model->external) return context_no_memory(r->context);
  }
  if (!strcmp(key, "length") &&
      !number_parse(&out->length, value, strlen(value)))
    return proto_fail(&r->file, span.begin,
                      "the length '%s' of external data is no number", value);
  return CALM_OK;
}

/* ---- Small contents ------------------------------------------------------ */

/* Where and how the elements of a type are written. */
typedef struct element_form {
  uint32_t number; /* the field for them, if they are not raw */
  proto_wire wire;
  uint8_t bytes; /* of one in raw_data; 0: calm does not read them */
  bool is_signed, is_real;
} element_form;

static element_form form_of(int32_t type) {
  switch (type) {
    case ONNX_FLOAT:
      return (element_form){TENSOR_FLOATS, PROTO_FIXED32, 4, true, true};
    case ONNX_DOUBLE:
      return (element_form){TENSOR_DOUBLES, PROTO_FIXED64, 8, true, true};
    case ONNX_INT64:
      return (element_form){TENSOR_INT64S, PROTO_VARINT, 8, true, false};
    case ONNX_INT32:
      return (element_form){TENSOR_INT32S, PROTO_VARINT, 4, true, false};
    case ONNX_INT8:
      return (element_form){TENSOR_INT32S, PROTO_VARINT, 1, true, false};
    case ONNX_INT16:
      return (element_form){TENSOR_INT32S, PROTO_VARINT, 2, true, false};
    case ONNX_UINT8:
    case ONNX_BOOL:
      return (element_form){TENSOR_INT32S, PROTO_VARINT, 1, false, false};
    case ONNX_UINT16:
      return (element_form){TENSOR_INT32S, PROTO_VARINT, 2, false, false};
    case ONNX_UINT32:
      return (element_form){TENSOR_UINT64S, PROTO_VARINT, 4, false, false};
    case ONNX_UINT64:
      return (element_form){TENSOR_UINT64S, PROTO_VARINT, 8, false, false};
    default: return (element_form){0, PROTO_VARINT, 0, false, false};
  }
}

static int64_t integer_of(uint64_t bits, const element_form *form) {
  if (form->is_signed && form->bytes < 8 && (bits >> (8 * form->bytes - 1) & 1))
    bits |= UINT64_MAX << (8 * form->bytes);
  return (int64_t)bits;
}

static double real_of(uint64_t bits, const element_form *form) {
  if (form->bytes == 8) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint32_t half = (uint32_t)bits;
  float value;
  memcpy(&value, &half, sizeof value);
  return (double)value;
}

static calm_status read_bits(uint64_t **out, uint32_t *count, onnx_reader *r,
                             const onnx_tensor *tensor, proto_span span,
                             const element_form *form) {
  if (!tensor->bytes)
    return proto_numbers(out, count, &r->scratch, &r->file, span, form->number,
                         form->wire);
  size_t position = (size_t)(tensor->bytes - r->file.bytes);
  *count = (uint32_t)(tensor->length / form->bytes);
  ARENA_ARRAY(&r->scratch, *out, *count);
  for (uint32_t i = 0; i < *count; i++)
    (*out)[i] =
        proto_fixed(&r->file, position + (size_t)i * form->bytes, form->bytes);
  return CALM_OK;
}

static bool is_small(const onnx_tensor *tensor, const element_form *form) {
  uint64_t count = 1, limit = ONNX_FEW;
  if (!form->is_real && form->bytes >= 4) limit = ONNX_SMALL;
  for (uint32_t i = 0; i < tensor->rank; i++)
    if (!number_multiply(&count, count, (uint64_t)tensor->dims[i]))
      return false;
  return count <= limit;
}

static calm_status read_contents(onnx_tensor *tensor, onnx_reader *r,
                                 proto_span span) {
  element_form form = form_of(tensor->type);
  uint64_t *bits, expected = 1;
  uint32_t count;
  if (!form.bytes || tensor->external || !is_small(tensor, &form))
    return CALM_OK;
  for (uint32_t i = 0; i < tensor->rank; i++)
    expected *= (uint64_t)tensor->dims[i];
  TRY(read_bits(&bits, &count, r, tensor, span, &form));
  if (count != expected) return CALM_OK; /* stripped of its data */
  onnx_contents *contents = &tensor->contents;
  contents->count = count;
  if (form.is_real)
    ARENA_ARRAY(&r->scratch, contents->reals, count);
  else
    ARENA_ARRAY(&r->scratch, contents->integers, count);
  for (uint32_t i = 0; i < count; i++)
    if (form.is_real)
      contents->reals[i] = real_of(bits[i], &form);
    else
      contents->integers[i] = integer_of(bits[i], &form);
  return CALM_OK;
}

/* ---- The tensor ---------------------------------------------------------- */

static calm_status read_dims(onnx_tensor *out, onnx_reader *r, proto_span span,
                             uint32_t number) {
  uint64_t *dims;
  TRY(proto_numbers(&dims, &out->rank, &r->scratch, &r->file, span, number,
                    PROTO_VARINT));
  out->dims = (int64_t *)dims;
  if (out->rank > GRAPH_MAX_RANK)
    return proto_fail(&r->file, span.begin,
                      "a weight of %" PRIu32 " dimensions, at most %d work",
                      out->rank, GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < out->rank; i++)
    if (out->dims[i] < 0)
      return proto_fail(&r->file, span.begin,
                        "dimension %" PRIu32 " of a weight is %" PRId64
                        ", it must not be negative",
                        i, out->dims[i]);
  return CALM_OK;
}

static calm_status read_head(onnx_tensor *out, const char **name,
                             onnx_reader *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    switch (f.key) {
      case KEY_TENSOR_TYPE: out->type = (int32_t)f.value; break;
      case KEY_TENSOR_NAME:
        TRY(proto_string(name, &r->scratch, &r->file, f.span));
        break;
      case KEY_TENSOR_RAW:
        out->bytes = r->file.bytes + f.span.begin;
        out->length = f.span.end - f.span.begin;
        break;
      case KEY_TENSOR_PLACE: out->external = f.value == PLACE_EXTERNAL; break;
      case KEY_TENSOR_EXTERNAL: TRY(read_external(out, r, f.span)); break;
      default: break;
    }
  }
  return CALM_OK;
}

calm_status onnx_read_tensor(onnx_tensor *out, const char **name,
                             onnx_reader *r, proto_span span) {
  onnx_tensor tensor = {0};
  *name = "";
  TRY(read_head(&tensor, name, r, span));
  TRY(read_dims(&tensor, r, span, TENSOR_DIMS));
  if (tensor.length == 0 || tensor.external) tensor.bytes = NULL;
  TRY(read_contents(&tensor, r, span));
  TRY(onnx_locate(&tensor.origin, &r->file, &tensor, span));
  *out = tensor;
  return CALM_OK;
}

/* It stands for a dense tensor, most of whose elements are 0. */
calm_status onnx_read_sparse(onnx_tensor *out, const char **name,
                             onnx_reader *r, proto_span span) {
  onnx_tensor tensor = {0};
  *name = "";
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_SPARSE_VALUES)
      TRY(onnx_read_tensor(&tensor, name, r, f.span));
  }
  tensor.bytes = NULL;
  tensor.contents = (onnx_contents){0};
  tensor.origin = (onnx_origin){.contents = CONTENTS_ELSEWHERE};
  TRY(read_dims(&tensor, r, span, SPARSE_DIMS));
  *out = tensor;
  return CALM_OK;
}
