/*
 * The accesses of an operator in the order in which its kernel makes them, from
 * the kernel's loops.  What a copying kernel (slice, concat, pad, another
 * shape) reads it writes at once: a write after a read of as many bytes holds
 * these, one without a read before it is filling.  Operands beside the one that
 * is worked through are read once more when everything is written.
 */
#include "kernel/kernel_run_parts.h"

#include <string.h>

static const graph_tensor *input_at(const run_trace *t, uint32_t slot) {
  if (slot >= t->op->input_count || t->op->inputs[slot] == CALM_NONE)
    return NULL;
  return &t->g->tensors.data[t->op->inputs[slot]];
}

static const graph_tensor *output_at(const run_trace *t, uint32_t slot) {
  if (slot >= t->op->output_count || t->op->outputs[slot] == CALM_NONE)
    return NULL;
  return &t->g->tensors.data[t->op->outputs[slot]];
}

static uint64_t width_of(const graph_tensor *t) {
  return t->type == ELEMENT_ABSTRACT ? 0 : element_type_bits(t->type) / 8;
}

static void read_whole(const run_trace *t, uint32_t from) {
  for (uint32_t i = from; i < t->op->input_count; i++) {
    const graph_tensor *x = input_at(t, i);
    if (x && x->bytes) t->watch->read(t->watch->payload, i, 0, x->bytes);
  }
}

/* Nobody knows when: everything is lost that lies where an output does. */
static void run_unknown(const run_trace *t) {
  for (uint32_t i = 0; i < t->op->output_count; i++) {
    const graph_tensor *y = output_at(t, i);
    if (y && y->bytes) t->watch->write(t->watch->payload, i, 0, y->bytes);
  }
  read_whole(t, 0);
}

/* ---- Element by element -------------------------------------------------- */

static void read_bytes(const run_trace *t, uint32_t slot, uint64_t at,
                       uint64_t bytes) {
  if (bytes) t->watch->read(t->watch->payload, slot, at, bytes);
}

static void write_bytes(const run_trace *t, uint64_t at, uint64_t bytes) {
  if (bytes) t->watch->write(t->watch->payload, 0, at, bytes);
}

/* Bytes [at, at + bytes) of all operands that have as many as the output. */
static void read_equals(const run_trace *t, uint64_t all, uint64_t at,
                        uint64_t bytes) {
  for (uint32_t i = 0; i < t->op->input_count; i++) {
    const graph_tensor *x = input_at(t, i);
    if (x && x->bytes == all) read_bytes(t, i, at, bytes);
  }
}

/* All elements behind the first are read after that is written: whoever lies so
   that an element is written over a later one loses this one.  An operand that
   is broadcast is read to the end. */
static void run_equals(const run_trace *t, uint64_t bytes, uint64_t width) {
  read_equals(t, bytes, 0, width);
  write_bytes(t, 0, width);
  read_equals(t, bytes, width, bytes - width);
  for (uint32_t i = 0; i < t->op->input_count && bytes > width; i++) {
    const graph_tensor *x = input_at(t, i);
    if (x && x->bytes != bytes) read_bytes(t, i, 0, x->bytes);
  }
  write_bytes(t, width, bytes - width);
}

static void run_conversion(const run_trace *t, uint64_t in, uint64_t out,
                           uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    read_bytes(t, 0, i * in, in);
    write_bytes(t, i * out, out);
  }
}

static void run_elements(const run_trace *t) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  if (!x || !y || y->bytes == 0) {
    run_unknown(t);
    return;
  }
  const uint64_t in = width_of(x), out = width_of(y);
  if (in == out || in == 0 || out == 0 || t->op->input_count > 1)
    run_equals(t, y->bytes, out ? out : y->bytes);
  else
    run_conversion(t, in, out, y->bytes / out);
}

/* ---- Copies -------------------------------------------------------------- */

static void copy_bytes(const run_trace *t, uint32_t slot, uint64_t from,
                       uint64_t to, uint64_t bytes) {
  read_bytes(t, slot, from, bytes);
  write_bytes(t, to, bytes);
}

/* Rows of the last dimension of the smaller tensor within the larger one: the
   element of the larger one at which row `i` begins. */
static uint64_t row_place(const graph_tensor *small, const graph_tensor *large,
                          const int64_t *begin, uint64_t i) {
  uint64_t place = 0, step = 1;
  for (uint32_t d = small->rank; d-- > 0;) {
    const uint64_t size =
        d + 1 == small->rank ? 1 : (uint64_t)small->dimensions[d];
    place += (i % size + (uint64_t)begin[d]) * step;
    i /= size;
    step *= (uint64_t)large->dimensions[d];
  }
  return place;
}

/* Does the smaller one lie in the larger one? */
static bool lies_within(const graph_tensor *small, const graph_tensor *large,
                        const int64_t *begin) {
  if (small->rank != large->rank || small->rank == 0 || small->bytes == 0)
    return false;
  for (uint32_t d = 0; d < small->rank; d++)
    if (begin[d] < 0 || begin[d] + small->dimensions[d] > large->dimensions[d])
      return false;
  return width_of(small) > 0 && small->type == large->type;
}

static bool read_place(int64_t *begin, const run_trace *t, const char *key,
                       const graph_tensor *small, const graph_tensor *large) {
  return small && large && graph_op_numbers(begin, t->op, key) == small->rank &&
         lies_within(small, large, begin);
}

static uint64_t row_bytes(const graph_tensor *t) {
  return (uint64_t)t->dimensions[t->rank - 1] * width_of(t);
}

/* An element at a time: the first one of a row apart, as above. */
static bool run_slice(const run_trace *t) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  int64_t begin[GRAPH_MAX_RANK];
  if (!read_place(begin, t, "begin", y, x)) return false;
  const uint64_t row = row_bytes(y), width = width_of(y);
  for (uint64_t i = 0; i < y->bytes / row; i++) {
    const uint64_t from = row_place(y, x, begin, i) * width;
    copy_bytes(t, 0, from, i * row, width);
    copy_bytes(t, 0, from + width, i * row + width, row - width);
  }
  return true;
}

/* Filling goes on up to where the next row belongs. */
static bool run_pad(const run_trace *t) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  int64_t before[GRAPH_MAX_RANK];
  if (!read_place(before, t, "before", x, y)) return false;
  const uint64_t row = row_bytes(x), width = width_of(x);
  uint64_t done = 0;
  for (uint64_t i = 0; i < x->bytes / row; i++) {
    const uint64_t to = row_place(x, y, before, i) * width;
    write_bytes(t, done, to - done);
    copy_bytes(t, 0, i * row, to, row);
    done = to + row;
  }
  write_bytes(t, done, y->bytes - done);
  return true;
}

/* The bytes of one operand that lie side by side in the output: all dimensions
   from the axis on. */
static bool operand_run(uint64_t *out, const graph_tensor *x, uint32_t rank,
                        int64_t axis) {
  if (!x || x->rank != rank || width_of(x) == 0) return false;
  *out = width_of(x);
  for (uint32_t d = (uint32_t)axis; d < rank; d++)
    *out *= (uint64_t)x->dimensions[d];
  return true;
}

static bool run_concat(const run_trace *t) {
  const graph_tensor *y = output_at(t, 0);
  int64_t axis[GRAPH_MAX_RANK];
  uint64_t run, all = 0;
  if (!y || graph_op_numbers(axis, t->op, "axis") != 1) return false;
  if (*axis < 0) *axis += y->rank;
  if (*axis < 0 || *axis >= (int64_t)y->rank) return false;
  for (uint32_t i = 0; i < t->op->input_count; i++) {
    if (!operand_run(&run, input_at(t, i), y->rank, *axis)) return false;
    all += run;
  }
  for (uint64_t at = 0, k = 0; all > 0 && at < y->bytes; k++)
    for (uint32_t i = 0; i < t->op->input_count; i++, at += run) {
      operand_run(&run, input_at(t, i), y->rank, *axis);
      copy_bytes(t, i, k * run, at, run);
    }
  return true;
}

static bool run_reshape(const run_trace *t) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  if (!x || !y || x->bytes != y->bytes) return false;
  copy_bytes(t, 0, 0, 0, y->bytes);
  return true;
}

/* ---- Windows and products ------------------------------------------------ */

/* Operands of one width, int8 or float32: for others there are other kernels,
   whose loops nobody has read. */
static bool is_plain(const run_trace *t, bool weights) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  const graph_tensor *w = input_at(t, 1);
  return x && y && x->type == y->type &&
         (x->type == ELEMENT_i8 || x->type == ELEMENT_f32) &&
         (!weights || (w && w->type == x->type)) && !t->g->channels_first;
}

static bool is_cmsis(kernel_library library) {
  return library == KERNELS_CMSIS_NN_C || library == KERNELS_CMSIS_NN_DSP ||
         library == KERNELS_CMSIS_NN_MVE;
}

static bool one_by_one(const graph_window *w) {
  return w->rows.taps * w->columns.taps == 1 &&
         w->rows.before + w->columns.before == 0 &&
         w->rows.dilation * w->columns.dilation == 1;
}

static bool one_by_n(const graph_window *w) {
  return w->rows.input == 1 && w->rows.taps == 1 && w->columns.dilation == 1 &&
         w->columns.stride * w->in_channels % 4 == 0;
}

/* C and DSP copy two windows, MVE four; 1x1 needs no copy. */
static bool run_cmsis_conv(const run_trace *t, bool mve) {
  if (one_by_one(&t->w))
    run_point(t, mve ? run_by_fours : run_by_outputs);
  else if (!mve || !one_by_n(&t->w) || !run_line(t))
    run_gather(t, mve ? 4 : 2, t->w.in_channels);
  return true;
}

static bool run_cmsis_depthwise(const run_trace *t, kernel_library library) {
  enum { MVE_CHANNELS = 124 };
  const graph_window *w = &t->w;
  const bool mve = library == KERNELS_CMSIS_NN_MVE;
  const bool dilated = w->rows.dilation * w->columns.dilation != 1;
  if (mve && w->in_channels == 1 && w->out_channels > 1)
    return run_cmsis_conv(t, true);
  if (w->multiplier == 1 && mve && !dilated)
    run_gather(t, 4, MVE_CHANNELS);
  else if (w->multiplier == 1)
    run_gather(t, 1, w->in_channels);
  else
    run_depthwise(t, w->multiplier % 4 == 0 && !dilated ? 4 : 1);
  return true;
}

/* Would every library compute it as the reference does, or sooner read what it
   reads? */
static bool is_portable(const graph_window *w, op_kind kind) {
  if (kind == OP_conv2d) return !one_by_one(w) && !one_by_n(w);
  if (kind != OP_depthwise_conv2d) return true;
  if (w->in_channels == 1 && w->out_channels > 1)
    return !one_by_one(w) && !one_by_n(w);
  return w->in_channels <= 124 || w->multiplier > 1 ||
         w->rows.dilation * w->columns.dilation != 1;
}

static bool run_window(const run_trace *t, kernel_library library) {
  const op_kind kind = t->op->kind;
  const bool weights = kind == OP_conv2d || kind == OP_depthwise_conv2d;
  if (!is_plain(t, weights) || t->w.batches != 1) return false;
  if (kind == OP_conv2d && t->w.groups != 1) return false;
  if (library == KERNELS_PORTABLE && input_at(t, 0)->type == ELEMENT_i8 &&
      !is_portable(&t->w, kind))
    return false;
  const bool cmsis = is_cmsis(library) && input_at(t, 0)->type == ELEMENT_i8;
  if (kind == OP_conv2d && cmsis)
    return run_cmsis_conv(t, library == KERNELS_CMSIS_NN_MVE);
  if (kind == OP_depthwise_conv2d && cmsis)
    return run_cmsis_depthwise(t, library);
  if (kind == OP_conv2d)
    run_conv(t);
  else if (t->w.multiplier == 1)
    run_gather(t, 1, t->w.in_channels);
  else
    run_depthwise(t, 1);
  return true;
}

/* How many outputs a kernel makes of a row at a time. */
static int64_t dense_group(kernel_library library) {
  switch (library) {
    case KERNELS_CMSIS_NN_C: return 3;
    case KERNELS_CMSIS_NN_DSP: return 2;
    case KERNELS_CMSIS_NN_MVE: return 4;
    default: return 1;
  }
}

static bool run_dense(const run_trace *t, kernel_library library) {
  const graph_tensor *x = input_at(t, 0), *w = input_at(t, 1);
  const graph_tensor *y = output_at(t, 0);
  if (!is_plain(t, true) || w->rank != 2 || w->dimensions[0] < 1 ||
      w->dimensions[1] < 1)
    return false;
  const int64_t out = w->dimensions[0], in = w->dimensions[1];
  const int64_t count = (int64_t)(y->bytes / t->width) / out;
  if ((int64_t)(x->bytes / t->width) != count * in) return false;
  const run_vectors v = {count, in, in, 0, 0, out};
  const bool cmsis = is_cmsis(library) && x->type == ELEMENT_i8;
  if (library == KERNELS_PORTABLE && x->type == ELEMENT_i8 && count > 1)
    return false;
  if (!cmsis || y->rank <= 2 || in % 4 != 0)
    run_by_vectors(t, &v, cmsis ? dense_group(library) : 1);
  else if (library == KERNELS_CMSIS_NN_MVE)
    run_by_fours(t, &v);
  else
    run_by_outputs(t, &v);
  return true;
}

/* The last pass over a row reads what it overwrites. */
static bool run_softmax(const run_trace *t) {
  const graph_tensor *x = input_at(t, 0), *y = output_at(t, 0);
  if (!x || !y || x->bytes != y->bytes || x->type != y->type || !t->width ||
      y->rank == 0 || y->dimensions[y->rank - 1] < 1)
    return false;
  const uint64_t row = row_bytes(y);
  for (uint64_t at = 0; at < y->bytes; at += row) {
    copy_bytes(t, 0, at, at, t->width);
    copy_bytes(t, 0, at + t->width, at + t->width, row - t->width);
  }
  return true;
}

/* ---- All operators ------------------------------------------------------- */

/* False, and nothing reported: its order is not known. */
static bool run_known(const run_trace *t, kernel_library library) {
  switch (t->op->kind) {
    case OP_conv2d:
    case OP_depthwise_conv2d:
    case OP_average_pool2d:
    case OP_max_pool2d: return run_window(t, library);
    case OP_fully_connected: return run_dense(t, library);
    case OP_pad: return run_pad(t);
    case OP_slice: return run_slice(t);
    case OP_concat: return run_concat(t);
    case OP_softmax:
      return kernel_in_place(library, OP_softmax) && run_softmax(t);
    default: break;
  }
  return (op_kind_flags(t->op->kind) & OP_VIEW) && run_reshape(t);
}

void kernel_run(kernel_library library, const graph *g, op_id op,
                const kernel_watch *watch) {
  run_trace t = {.watch = watch, .g = g, .op = &g->ops.data[op]};
  const graph_tensor *x = input_at(&t, 0);
  const bool elements =
      t.op->kind != OP_softmax && kernel_in_place(library, t.op->kind);
  t.width = x ? width_of(x) : 0;
  graph_window_of(&t.w, g, op);
  if (elements) {
    run_elements(&t);
    return;
  }
  if (library == KERNELS_AUTO) library = KERNELS_PORTABLE;
  if (!run_known(&t, library))
    run_unknown(&t);
  else if (t.op->kind != OP_concat)
    read_whole(&t, 1);
}
