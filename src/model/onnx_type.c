/* Element types and shapes as the file states them. */
#include <inttypes.h>

#include "model/onnx_parts.h"
#include "model/onnx_schema.h"

element_type onnx_element_type(int32_t type) {
  static const element_type types[] = {ELEMENT_ABSTRACT,
                                       ELEMENT_f32,
                                       ELEMENT_u8,
                                       ELEMENT_i8,
                                       ELEMENT_u16,
                                       ELEMENT_i16,
                                       ELEMENT_i32,
                                       ELEMENT_i64,
                                       ELEMENT_str,
                                       ELEMENT_bool,
                                       ELEMENT_f16,
                                       ELEMENT_f64,
                                       ELEMENT_u32,
                                       ELEMENT_u64,
                                       ELEMENT_c64,
                                       ELEMENT_c128,
                                       ELEMENT_bf16,
                                       ELEMENT_float8e4m3fn,
                                       ELEMENT_float8e4m3fnuz,
                                       ELEMENT_float8e5m2,
                                       ELEMENT_float8e5m2fnuz,
                                       ELEMENT_u4,
                                       ELEMENT_i4,
                                       ELEMENT_float4e2m1,
                                       ELEMENT_float8e8m0,
                                       ELEMENT_u2,
                                       ELEMENT_i2};
  const int32_t count = sizeof types / sizeof *types;
  return type > 0 && type < count ? types[type] : ELEMENT_ABSTRACT;
}

/* A negative size is what some exporters write for one that is not known, and
   so is a dimension of which nothing is said. */
static calm_status read_dimension(onnx_shape *shape, uint32_t axis,
                                  onnx_reader *r, proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  shape->dims[axis] = ONNX_UNKNOWN;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_DIMENSION_VALUE) {
      shape->dims[axis] =
          (int64_t)f.value < 0 ? ONNX_UNKNOWN : (int64_t)f.value;
    } else if (f.key == KEY_DIMENSION_SYMBOL && f.span.begin < f.span.end) {
      TRY(proto_string(&shape->symbols[axis], &r->scratch, &r->file, f.span));
      TRY(onnx_size_symbol(&shape->dims[axis], r, shape->symbols[axis]));
    }
  }
  return CALM_OK;
}

static calm_status count_dimensions(uint32_t *out, const onnx_reader *r,
                                    proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  uint32_t rank = 0;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_SHAPE_DIMENSION && ++rank > GRAPH_MAX_RANK)
      return proto_fail(&r->file, span.begin,
                        "a shape of more than %d dimensions", GRAPH_MAX_RANK);
  }
  *out = rank;
  return CALM_OK;
}

static calm_status read_shape(onnx_shape *out, onnx_reader *r,
                              proto_span span) {
  onnx_shape shape = {0};
  TRY(count_dimensions(&shape.rank, r, span));
  ARENA_ARRAY(&r->scratch, shape.dims, shape.rank);
  ARENA_ARRAY(&r->scratch, shape.symbols, shape.rank);
  proto_cursor c = proto_open(&r->file, span);
  for (uint32_t axis = 0; proto_more(&c);) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_SHAPE_DIMENSION)
      TRY(read_dimension(&shape, axis++, r, f.span));
  }
  *out = shape;
  return CALM_OK;
}

static calm_status read_tensor_type(onnx_value *value, onnx_reader *r,
                                    proto_span span) {
  proto_cursor c = proto_open(&r->file, span);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_TENSOR_ELEMENT) value->type = (int32_t)f.value;
    if (f.key == KEY_TENSOR_SHAPE) TRY(read_shape(&value->shape, r, f.span));
  }
  return CALM_OK;
}

calm_status onnx_read_type(onnx_value *value, onnx_reader *r, proto_span type) {
  proto_cursor c = proto_open(&r->file, type);
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    switch (f.key) {
      case KEY_TYPE_TENSOR:
      case KEY_TYPE_SPARSE_TENSOR:
        TRY(read_tensor_type(value, r, f.span));
        break;
      case KEY_TYPE_SEQUENCE:
      case KEY_TYPE_MAP:
      case KEY_TYPE_FOREIGN:
      case KEY_TYPE_OPTIONAL: value->flags |= ONNX_VALUE_OPAQUE; break;
      default: break;
    }
  }
  return CALM_OK;
}
