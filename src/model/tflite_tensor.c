#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/number.h"
#include "model/tflite_parts.h"

/* By the file's code of an element type. */
static const element_type types[] = {
    ELEMENT_f32, ELEMENT_f16,          ELEMENT_i32,       ELEMENT_u8,
    ELEMENT_i64, ELEMENT_str,          ELEMENT_bool,      ELEMENT_i16,
    ELEMENT_c64, ELEMENT_i8,           ELEMENT_f64,       ELEMENT_c128,
    ELEMENT_u64, ELEMENT_resource,     ELEMENT_variant,   ELEMENT_u32,
    ELEMENT_u16, ELEMENT_i4,           ELEMENT_bf16,      ELEMENT_i2,
    ELEMENT_u4,  ELEMENT_float8e4m3fn, ELEMENT_float8e5m2};

int tflite_type_code(element_type type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i] == type) return (int)i;
  return -1;
}

/* One tensor on its way from the file into the graph. */
typedef struct source {
  flat_table table;
  uint32_t index;
  graph_tensor tensor;
} source;

/* ---- Element type, shape and name ---------------------------------------- */

static calm_status read_type(source *s, const tflite_reader *r) {
  int8_t code = flat_i8(&r->file, s->table, TFLITE_tensor_type, 0);
  if (code >= 0 && (size_t)code < sizeof types / sizeof *types) {
    s->tensor.type = types[code];
    return CALM_OK;
  }
  return context_fail(r->context, CALM_UNSUPPORTED,
                      "%s: byte %zu: tensor '%s' has element type %d, which "
                      "this version does not know (in subgraph %" PRIu32
                      ", tensor %" PRIu32 ")",
                      r->file.path, s->table, s->tensor.name, code, r->subgraph,
                      s->index);
}

static calm_status read_shape(source *s, tflite_reader *r) {
  flat_vector shape =
      flat_vector_of(&r->file, s->table, TFLITE_tensor_shape, 4);
  int64_t *dimensions;
  if (shape.count > GRAPH_MAX_RANK)
    return tflite_fail(r, s->table, "tensor", s->index,
                       "'%s' has %" PRIu32 " dimensions, at most %d work",
                       s->tensor.name, shape.count, GRAPH_MAX_RANK);
  ARENA_ARRAY(&r->scratch, dimensions, shape.count);
  for (uint32_t i = 0; i < shape.count; i++) {
    dimensions[i] = flat_i32_at(&r->file, shape, i);
    if (dimensions[i] < 0)
      return tflite_fail(r, s->table, "tensor", s->index,
                         "dimension %" PRIu32 " of '%s' is %" PRId64
                         "; the stored shape must be fixed",
                         i, s->tensor.name, dimensions[i]);
  }
  s->tensor.dimensions = dimensions;
  s->tensor.rank = shape.count;
  if (graph_bytes_of(&s->tensor.bytes, s->tensor.type, dimensions, shape.count))
    return CALM_OK;
  return tflite_fail(r, s->table, "tensor", s->index,
                     "the shape of '%s' needs more than 2^62 bytes",
                     s->tensor.name);
}

/* ---- Constants and variables --------------------------------------------- */

/* Several tensors may share a buffer, which counts once. */
static calm_status weigh(tflite_reader *r, const source *s, uint32_t buffer,
                         uint64_t size) {
  if (bits_has(r->weighed, buffer)) return CALM_OK;
  bits_add(r->weighed, buffer);
  if (number_add(&r->model->weight_bytes, r->model->weight_bytes, size))
    return CALM_OK;
  return tflite_fail(r, s->table, "tensor", s->index,
                     "the weights so far need more than 2^62 bytes");
}

/*
 * A tensor is a constant if there is data for it, in its buffer or in another
 * file.  A constant without elements has no data and passes for an activation
 * of 0 bytes.  Some files have no buffers at all: there index 0, which stands
 * for no data, is in order.
 */
static calm_status read_storage(source *s, tflite_reader *r) {
  uint32_t buffer = flat_u32(&r->file, s->table, TFLITE_tensor_buffer, 0);
  if (buffer >= r->buffers.count && buffer > 0)
    return tflite_fail(r, s->table, "tensor", s->index,
                       "'%s' has buffer %" PRIu32 ", but there are %" PRIu32,
                       s->tensor.name, buffer, r->buffers.count);
  uint64_t size = tflite_buffer(r, buffer).size;
  if (size) TRY(weigh(r, s, buffer, size));
  if (size || flat_u32(&r->file, s->table, TFLITE_tensor_external_buffer, 0)) {
    s->tensor.flags &= ~(unsigned)CALM_TENSOR_INPUT;
    s->tensor.flags |= CALM_TENSOR_CONST;
  } else if (flat_u8(&r->file, s->table, TFLITE_tensor_is_variable, 0)) {
    s->tensor.flags |= CALM_TENSOR_VARIABLE;
  }
  return CALM_OK;
}

/* Scales without zero points mean nothing to a runtime. */
static void read_scales(source *s, tflite_reader *r) {
  flat_table table =
      flat_table_of(&r->file, s->table, TFLITE_tensor_quantization);
  if (!table) return;
  s->tensor.quantization = tflite_number_quantization(r, table);
  if (flat_vector_of(&r->file, table, TFLITE_quantization_zero_point, 8).count)
    s->tensor.scale_count =
        flat_vector_of(&r->file, table, TFLITE_quantization_scale, 4).count;
}

/* Of sparse data, of data in blocks and of data whose length does not follow
   from the shape, nobody can take a part. */
static void read_contents(source *s, const tflite_reader *r) {
  const flat_file *file = &r->file;
  if (!(s->tensor.flags & CALM_TENSOR_CONST)) return;
  const uint32_t buffer = flat_u32(file, s->table, TFLITE_tensor_buffer, 0);
  const bool here =
      !flat_u32(file, s->table, TFLITE_tensor_external_buffer, 0) &&
      !flat_table_of(file, s->table, TFLITE_tensor_sparsity) &&
      tflite_quantization_is_plain(
          file, flat_table_of(file, s->table, TFLITE_tensor_quantization)) &&
      tflite_buffer(r, buffer).size == s->tensor.bytes;
  if (!here) s->tensor.contents = CONTENTS_ELSEWHERE;
}

/* The batch, the first dimension, may be open; only -1 means that it is. */
static void read_dynamic(source *s, const tflite_reader *r) {
  flat_vector signature =
      flat_vector_of(&r->file, s->table, TFLITE_tensor_shape_signature, 4);
  for (uint32_t i = 0; i < signature.count; i++)
    if (flat_i32_at(&r->file, signature, i) < (i ? 0 : -1))
      s->tensor.dynamic = true;
}

/* ---- Notices ------------------------------------------------------------- */

static size_t print_shape(char *out, size_t size, const tflite_reader *r,
                          flat_vector shape) {
  size_t used = (size_t)snprintf(out, size, "[");
  for (uint32_t i = 0; i < shape.count && used + 24 < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%" PRId32,
                             i ? "," : "", flat_i32_at(&r->file, shape, i));
  return used + (size_t)snprintf(out + used, size - used, "]");
}

/* The first one is described, the others are counted. */
static bool first_of_its_kind(tflite_notice *notice, const source *s) {
  if (notice->count++) return false;
  notice->name = s->tensor.name;
  return true;
}

static void notice_dynamic_shape(tflite_reader *r, const source *s) {
  flat_vector signature =
      flat_vector_of(&r->file, s->table, TFLITE_tensor_shape_signature, 4);
  bool dynamic = false;
  for (uint32_t i = 0; i < signature.count; i++)
    dynamic = dynamic || flat_i32_at(&r->file, signature, i) < 0;
  if (!dynamic || !first_of_its_kind(&r->dynamic, s)) return;
  char declared[72], stored[72];
  print_shape(declared, sizeof declared, r, signature);
  print_shape(stored, sizeof stored, r,
              flat_vector_of(&r->file, s->table, TFLITE_tensor_shape, 4));
  snprintf(r->dynamic.detail, sizeof r->dynamic.detail,
           "has the dynamic shape %s; its stored shape %s is what counts",
           declared, stored);
}

/* Of handles it is known that they lie with the runtime. */
static void notice_uncountable_type(tflite_reader *r, const source *s) {
  element_type type = s->tensor.type;
  if (type == ELEMENT_resource || element_type_bits(type)) return;
  if (!first_of_its_kind(&r->uncountable, s)) return;
  snprintf(r->uncountable.detail, sizeof r->uncountable.detail,
           "has elements of type %s, whose size the file does not tell; it "
           "counts as 0 bytes",
           element_type_name(type));
}

/* ---- All of them --------------------------------------------------------- */

static calm_status read_tensor(tflite_reader *r, graph *g, name_table *names,
                               source *s) {
  flat_string own = flat_string_of(&r->file, s->table, TFLITE_tensor_name);
  tensor_id id;
  TRY(tflite_choose_name(&s->tensor.name, r, names, own, "t", s->index));
  TRY(name_table_add(names, s->tensor.name, s->index));
  TRY(read_type(s, r));
  TRY(read_shape(s, r));
  TRY(read_storage(s, r));
  read_scales(s, r);
  read_contents(s, r);
  read_dynamic(s, r);
  if (!(s->tensor.flags & CALM_TENSOR_CONST)) {
    notice_dynamic_shape(r, s);
    notice_uncountable_type(r, s);
  }
  s->tensor.file_index = s->index;
  return graph_add_tensor(&id, g, &s->tensor);
}

/* Set `flag` for the tensors listed in one field of the subgraph. */
static calm_status mark(unsigned *flags, const tflite_reader *r,
                        flat_table subgraph, uint32_t tensors, bool output) {
  unsigned slot = output ? TFLITE_subgraph_outputs : TFLITE_subgraph_inputs;
  flat_vector list = flat_vector_of(&r->file, subgraph, slot, 4);
  for (uint32_t i = 0; i < list.count; i++) {
    int32_t t = flat_i32_at(&r->file, list, i);
    if (t == -1) continue;
    if (t < 0 || (uint32_t)t >= tensors)
      return tflite_fail(
          r, list.position + (size_t)i * 4, output ? "output" : "input", i,
          "tensor %" PRId32 " does not exist, there are %" PRIu32, t, tensors);
    flags[t] |= output ? CALM_TENSOR_OUTPUT : CALM_TENSOR_INPUT;
  }
  return CALM_OK;
}

static calm_status read_all(tflite_reader *r, graph *g, flat_table subgraph,
                            name_table *names) {
  unsigned *flags;
  r->tensors = flat_vector_of(&r->file, subgraph, TFLITE_subgraph_tensors, 4);
  ARENA_ARRAY(&r->scratch, flags, r->tensors.count);
  TRY(tflite_start_quantizations(r, r->tensors.count));
  g->listed_inputs =
      flat_vector_of(&r->file, subgraph, TFLITE_subgraph_inputs, 4).count;
  g->listed_outputs =
      flat_vector_of(&r->file, subgraph, TFLITE_subgraph_outputs, 4).count;
  TRY(mark(flags, r, subgraph, r->tensors.count, false));
  TRY(mark(flags, r, subgraph, r->tensors.count, true));
  for (uint32_t i = 0; i < r->tensors.count; i++) {
    source s = {flat_table_at(&r->file, r->tensors, i), i, {.flags = flags[i]}};
    TRY(read_tensor(r, g, names, &s));
  }
  return CALM_OK;
}

calm_status tflite_read_tensors(tflite_reader *r, graph *g, flat_table table) {
  name_table names;
  name_table_init(&names, r->context);
  calm_status status = read_all(r, g, table, &names);
  name_table_free(&names);
  return status;
}
