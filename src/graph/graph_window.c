/*
 * Windows from the attributes of operators.  A file says the padding in one of
 * three ways: by a word that the sizes give a meaning (pad=same, valid), or by
 * numbers (pads, in front along all axes, then behind).  The output's size is
 * no matter of choice then, and operands that have another one are not
 * understood here.
 */
#include "graph/graph_window.h"

#include <string.h>

#include "base/number.h"
#include "graph/graph_edit.h"

/* Numbers up to here have products and sums that fit. */
#define MOST (INT64_C(1) << 30)

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- Attributes ---------------------------------------------------------- */

static bool parse_signed(int64_t *out, const char *text, size_t length) {
  const bool negative = length > 0 && *text == '-';
  uint64_t value;
  if (!number_parse(&value, text + negative, length - negative) ||
      value > NUMBER_MAX_BYTES)
    return false;
  *out = negative ? -(int64_t)value : (int64_t)value;
  return true;
}

uint32_t graph_op_numbers(int64_t *out, const graph_op *op, const char *key) {
  const char *text = graph_op_attribute(op, key);
  for (uint32_t count = 0; text && count < GRAPH_MAX_RANK;) {
    const size_t length = strcspn(text, ",");
    if (!parse_signed(&out[count], text, length)) return 0;
    count++;
    if (!text[length]) return count;
    text += length + 1;
  }
  return 0;
}

/* One number per axis, rows first; `absent` if there is no such attribute. */
static bool read_pair(int64_t *rows, int64_t *columns, const graph_op *op,
                      const char *key, int64_t absent) {
  int64_t numbers[GRAPH_MAX_RANK] = {absent, absent};
  if (graph_op_attribute(op, key) && graph_op_numbers(numbers, op, key) != 2)
    return false;
  *rows = numbers[0];
  *columns = numbers[1];
  return *rows > 0 && *rows <= MOST && *columns > 0 && *columns <= MOST;
}

/* ---- Axes ---------------------------------------------------------------- */

int64_t window_span(const window_axis *axis) {
  return (axis->taps - 1) * axis->dilation + 1;
}

int64_t window_after(const window_axis *axis) {
  const int64_t end =
      (axis->output - 1) * axis->stride - axis->before + window_span(axis);
  return larger(0, end - axis->input);
}

/* A window that lies in the padding alone needs nothing: an empty range at the
   border that it lies beyond. */
void window_needs(int64_t *begin, int64_t *end, const window_axis *axis,
                  int64_t u, int64_t v) {
  const int64_t first = u * axis->stride - axis->before;
  const int64_t last = (v - 1) * axis->stride - axis->before;
  *begin = smaller(larger(0, first), axis->input);
  *end = larger(smaller(axis->input, last + window_span(axis)), *begin);
}

static int64_t padding_of_same(int64_t input, int64_t taps, int64_t stride,
                               int64_t dilation) {
  const int64_t output = (input + stride - 1) / stride;
  return larger(0, (output - 1) * stride + (taps - 1) * dilation + 1 - input);
}

int64_t window_same_before(int64_t input, int64_t taps, int64_t stride,
                           int64_t dilation) {
  return padding_of_same(input, taps, stride, dilation) / 2;
}

/* How the padding is said, and what `pads` says: rows and columns in front,
   rows and columns behind. */
typedef struct padding {
  enum { PAD_SAME, PAD_SAME_LOWER, PAD_GIVEN } rule;
  int64_t before[2], after[2];
  bool ceil; /* of a pooling: a window more that lies partly beyond */
} padding;

static bool read_pads(padding *out, const graph_op *op) {
  int64_t pads[GRAPH_MAX_RANK] = {0};
  if (graph_op_attribute(op, "pads") && graph_op_numbers(pads, op, "pads") != 4)
    return false;
  for (int i = 0; i < 4; i++)
    if (pads[i] < 0 || pads[i] > MOST) return false;
  memcpy(out->before, pads, sizeof out->before);
  memcpy(out->after, pads + 2, sizeof out->after);
  return true;
}

static bool read_padding(padding *out, const graph *g, const graph_op *op) {
  const char *word = graph_op_attribute(op, "pad");
  const char *ceil = graph_op_attribute(op, "ceil");
  *out = (padding){.rule = PAD_GIVEN, .ceil = ceil && strcmp(ceil, "0") != 0};
  if (!word) {
    const bool given = graph_op_attribute(op, "pads") != NULL;
    return (given || g->channels_first) && read_pads(out, op);
  }
  if (!strcmp(word, "valid")) return true;
  out->rule = strcmp(word, "same_lower") ? PAD_SAME : PAD_SAME_LOWER;
  return !strncmp(word, "same", strlen("same"));
}

/* Is the axis's output as large as the padding makes it? */
static bool settle_axis(window_axis *axis, const padding *p, int i) {
  const int64_t rest = axis->stride - 1;
  if (p->rule != PAD_GIVEN) {
    const int64_t all =
        padding_of_same(axis->input, axis->taps, axis->stride, axis->dilation);
    axis->before = p->rule == PAD_SAME ? all / 2 : all - all / 2;
    return axis->output == (axis->input + rest) / axis->stride;
  }
  axis->before = p->before[i];
  const int64_t room =
      axis->input + p->before[i] + p->after[i] - window_span(axis);
  if (room < 0) return false;
  return axis->output == room / axis->stride + 1 ||
         (p->ceil && axis->output == (room + rest) / axis->stride + 1);
}

/* ---- Operators ----------------------------------------------------------- */

static const graph_tensor *picture_of(const graph *g, const tensor_id *operands,
                                      uint32_t count, uint32_t slot) {
  if (slot >= count || operands[slot] == CALM_NONE) return NULL;
  const graph_tensor *t = &g->tensors.data[operands[slot]];
  if (t->type == ELEMENT_ABSTRACT || t->rank != 4) return NULL;
  for (uint32_t i = 0; i < 4; i++)
    if (t->dimensions[i] < 1 || t->dimensions[i] > MOST) return NULL;
  return t;
}

static bool is_pooling(op_kind kind) {
  return kind == OP_average_pool2d || kind == OP_max_pool2d;
}

/* Taps of the filter, and how its channels divide those of the pictures. */
static bool read_filter(graph_window *w, const graph *g, const graph_op *op) {
  const graph_tensor *filter = picture_of(g, op->inputs, op->input_count, 1);
  if (!filter) return false;
  const int64_t *at = filter->dimensions + (g->channels_first ? 2 : 1);
  w->rows.taps = at[0];
  w->columns.taps = at[1];
  w->multiplier = 1;
  if (op->kind == OP_depthwise_conv2d) {
    w->groups = w->in_channels;
    w->multiplier = w->out_channels / w->in_channels;
    return w->out_channels % w->in_channels == 0 &&
           filter->dimensions[g->channels_first ? 0 : 3] == w->out_channels;
  }
  const int64_t depth = filter->dimensions[g->channels_first ? 1 : 3];
  w->groups = w->in_channels / depth;
  return w->in_channels % depth == 0 && w->out_channels % w->groups == 0 &&
         filter->dimensions[0] == w->out_channels;
}

static bool read_pool(graph_window *w, const graph_op *op) {
  w->groups = w->in_channels;
  w->multiplier = 1;
  return graph_op_attribute(op, "filter") &&
         read_pair(&w->rows.taps, &w->columns.taps, op, "filter", 0) &&
         w->in_channels == w->out_channels;
}

static void read_sizes(graph_window *w, const graph *g, const graph_tensor *x,
                       const graph_tensor *y) {
  const uint32_t axis = g->channels_first ? 2 : 1;
  const uint32_t channel = g->channels_first ? 1 : 3;
  w->batches = x->dimensions[0];
  w->in_channels = x->dimensions[channel];
  w->out_channels = y->dimensions[channel];
  w->rows.input = x->dimensions[axis];
  w->rows.output = y->dimensions[axis];
  w->columns.input = x->dimensions[axis + 1];
  w->columns.output = y->dimensions[axis + 1];
}

bool graph_window_of(graph_window *out, const graph *g, op_id id) {
  const graph_op *op = &g->ops.data[id];
  if (op->kind != OP_conv2d && op->kind != OP_depthwise_conv2d &&
      !is_pooling(op->kind))
    return false;
  const graph_tensor *x = picture_of(g, op->inputs, op->input_count, 0);
  const graph_tensor *y = picture_of(g, op->outputs, op->output_count, 0);
  if (!x || !y || x->dimensions[0] != y->dimensions[0]) return false;

  graph_window w = {0};
  padding p;
  read_sizes(&w, g, x, y);
  if (!(is_pooling(op->kind) ? read_pool(&w, op) : read_filter(&w, g, op)) ||
      !read_pair(&w.rows.stride, &w.columns.stride, op, "stride", 1) ||
      !read_pair(&w.rows.dilation, &w.columns.dilation, op, "dilation", 1) ||
      !read_padding(&p, g, op) || !settle_axis(&w.rows, &p, 0) ||
      !settle_axis(&w.columns, &p, 1))
    return false;
  *out = w;
  return true;
}

/* ---- Multiply-accumulates ------------------------------------------------ */

/* Where the weights are; CALM_NONE: it does not multiply by weights. */
static uint32_t weights_slot(op_kind kind) {
  switch (kind) {
    case OP_conv1d:
    case OP_conv2d:
    case OP_conv3d:
    case OP_depthwise_conv2d:
    case OP_fused_conv:
    case OP_conv_integer:
    case OP_fully_connected:
    case OP_gemm: return 1;
    case OP_qlinear_conv: return 3;
    default: return CALM_NONE;
  }
}

static bool count_elements(uint64_t *out, const graph_tensor *t) {
  *out = 1;
  if (t->type == ELEMENT_ABSTRACT) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!number_multiply(out, *out, (uint64_t)t->dimensions[i])) return false;
  return true;
}

/* An element of the output takes as many as there are weights for its
   channel. */
uint64_t graph_op_macs(const graph *g, op_id id) {
  const graph_op *op = &g->ops.data[id];
  const uint32_t slot = weights_slot(op->kind);
  if (slot >= op->input_count || op->inputs[slot] == CALM_NONE ||
      op->output_count == 0 || op->outputs[0] == CALM_NONE)
    return 0;
  const graph_tensor *w = &g->tensors.data[op->inputs[slot]];
  const graph_tensor *y = &g->tensors.data[op->outputs[0]];
  const bool dense = op->kind == OP_fully_connected || op->kind == OP_gemm;
  uint64_t weights, outputs, macs;
  if (!count_elements(&weights, w) || !count_elements(&outputs, y) ||
      y->rank < 2)
    return 0;
  const uint32_t channel = g->channels_first && !dense ? 1 : y->rank - 1;
  const uint64_t channels = (uint64_t)y->dimensions[channel];
  if (channels == 0) return 0;
  return number_multiply(&macs, outputs, weights / channels) ? macs
                                                             : UINT64_MAX;
}

uint64_t graph_macs(const graph *g) {
  uint64_t sum = 0;
  for (op_id op = 0; op < g->ops.count; op++) {
    const uint64_t macs = graph_op_macs(g, op);
    if (macs == UINT64_MAX || !number_add(&sum, sum, macs)) return UINT64_MAX;
  }
  return sum;
}
