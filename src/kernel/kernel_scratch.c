/*
 * What the reference kernels of TensorFlow Lite Micro ask for.  The sizes were
 * read off the kernels' own preparation and agree with what the runtime
 * reports.  Another library has rows for the kinds that it has kernels for
 * (kernel_scratch_nn.h); all else runs the reference kernels there, too.
 */
#include "kernel/kernel_scratch_nn.h"

#include <string.h>

#include "base/number.h"

static const graph_tensor *input_of(const graph *g, const graph_op *op,
                                    uint32_t slot) {
  if (slot >= op->input_count || op->inputs[slot] == CALM_NONE) return NULL;
  return &g->tensors.data[op->inputs[slot]];
}

static const graph_tensor *output_of(const graph *g, const graph_op *op) {
  if (op->output_count == 0 || op->outputs[0] == CALM_NONE) return NULL;
  return &g->tensors.data[op->outputs[0]];
}

static bool typed(const graph_tensor *t) {
  return t && t->type != ELEMENT_ABSTRACT;
}

/* The product of the dimensions from `from` on; a scalar has one element. */
static uint64_t elements(const graph_tensor *t) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!number_multiply(&count, count, (uint64_t)t->dimensions[i]))
      return UINT64_MAX;
  return count;
}

/* Ask for `count` elements of `bytes` each; false if that is absurd. */
static bool ask(scratch_request *r, uint64_t count, uint64_t bytes) {
  if (r->count == SCRATCH_MOST || count > NUMBER_MAX_BYTES ||
      !number_multiply(&r->bytes[r->count], count, bytes))
    return false;
  r->count++;
  return true;
}

enum { POINTER_BYTES = 8, INT_BYTES = 4, ACCUMULATOR_BYTES = 4 };

/* One sum per batch and filter; the integer kernel also one per output. */
static bool ask_svdf(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *in = input_of(g, op, 0), *filter = input_of(g, op, 1);
  const graph_tensor *out = output_of(g, op);
  uint64_t sums;
  if (!typed(in) || !typed(filter) || !typed(out) || in->rank != 2 ||
      filter->rank != 2 ||
      !number_multiply(&sums, (uint64_t)in->dimensions[0],
                       (uint64_t)filter->dimensions[0]))
    return false;
  if (!ask(r, sums, ACCUMULATOR_BYTES)) return false;
  return in->type != ELEMENT_i8 || ask(r, elements(out), ACCUMULATOR_BYTES);
}

enum { LSTM_CELL_STATE = 19, LSTM_GATES = 4 };

static bool ask_lstm(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *state = input_of(g, op, LSTM_CELL_STATE);
  if (!state) return false;
  for (int gate = 0; gate < LSTM_GATES; gate++)
    if (!ask(r, state->bytes, 1)) return false;
  return true;
}

enum { TRANSPOSE_CONV_INPUT = 2, TRANSPOSE_CONV_BIAS = 3 };

/* An accumulator per output, and a bias in the accumulator's width. */
static bool ask_transpose_conv(scratch_request *r, const graph *g,
                               const graph_op *op) {
  const graph_tensor *in = input_of(g, op, TRANSPOSE_CONV_INPUT);
  const graph_tensor *bias = input_of(g, op, TRANSPOSE_CONV_BIAS);
  const graph_tensor *out = output_of(g, op);
  if (!typed(in) || !typed(out)) return false;
  if (in->type == ELEMENT_i8) return ask(r, elements(out), ACCUMULATOR_BYTES);
  if (in->type != ELEMENT_i16) return true;
  return ask(r, elements(out), 2 * ACCUMULATOR_BYTES) &&
         (!bias || bias->type != ELEMENT_i16 ||
          ask(r, elements(bias), 2 * ACCUMULATOR_BYTES));
}

/* A table of the operands' addresses, as wide as the machine's. */
static bool ask_add_n(scratch_request *r, const graph *g, const graph_op *op) {
  (void)g;
  return ask(r, op->input_count, POINTER_BYTES);
}

/* An index per dimension, and the axes. */
static bool ask_reduce(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *in = input_of(g, op, 0), *axis = input_of(g, op, 1);
  return typed(in) && typed(axis) && ask(r, in->rank, INT_BYTES) &&
         ask(r, elements(axis), INT_BYTES);
}

/* The integer kernels sum up beside the output. */
static bool ask_mean(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *in = input_of(g, op, 0), *out = output_of(g, op);
  if (!typed(in) || !typed(out)) return false;
  if ((in->type == ELEMENT_i8 || in->type == ELEMENT_i16) &&
      !ask(r, elements(out), ACCUMULATOR_BYTES))
    return false;
  return ask_reduce(r, g, op);
}

static bool ask_mirror_pad(scratch_request *r, const graph *g,
                           const graph_op *op) {
  const graph_tensor *in = input_of(g, op, 0);
  return typed(in) && ask(r, in->rank, INT_BYTES) &&
         ask(r, in->rank, INT_BYTES);
}

/* Filters of half bytes are unpacked. */
static bool ask_filter(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *filter = input_of(g, op, 1);
  return !typed(filter) || filter->type != ELEMENT_i4 ||
         ask(r, elements(filter), 1);
}

/* The transform works in place on a copy of its padded input; the output has
   half of the values and one more, each of two parts. */
static bool ask_rfft(scratch_request *r, const graph *g, const graph_op *op) {
  const graph_tensor *out = output_of(g, op);
  if (!typed(out) || out->rank == 0 || out->dimensions[out->rank - 1] < 2)
    return false;
  return ask(r, (uint64_t)out->dimensions[out->rank - 1] - 2,
             element_type_bits(out->type) / 8);
}

static const scratch_row reference_scratch[] = {
    {OP_svdf, NULL, ask_svdf},
    {OP_unidirectional_sequence_lstm, NULL, ask_lstm},
    {OP_transpose_conv, NULL, ask_transpose_conv},
    {OP_add_n, NULL, ask_add_n},
    {OP_mean, NULL, ask_mean},
    {OP_sum, NULL, ask_mean},
    {OP_reduce_max, NULL, ask_reduce},
    {OP_reduce_min, NULL, ask_reduce},
    {OP_reduce_all, NULL, ask_reduce},
    {OP_mirror_pad, NULL, ask_mirror_pad},
    {OP_conv2d, NULL, ask_filter},
    {OP_depthwise_conv2d, NULL, ask_filter},
    {OP_fully_connected, NULL, ask_filter},
    {OP_OPAQUE, "SignalRfft", ask_rfft},
    /* It depends on options that calm does not read. */
    {OP_OPAQUE, "TFLite_Detection_PostProcess", scratch_ask_unknown},
};

/* ---- Libraries ----------------------------------------------------------- */

static scratch_function *find_row(const scratch_row *rows, size_t count,
                                  const graph_op *op) {
  for (size_t i = 0; i < count; i++)
    if (rows[i].kind == op->kind &&
        (!rows[i].custom || !strcmp(rows[i].custom, op->kind_name)))
      return rows[i].ask;
  return NULL;
}

static scratch_function *find_in(kernel_library library, const graph_op *op) {
  size_t count;
  const scratch_row *rows = scratch_rows_of(library, &count);
  scratch_function *ask = find_row(rows, count, op);
  return ask ? ask
             : find_row(reference_scratch,
                        sizeof reference_scratch / sizeof *reference_scratch,
                        op);
}

/* The largest of all libraries, buffer by buffer, so that the plan holds
   whichever of them runs. */
static bool ask_portable(scratch_request *r, const graph *g,
                         const graph_op *op) {
  for (int i = 0; i < KERNEL_LIBRARIES; i++) {
    scratch_request one = {.count = 0};
    scratch_function *ask = find_in((kernel_library)i, op);
    if (ask && !ask(&one, g, op)) return false;
    for (uint32_t k = 0; k < one.count; k++) {
      if (k == r->count) r->bytes[r->count++] = 0;
      r->bytes[k] = number_larger(r->bytes[k], one.bytes[k]);
    }
  }
  return true;
}

scratch_function *scratch_find(kernel_library library, const graph_op *op) {
  return library == KERNELS_PORTABLE ? ask_portable : find_in(library, op);
}
