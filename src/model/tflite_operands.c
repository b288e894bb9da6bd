/*
 * What constant operands say of an operator: the axis of a split, the part that
 * a slice takes, how much a pad adds.  It becomes attributes only where it fits
 * the shapes, so that nobody else has to look at the constants' bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/tflite_parts.h"

enum {
  SPLIT = 49,
  SPLIT_V = 102,
  PAD = 34,
  PADV2 = 60,
  SLICE = 65,
  STRIDED_SLICE = 45,
  MOST = 8 /* dimensions; more do not occur in pictures */
};

/* ---- Numbers ------------------------------------------------------------- */

/* A constant operand of whole numbers; false if it is none, or has not `count`
   of them. */
static bool read_numbers(int64_t *out, uint32_t count, const tflite_reader *r,
                         const graph_op *op, uint32_t operand) {
  if (operand >= op->input_count || op->inputs[operand] == CALM_NONE)
    return false;
  const flat_table tensor =
      flat_table_at(&r->file, r->tensors, op->inputs[operand]);
  const tflite_bytes bytes =
      tflite_buffer(r, flat_u32(&r->file, tensor, TFLITE_tensor_buffer, 0));
  const int8_t type = flat_i8(&r->file, tensor, TFLITE_tensor_type, 0);
  const unsigned size = type == TFLITE_INT64 ? 8 : 4;
  if (type != TFLITE_INT32 && type != TFLITE_INT64) return false;
  if (bytes.size != (uint64_t)count * size) return false;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t number =
        flat_number(&r->file, (size_t)bytes.position + i * size, size);
    out[i] = size == 4 ? (int32_t)number : (int64_t)number;
  }
  return true;
}

/* Nothing is said if it would not fit. */
static void say(tflite_attributes *out, const char *key, const int64_t *numbers,
                uint32_t count) {
  char *value = out->values[out->count];
  size_t used = 0;
  value[0] = '\0';
  for (uint32_t i = 0; i < count && used < TFLITE_VALUE_BYTES; i++)
    used += (size_t)snprintf(value + used, TFLITE_VALUE_BYTES - used,
                             "%s%" PRId64, i ? "," : "", numbers[i]);
  if (used < TFLITE_VALUE_BYTES)
    out->list[out->count++] = (graph_attribute){key, value};
}

static const graph_tensor *operand_of(const graph *g, const tensor_id *operands,
                                      uint32_t count) {
  return count && operands[0] != CALM_NONE ? &g->tensors.data[operands[0]]
                                           : NULL;
}

/* ---- Slices -------------------------------------------------------------- */

/* Where a picture is cut: [begin, begin + size) per dimension. */
typedef struct part {
  int64_t begin[MOST], size[MOST];
} part;

static bool fits(const part *p, const graph_tensor *x, const graph_tensor *y) {
  for (uint32_t i = 0; i < x->rank; i++)
    if (p->begin[i] < 0 || p->begin[i] > x->dimensions[i] ||
        p->size[i] != y->dimensions[i] ||
        p->size[i] > x->dimensions[i] - p->begin[i])
      return false;
  return true;
}

/* A size of -1 reaches to the end. */
static bool read_slice(part *out, const tflite_reader *r, const graph_op *op,
                       const graph_tensor *x) {
  if (!read_numbers(out->begin, x->rank, r, op, 1) ||
      !read_numbers(out->size, x->rank, r, op, 2))
    return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (out->size[i] == -1) out->size[i] = x->dimensions[i] - out->begin[i];
  return true;
}

/* A place from the end, and one beyond it. */
static int64_t clamp(int64_t at, int64_t size) {
  if (at < 0) at = at < -size ? 0 : at + size;
  return at > size ? size : at;
}

/* Slots of the options of a STRIDED_SLICE. */
enum {
  STRIDED_OPTIONS = 32,
  BEGIN_MASK = 0,
  END_MASK = 1,
  ELLIPSIS_MASK = 2,
  NEW_AXIS_MASK = 3,
  SHRINK_AXIS_MASK = 4,
  END_IS_OFFSET = 5
};

static bool is_plain(const tflite_reader *r, flat_table table,
                     flat_table options) {
  const flat_file *file = &r->file;
  if (flat_u8(file, table, TFLITE_operator_builtin_options_type, 0) !=
          STRIDED_OPTIONS ||
      !options)
    return false;
  return !flat_i32(file, options, ELLIPSIS_MASK, 0) &&
         !flat_i32(file, options, NEW_AXIS_MASK, 0) &&
         !flat_i32(file, options, SHRINK_AXIS_MASK, 0) &&
         !flat_u8(file, options, END_IS_OFFSET, 0);
}

/* One with strides of 1 that changes no ranks is a slice. */
static bool read_strided(part *out, const tflite_reader *r, const graph_op *op,
                         const graph_tensor *x, flat_table table) {
  const flat_table options =
      flat_table_of(&r->file, table, TFLITE_OPTIONS_SLOT);
  int64_t end[MOST], stride[MOST];
  if (!is_plain(r, table, options) ||
      !read_numbers(out->begin, x->rank, r, op, 1) ||
      !read_numbers(end, x->rank, r, op, 2) ||
      !read_numbers(stride, x->rank, r, op, 3))
    return false;
  const int32_t first = flat_i32(&r->file, options, BEGIN_MASK, 0);
  const int32_t last = flat_i32(&r->file, options, END_MASK, 0);
  for (uint32_t i = 0; i < x->rank; i++) {
    const int64_t size = x->dimensions[i];
    if (stride[i] != 1) return false;
    out->begin[i] = first >> i & 1 ? 0 : clamp(out->begin[i], size);
    out->size[i] = (last >> i & 1 ? size : clamp(end[i], size)) - out->begin[i];
  }
  return true;
}

static void say_part(tflite_attributes *out, const tflite_reader *r,
                     const graph *g, const graph_op *op, flat_table table,
                     bool strided) {
  const graph_tensor *x = operand_of(g, op->inputs, op->input_count);
  const graph_tensor *y = operand_of(g, op->outputs, op->output_count);
  part p;
  if (!x || !y || x->rank == 0 || x->rank > MOST || x->rank != y->rank) return;
  if (strided ? !read_strided(&p, r, op, x, table) : !read_slice(&p, r, op, x))
    return;
  if (!fits(&p, x, y)) return;
  say(out, "begin", p.begin, x->rank);
  say(out, "size", p.size, x->rank);
}

/* ---- Pads ---------------------------------------------------------------- */

static void say_padding(tflite_attributes *out, const tflite_reader *r,
                        const graph *g, const graph_op *op) {
  const graph_tensor *x = operand_of(g, op->inputs, op->input_count);
  const graph_tensor *y = operand_of(g, op->outputs, op->output_count);
  int64_t pairs[2 * MOST], before[MOST], after[MOST];
  if (!x || !y || x->rank == 0 || x->rank > MOST || x->rank != y->rank ||
      !read_numbers(pairs, 2 * x->rank, r, op, 1))
    return;
  for (uint32_t i = 0; i < x->rank; i++) {
    before[i] = pairs[2 * i];
    after[i] = pairs[2 * i + 1];
    const int64_t room = y->dimensions[i] - x->dimensions[i];
    if (before[i] < 0 || before[i] > room || after[i] != room - before[i])
      return;
  }
  say(out, "before", before, x->rank);
  say(out, "after", after, x->rank);
}

/* ---- Which of them ------------------------------------------------------- */

static void say_axis(tflite_attributes *out, const tflite_reader *r,
                     const graph_op *op, uint32_t operand) {
  int64_t axis;
  if (read_numbers(&axis, 1, r, op, operand)) say(out, "axis", &axis, 1);
}

void tflite_read_operands(tflite_attributes *out, const tflite_reader *r,
                          const graph *g, const graph_op *op, flat_table table,
                          int32_t builtin) {
  switch (builtin) {
    case SPLIT: say_axis(out, r, op, 0); return;
    case SPLIT_V: say_axis(out, r, op, 2); return;
    case SLICE: say_part(out, r, g, op, table, false); return;
    case STRIDED_SLICE: say_part(out, r, g, op, table, true); return;
    case PAD:
    case PADV2: say_padding(out, r, g, op); return;
    default: return;
  }
}
