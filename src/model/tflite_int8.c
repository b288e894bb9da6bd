/*
 * A uint8 number q with zero point z stands for scale * (q - z).  So does the
 * int8 number q - 128 with zero point z - 128, and kernels compute with the
 * differences: with the same rounding they arrive at the same values.  What a
 * kind of operator must fulfil for that is its row in a table.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "model/tflite_rewrite.h"

enum { UINT8 = 3, INT8 = 9, SHIFT = 128 };

/* ---- Which operators are exact ------------------------------------------- */

typedef enum exactness {
  INEXACT,    /* or not known */
  EXACT,      /* moves bytes, or works on differences from the zero point */
  BY_FILTER,  /* if the zero point of operand 1 is 128: int8 kernels leave it
                 out */
  BY_COUNT,   /* if each mean is of an odd number: ties are rounded up in uint8,
                 and away from zero in int8 */
  BY_EQUALITY /* if operands and results are quantized alike */
} exactness;

static exactness exactness_of(op_kind kind) {
  switch (kind) {
    case OP_conv2d:
    case OP_depthwise_conv2d:
    case OP_fully_connected:
    case OP_transpose_conv: return BY_FILTER;
    case OP_average_pool2d: return BY_COUNT;
    case OP_concat:
    case OP_maximum:
    case OP_minimum: return BY_EQUALITY;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_relu:
    case OP_relu6:
    case OP_relu_n1_to_1:
    case OP_leaky_relu:
    case OP_softmax:
    case OP_logistic:
    case OP_tanh:
    case OP_max_pool2d:
    case OP_pad:
    case OP_padv2:
    case OP_mirror_pad:
    case OP_quantize:
    case OP_dequantize:
    case OP_arg_max:
    case OP_arg_min:
    case OP_reshape:
    case OP_squeeze:
    case OP_expand_dims:
    case OP_transpose:
    case OP_split:
    case OP_split_v:
    case OP_slice:
    case OP_strided_slice:
    case OP_gather:
    case OP_gather_nd:
    case OP_pack:
    case OP_unpack:
    case OP_tile:
    case OP_reverse_v2:
    case OP_space_to_depth:
    case OP_depth_to_space:
    case OP_space_to_batch_nd:
    case OP_batch_to_space_nd:
    case OP_resize_nearest_neighbor:
    case OP_reduce_max:
    case OP_reduce_min:
    case OP_shape:
    case OP_rank: return EXACT;
    default: return INEXACT;
  }
}

typedef struct converter {
  tflite_writer *w;
  uint32_t subgraph;
  const graph *g;
  uint64_t *touched; /* tensors of the subgraph that some operator touches */
  uint64_t *flipped; /* buffers whose bytes are to be changed, as bits */
  uint64_t *lowered; /* by position / 4: zero points that change */
  uint32_t count;    /* of tensors that change */
} converter;

static const graph_tensor *tensor_at(const converter *c, tensor_id t) {
  return &c->g->tensors.data[t];
}

static bool is_uint8(const converter *c, tensor_id t) {
  return t != CALM_NONE && tensor_at(c, t)->type == ELEMENT_u8;
}

static calm_status refuse(const converter *c, op_id u, const char *reason) {
  return context_fail(c->w->model->context, CALM_UNSUPPORTED,
                      "%s: --to-int8: operator '%s' (%s) %s", c->w->model->path,
                      c->g->ops.data[u].name, c->g->ops.data[u].kind_name,
                      reason);
}

static flat_vector zero_points(const converter *c, tensor_id t) {
  const flat_table table = tflite_tensor_table(c->w, c->subgraph, t);
  return flat_vector_of(&c->w->tables.file, tflite_quantization_of(c->w, table),
                        TFLITE_quantization_zero_point, 8);
}

static flat_vector scales(const converter *c, tensor_id t) {
  const flat_table table = tflite_tensor_table(c->w, c->subgraph, t);
  return flat_vector_of(&c->w->tables.file, tflite_quantization_of(c->w, table),
                        TFLITE_quantization_scale, 4);
}

static int64_t number_at(const converter *c, flat_vector v, uint32_t i) {
  return (int64_t)flat_number(&c->w->tables.file, v.position + (size_t)i * 8,
                              8);
}

/* ---- One operator -------------------------------------------------------- */

/* Fully connected layers may have their weights in another order, for kernels
   of uint8 only. */
static bool is_shuffled(const converter *c, op_id u) {
  enum { FULLY_CONNECTED_OPTIONS = 8, WEIGHTS_FORMAT_SLOT = 1 };
  const flat_file *file = &c->w->tables.file;
  const flat_vector ops = flat_vector_of(
      file, flat_table_at(file, c->w->tables.subgraphs, c->subgraph),
      TFLITE_subgraph_operators, 4);
  const flat_table op = flat_table_at(file, ops, u);
  return flat_u8(file, op, TFLITE_operator_builtin_options_type, 0) ==
             FULLY_CONNECTED_OPTIONS &&
         flat_i8(file, flat_table_of(file, op, TFLITE_OPTIONS_SLOT),
                 WEIGHTS_FORMAT_SLOT, 0) != 0;
}

static calm_status check_filter(const converter *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  const uint32_t data = op->kind == OP_transpose_conv ? 2 : 0;
  const tensor_id filter = op->input_count > 1 ? op->inputs[1] : CALM_NONE;
  if (op->input_count <= data || !is_uint8(c, op->inputs[data]) ||
      !is_uint8(c, filter) || op->output_count != 1 ||
      !is_uint8(c, op->outputs[0]))
    return refuse(c, u, "mixes uint8 with other types");
  if (is_shuffled(c, u)) return refuse(c, u, "has shuffled weights");
  const flat_vector zeros = zero_points(c, filter);
  for (uint32_t i = 0; i < zeros.count; i++)
    if (number_at(c, zeros, i) != SHIFT)
      return refuse(c, u,
                    "has a filter whose zero point is not 128, which int8 "
                    "kernels do not know");
  return CALM_OK;
}

static const char *attribute(const graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return op->attributes[i].value;
  return "";
}

static bool is_odd_at(const char *end) { return (end[-1] - '0') % 2 != 0; }

/* "7,7" inside its input, and so everywhere as many. */
static calm_status check_count(const converter *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  const char *filter = attribute(op, "filter");
  const char *comma = strchr(filter, ',');
  const bool valid =
      !strcmp(attribute(op, "pad"), "valid") || !strcmp(filter, "1,1");
  if (valid && comma && comma > filter && is_odd_at(comma) &&
      is_odd_at(filter + strlen(filter)))
    return CALM_OK;
  return refuse(c, u,
                "may take means of an even number of values, which are rounded "
                "in another way in int8");
}

static bool same_bytes(const converter *c, flat_vector a, flat_vector b,
                       uint32_t size) {
  const uint8_t *bytes = c->w->tables.file.bytes;
  return a.count == b.count && !memcmp(bytes + a.position, bytes + b.position,
                                       (size_t)a.count * size);
}

static calm_status check_equality(const converter *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  for (uint32_t i = 0; i < op->input_count; i++) {
    const tensor_id in = op->inputs[i], out = op->outputs[0];
    if (in == CALM_NONE || out == CALM_NONE) continue;
    if (!same_bytes(c, scales(c, in), scales(c, out), 4) ||
        !same_bytes(c, zero_points(c, in), zero_points(c, out), 8))
      return refuse(c, u,
                    "has operands with different scales or zero points, which "
                    "int8 kernels refuse");
  }
  return CALM_OK;
}

/* Its zero points must be stored: they are what changes. */
static calm_status check_operand(const converter *c, op_id u, tensor_id t) {
  if (!is_uint8(c, t)) return CALM_OK;
  const graph_tensor *tensor = tensor_at(c, t);
  const flat_table table = tflite_tensor_table(c->w, c->subgraph, t);
  const flat_vector zeros = zero_points(c, t);
  if (zeros.count == 0 || zeros.count != scales(c, t).count)
    return refuse(c, u, "has a uint8 operand that is not quantized");
  if (tensor->flags & CALM_TENSOR_VARIABLE)
    return refuse(c, u, "has a variable of uint8, which begins with zeros");
  if (flat_table_of(&c->w->tables.file, table, TFLITE_tensor_sparsity) ||
      flat_u32(&c->w->tables.file, table, TFLITE_tensor_external_buffer, 0))
    return refuse(c, u, "has weights that are sparse or in another file");
  bits_add(c->touched, t);
  return CALM_OK;
}

static calm_status check_op(const converter *c, op_id u) {
  const graph_op *op = &c->g->ops.data[u];
  bool concerned = false;
  for (uint32_t i = 0; i < op->input_count; i++)
    concerned = concerned || is_uint8(c, op->inputs[i]);
  for (uint32_t i = 0; i < op->output_count; i++)
    concerned = concerned || is_uint8(c, op->outputs[i]);
  if (!concerned) return CALM_OK;
  const exactness needed = exactness_of(op->kind);
  if (needed == INEXACT)
    return refuse(c, u, "is not known to give the same values in int8");
  for (uint32_t i = 0; i < op->input_count; i++)
    TRY(check_operand(c, u, op->inputs[i]));
  for (uint32_t i = 0; i < op->output_count; i++)
    TRY(check_operand(c, u, op->outputs[i]));
  if (needed == BY_FILTER) return check_filter(c, u);
  if (needed == BY_COUNT) return check_count(c, u);
  return needed == BY_EQUALITY ? check_equality(c, u) : CALM_OK;
}

/* ---- One tensor ---------------------------------------------------------- */

static calm_status lower_zero_points(converter *c, tensor_id t) {
  const flat_vector zeros = zero_points(c, t);
  for (uint32_t i = 0; i < zeros.count; i++) {
    const size_t at = zeros.position + (size_t)i * 8;
    const int64_t zero = number_at(c, zeros, i);
    if (zero < 0 || zero > UINT8_MAX)
      return context_fail(c->w->model->context, CALM_UNSUPPORTED,
                          "%s: --to-int8: tensor '%s' has the zero point "
                          "%" PRId64 ", which uint8 cannot hold",
                          c->w->model->path, tensor_at(c, t)->name, zero);
    TRY(tflite_edit_number(c->w, at, (uint64_t)(zero - SHIFT), 8));
    bits_add(c->lowered, (uint32_t)(at / 4));
  }
  return CALM_OK;
}

static calm_status convert_tensor(converter *c, tensor_id t) {
  const flat_file *file = &c->w->tables.file;
  const flat_table table = tflite_tensor_table(c->w, c->subgraph, t);
  const size_t type = (size_t)flat_place(file, table, TFLITE_tensor_type);
  c->count++;
  TRY(tflite_edit_number(c->w, type, INT8, 1));
  TRY(lower_zero_points(c, t));
  const uint32_t buffer = flat_u32(file, table, TFLITE_tensor_buffer, 0);
  const tflite_bytes bytes = tflite_buffer(&c->w->tables, buffer);
  if (bytes.size == 0 || bits_has(c->flipped, buffer)) return CALM_OK;
  bits_add(c->flipped, buffer);
  return tflite_edit_flip(c->w, (size_t)bytes.position, (size_t)bytes.size);
}

static calm_status convert_subgraph(converter *c, uint32_t subgraph) {
  c->subgraph = subgraph;
  c->g = &c->w->model->graphs.data[subgraph];
  ARENA_ARRAY(c->w->a, c->touched, bits_words(c->g->tensors.count));
  for (op_id u = 0; u < c->g->ops.count; u++) TRY(check_op(c, u));
  for (tensor_id t = 0; t < c->g->tensors.count; t++)
    if (bits_has(c->touched, t)) TRY(convert_tensor(c, t));
  return CALM_OK;
}

/* ---- What is shared with tensors of other types -------------------------- */

static calm_status refuse_shared(const converter *c, tensor_id t) {
  return context_fail(c->w->model->context, CALM_UNSUPPORTED,
                      "%s: --to-int8: tensor '%s' shares bytes with uint8 "
                      "tensors, and must not change with them",
                      c->w->model->path, tensor_at(c, t)->name);
}

static calm_status check_others(converter *c, uint32_t subgraph) {
  c->subgraph = subgraph;
  c->g = &c->w->model->graphs.data[subgraph];
  for (tensor_id t = 0; t < c->g->tensors.count; t++) {
    if (is_uint8(c, t)) continue;
    const flat_table table = tflite_tensor_table(c->w, subgraph, t);
    const uint32_t buffer =
        flat_u32(&c->w->tables.file, table, TFLITE_tensor_buffer, 0);
    if (buffer < c->w->tables.buffers.count && bits_has(c->flipped, buffer))
      return refuse_shared(c, t);
    const flat_vector zeros = zero_points(c, t);
    for (uint32_t i = 0; i < zeros.count; i++)
      if (bits_has(c->lowered,
                   (uint32_t)((zeros.position + (size_t)i * 8) / 4)))
        return refuse_shared(c, t);
  }
  return CALM_OK;
}

static calm_status check_metadata(const converter *c) {
  const flat_file *file = &c->w->tables.file;
  for (uint32_t i = 0; i < c->w->metadata.count; i++) {
    const uint32_t buffer =
        flat_u32(file, flat_table_at(file, c->w->metadata, i),
                 TFLITE_metadata_buffer, 0);
    if (buffer < c->w->tables.buffers.count && bits_has(c->flipped, buffer))
      return context_fail(c->w->model->context, CALM_UNSUPPORTED,
                          "%s: --to-int8: a metadata entry has the bytes of a "
                          "tensor that changes",
                          c->w->model->path);
  }
  return CALM_OK;
}

calm_status tflite_to_int8(tflite_writer *w) {
  converter c = {.w = w};
  ARENA_ARRAY(w->a, c.flipped, bits_words(w->tables.buffers.count));
  ARENA_ARRAY(w->a, c.lowered,
              bits_words((uint32_t)(w->model->map.length / 4 + 1)));
  for (uint32_t i = 0; i < w->model->graphs.count; i++)
    TRY(convert_subgraph(&c, i));
  if (c.count == 0)
    return context_fail(w->model->context, CALM_UNSUPPORTED,
                        "%s: --to-int8: no operator touches a uint8 tensor",
                        w->model->path);
  for (uint32_t i = 0; i < w->model->graphs.count; i++)
    TRY(check_others(&c, i));
  return check_metadata(&c);
}
