#include <inttypes.h>
#include <stdio.h>

#include "model/tflite_parts.h"

/*
 * Convolutions and pools say in two ways how large their output is: by its
 * stored shape and by stride, padding and dilation.  The stored shape decides,
 * because runtimes allocate by it; where the two differ the user should know.
 *
 *     same:  out = ceil(in / stride)
 *     valid: out = floor((in - ((filter - 1) * dilation + 1)) / stride) + 1
 */
typedef struct window_row {
  int32_t builtin;
  uint8_t type, pad, stride[2]; /* slots; [0] is for height, [1] for width */
  uint8_t filter[2], dilation[2];
  bool filter_in_options; /* else input 1 has it, as [_, height, width, _] */
} window_row;

static const window_row rows[] = {
    {3, 1, 0, {2, 1}, {0, 0}, {5, 4}, false},  /* CONV_2D */
    {4, 2, 0, {2, 1}, {0, 0}, {6, 5}, false},  /* DEPTHWISE_CONV_2D */
    {1, 5, 0, {2, 1}, {4, 3}, {0, 0}, true},   /* AVERAGE_POOL_2D */
    {12, 5, 0, {2, 1}, {4, 3}, {0, 0}, true},  /* L2_POOL_2D */
    {17, 5, 0, {2, 1}, {4, 3}, {0, 0}, true}}; /* MAX_POOL_2D */

static const window_row *find_row(int32_t builtin) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].builtin == builtin) return &rows[i];
  return NULL;
}

/* Operand `i` if it is there and has four dimensions. */
static const graph_tensor *image(const graph *g, const tensor_id *operands,
                                 uint32_t count, uint32_t i) {
  if (i >= count || operands[i] == CALM_NONE) return NULL;
  const graph_tensor *tensor = &g->tensors.data[operands[i]];
  return tensor->rank == 4 ? tensor : NULL;
}

typedef struct window {
  int64_t in, filter, stride, dilation;
  bool valid;
} window;

/* -1: the formula does not apply. */
static int64_t output_size(const window *w) {
  if (w->stride <= 0 || w->dilation <= 0 || w->filter <= 0) return -1;
  if (!w->valid) return (w->in + w->stride - 1) / w->stride;
  int64_t reach = (w->filter - 1) * w->dilation + 1;
  return w->in < reach ? -1 : (w->in - reach) / w->stride + 1;
}

static void notice(tflite_reader *r, const char *output, const char *op,
                   const char *axis, int64_t stored, int64_t computed) {
  if (r->conflicting.count++) return;
  r->conflicting.name = output;
  snprintf(r->conflicting.detail, sizeof r->conflicting.detail,
           "is stored with %s %" PRId64 ", but operator '%.60s' makes %" PRId64
           "; the stored shape is what counts",
           axis, stored, op, computed);
}

void tflite_compare_shapes(tflite_reader *r, const graph *g, const graph_op *op,
                           flat_table table, int32_t builtin) {
  static const char *const axes[] = {"height", "width"};
  const window_row *row = find_row(builtin);
  const graph_tensor *in = image(g, op->inputs, op->input_count, 0);
  const graph_tensor *out = image(g, op->outputs, op->output_count, 0);
  const graph_tensor *filter = image(g, op->inputs, op->input_count, 1);
  if (!row || !in || !out || (!row->filter_in_options && !filter)) return;
  if (flat_u8(&r->file, table, TFLITE_operator_builtin_options_type, 0) !=
      row->type)
    return;
  const flat_file *file = &r->file;
  flat_table options = flat_table_of(file, table, TFLITE_OPTIONS_SLOT);
  for (unsigned i = 0; i < 2; i++) {
    window w = {.in = in->dimensions[1 + i], .dilation = 1};
    w.valid = flat_u8(file, options, row->pad, 0) != 0;
    w.stride = flat_i32(file, options, row->stride[i], 0);
    if (row->filter_in_options) {
      w.filter = flat_i32(file, options, row->filter[i], 0);
    } else {
      w.filter = filter->dimensions[1 + i];
      w.dilation = flat_i32(file, options, row->dilation[i], 1);
    }
    int64_t computed = output_size(&w), stored = out->dimensions[1 + i];
    if (computed >= 0 && computed != stored)
      notice(r, out->name, op->name, axes[i], stored, computed);
  }
}
