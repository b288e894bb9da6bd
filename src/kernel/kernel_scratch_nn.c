/*
 * CMSIS-NN computes a buffer's size in a function beside each kernel, which the
 * kernel's preparation calls; so the size follows the same dispatch as the
 * kernel.  C and DSP differ only where the DSP kernels widen their input.
 */
#include "kernel/kernel_scratch_nn.h"

#include "base/number.h"
#include "kernel/kernel_pick.h"

bool scratch_ask_unknown(scratch_request *r, const graph *g,
                         const graph_op *op) {
  (void)r;
  (void)g;
  (void)op;
  return false;
}

/* A buffer of no bytes is not asked for. */
static bool ask_bytes(scratch_request *r, int64_t bytes) {
  if (bytes < 0 || r->count == SCRATCH_MOST) return false;
  if (bytes > 0) r->bytes[r->count++] = (uint64_t)bytes;
  return true;
}

static bool subject_of(kernel_subject *s, const graph *g, const graph_op *op) {
  return kernel_subject_of(s, g, (op_id)(op - g->ops.data), 0);
}

static element_type type_at(const kernel_subject *s, uint32_t slot) {
  if (slot >= s->op->input_count || s->op->inputs[slot] == CALM_NONE)
    return ELEMENT_ABSTRACT;
  return s->g->tensors.data[s->op->inputs[slot]].type;
}

/* Of four bits: other kernels, which nobody has read. */
static bool has_half_bytes(const kernel_subject *s) {
  return type_at(s, 1) == ELEMENT_i4;
}

static int64_t round_up(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

static int64_t taps_of(const graph_window *w) {
  return w->rows.taps * w->columns.taps;
}

/* ---- Convolutions -------------------------------------------------------- */

/* Copies of windows, in 16 bits for two pixels or in 8 bits for four. */
static int64_t generic_bytes(const graph_window *w, bool mve) {
  const int64_t window = taps_of(w) * w->in_channels;
  return mve ? 4 * round_up(window, 16) : 4 * round_up(window, 4);
}

/* The padded ends of a line, one after the other in the same buffer. */
static int64_t line_bytes(const graph_window *w) {
  kernel_line line;
  if (!kernel_line_of(&line, &w->columns)) return generic_bytes(w, true);
  const int64_t behind = line.uneven ? line.right : w->columns.before;
  const int64_t left = w->columns.taps + w->columns.before;
  const int64_t right = w->columns.taps - 1 + behind;
  return (left > right ? left : right) * w->in_channels;
}

static int64_t conv_bytes(const graph_window *w, bool mve) {
  if (w->groups == 1 && kernel_is_point(w)) return 0;
  if (mve && w->groups == 1 && kernel_is_line(w)) return line_bytes(w);
  return generic_bytes(w, mve);
}

static bool ask_conv(scratch_request *r, const graph *g, const graph_op *op,
                     bool mve) {
  kernel_subject s;
  if (!subject_of(&s, g, op)) return false;
  if (s.x->type != ELEMENT_i8 && s.x->type != ELEMENT_i16) return true;
  if (!s.pictures || has_half_bytes(&s)) return false;
  if (s.x->type == ELEMENT_i8) return ask_bytes(r, conv_bytes(&s.window, mve));
  const int64_t window = taps_of(&s.window) * s.window.in_channels;
  return ask_bytes(r, mve ? 8 * round_up(window, 8) : 4 * window);
}

static bool ask_conv_c(scratch_request *r, const graph *g, const graph_op *op) {
  return ask_conv(r, g, op, false);
}

static bool ask_conv_mve(scratch_request *r, const graph *g,
                         const graph_op *op) {
  return ask_conv(r, g, op, true);
}

/* ---- Depthwise convolutions ---------------------------------------------- */

static bool is_optimised(const graph_window *w) {
  return w->multiplier == 1 && w->batches == 1 && w->rows.dilation == 1 &&
         w->columns.dilation == 1;
}

static int64_t depthwise_dsp_bytes(const graph_window *w) {
  const bool small = w->rows.taps == 3 && w->columns.taps == 3 &&
                     w->rows.before <= 1 && w->columns.before <= 1;
  return is_optimised(w) && !small ? 2 * taps_of(w) * w->in_channels : 0;
}

/* Blocks of four pixels, full ones whatever the channels are; or what a
   convolution takes, and its filter in another order. */
static int64_t depthwise_mve_bytes(const graph_window *w) {
  graph_window conv = *w;
  conv.groups = 1;
  if (kernel_becomes_conv(w, OP_depthwise_conv2d))
    return conv_bytes(&conv, true) + taps_of(w) * w->out_channels;
  return is_optimised(w) ? 4 * MVE_BLOCK * taps_of(w) : 0;
}

static bool ask_depthwise(scratch_request *r, const graph *g,
                          const graph_op *op,
                          int64_t (*bytes)(const graph_window *w)) {
  kernel_subject s;
  if (!subject_of(&s, g, op)) return false;
  if (s.x->type != ELEMENT_i8) return true;
  if (!s.pictures || has_half_bytes(&s)) return false;
  return !bytes || ask_bytes(r, bytes(&s.window));
}

static bool ask_depthwise_c(scratch_request *r, const graph *g,
                            const graph_op *op) {
  return ask_depthwise(r, g, op, NULL);
}

static bool ask_depthwise_dsp(scratch_request *r, const graph *g,
                              const graph_op *op) {
  return ask_depthwise(r, g, op, depthwise_dsp_bytes);
}

static bool ask_depthwise_mve(scratch_request *r, const graph *g,
                              const graph_op *op) {
  return ask_depthwise(r, g, op, depthwise_mve_bytes);
}

/* ---- Others -------------------------------------------------------------- */

enum { SUM_BYTES = 4 };

static int64_t last_dimension(const graph_tensor *t) {
  return t->rank > 0 ? t->dimensions[t->rank - 1] : 1;
}

/* Run as a 1x1 convolution: multiplier and shift of each output if the weights
   have one scale; else MVE sums up each row of the weights. */
static bool ask_dense(scratch_request *r, const graph *g, const graph_op *op,
                      bool mve) {
  kernel_subject s;
  if (!subject_of(&s, g, op)) return false;
  if (s.x->type != ELEMENT_i8) return true;
  if (has_half_bytes(&s)) return false;
  const int64_t outputs = last_dimension(s.y);
  if (!kernel_dense_is_point(&s))
    return ask_bytes(r, mve ? SUM_BYTES * outputs : 0);
  const uint32_t scales = g->tensors.data[op->inputs[1]].scale_count;
  return ask_bytes(r, scales > 1 ? 0 : 2 * SUM_BYTES * outputs);
}

static bool ask_dense_c(scratch_request *r, const graph *g,
                        const graph_op *op) {
  return ask_dense(r, g, op, false);
}

static bool ask_dense_mve(scratch_request *r, const graph *g,
                          const graph_op *op) {
  return ask_dense(r, g, op, true);
}

/* A sum for each channel. */
static bool ask_average_dsp(scratch_request *r, const graph *g,
                            const graph_op *op) {
  kernel_subject s;
  if (!subject_of(&s, g, op)) return false;
  if (s.x->type != ELEMENT_i8 && s.x->type != ELEMENT_i16) return true;
  return ask_bytes(r, SUM_BYTES * last_dimension(s.x));
}

/* The exponentials of a row. */
static bool ask_softmax_esp(scratch_request *r, const graph *g,
                            const graph_op *op) {
  kernel_subject s;
  if (!subject_of(&s, g, op)) return false;
  if (s.x->type != ELEMENT_i8) return true;
  return ask_bytes(r, SUM_BYTES * last_dimension(s.x));
}

/* ---- Libraries ----------------------------------------------------------- */

#define NOT_READ                                                      \
  {OP_transpose_conv, NULL, scratch_ask_unknown},                     \
      {OP_unidirectional_sequence_lstm, NULL, scratch_ask_unknown}, { \
    OP_batch_matmul, NULL, scratch_ask_unknown                        \
  }

static const scratch_row cmsis_c[] = {
    {OP_conv2d, NULL, ask_conv_c},
    {OP_depthwise_conv2d, NULL, ask_depthwise_c},
    {OP_fully_connected, NULL, ask_dense_c},
    NOT_READ,
};

static const scratch_row cmsis_dsp[] = {
    {OP_conv2d, NULL, ask_conv_c},
    {OP_depthwise_conv2d, NULL, ask_depthwise_dsp},
    {OP_fully_connected, NULL, ask_dense_c},
    {OP_average_pool2d, NULL, ask_average_dsp},
    NOT_READ,
};

static const scratch_row cmsis_mve[] = {
    {OP_conv2d, NULL, ask_conv_mve},
    {OP_depthwise_conv2d, NULL, ask_depthwise_mve},
    {OP_fully_connected, NULL, ask_dense_mve},
    NOT_READ,
};

static const scratch_row esp_ansi[] = {{OP_softmax, NULL, ask_softmax_esp}};

#define ROWS(rows) (*count = sizeof(rows) / sizeof *(rows), (rows))

const scratch_row *scratch_rows_of(kernel_library library, size_t *count) {
  *count = 0;
  switch (library) {
    case KERNELS_CMSIS_NN_C: return ROWS(cmsis_c);
    case KERNELS_CMSIS_NN_DSP: return ROWS(cmsis_dsp);
    case KERNELS_CMSIS_NN_MVE: return ROWS(cmsis_mve);
    case KERNELS_ESP_NN_ANSI: return ROWS(esp_ansi);
    default: return NULL;
  }
}
