/* Event models of matrix products, and of convolutions that are such. */
#include "kernel/kernel_run_parts.h"

static void read_vectors(const run_trace *t, const run_vectors *v,
                         int64_t first, int64_t count) {
  if (v->step == v->length) {
    run_read(t, v->input + first * v->step, count * v->length);
    return;
  }
  for (int64_t i = first; i < first + count; i++)
    run_read(t, v->input + i * v->step, v->length);
}

static void write_outputs(const run_trace *t, const run_vectors *v,
                          int64_t vector, int64_t from, int64_t count) {
  run_write(t, v->output + vector * v->outputs + from, count);
}

void run_by_outputs(const run_trace *t, const run_vectors *v) {
  const int64_t last = v->outputs % 2 ? 1 : 2; /* outputs of the last pass */
  const int64_t pair = v->outputs % 2 ? 1 : 2; /* vectors at a time in it */
  for (int64_t i = 0; i < v->count; i++)
    write_outputs(t, v, i, 0, v->outputs - last);
  for (int64_t i = 0; i < v->count; i += pair) {
    const int64_t count = i + pair <= v->count ? pair : v->count - i;
    read_vectors(t, v, i, count);
    for (int64_t j = i; j < i + count; j++)
      write_outputs(t, v, j, v->outputs - last, last);
  }
}

void run_by_fours(const run_trace *t, const run_vectors *v) {
  int64_t i = 0;
  for (; i + 4 <= v->count; i += 4) {
    for (int64_t j = i; j < i + 4; j++)
      write_outputs(t, v, j, 0, v->outputs - 1);
    read_vectors(t, v, i, 4);
    for (int64_t j = i; j < i + 4; j++)
      write_outputs(t, v, j, v->outputs - 1, 1);
  }
  const int64_t last = (v->outputs - 1) / 4 * 4;
  for (; i < v->count; i++) {
    write_outputs(t, v, i, 0, last);
    read_vectors(t, v, i, 1);
    write_outputs(t, v, i, last, v->outputs - last);
  }
}

void run_by_vectors(const run_trace *t, const run_vectors *v, int64_t group) {
  const int64_t last = v->outputs % group ? 1 : group;
  for (int64_t i = 0; i < v->count; i++) {
    write_outputs(t, v, i, 0, v->outputs - last);
    read_vectors(t, v, i, 1);
    write_outputs(t, v, i, v->outputs - last, last);
  }
}

void run_point(const run_trace *t,
               void (*product)(const run_trace *t, const run_vectors *v)) {
  const window_axis *rows = &t->w.rows, *columns = &t->w.columns;
  const int64_t in = t->w.in_channels, out = t->w.out_channels;
  run_vectors v = {columns->output, columns->stride * in, in, 0, 0, out};
  if (rows->stride == 1 && columns->stride == 1) {
    v.count *= rows->output;
    product(t, &v);
    return;
  }
  for (int64_t y = 0; y < rows->output; y++) {
    product(t, &v);
    v.input += rows->stride * columns->input * in;
    v.output += columns->output * out;
  }
}

/* What the copy of the right part holds: all taps but one, from the first pixel
   of the first window there; the kernel reads on even where the input ends. */
static void read_line(const run_trace *t, int64_t pixel, int64_t taps) {
  const int64_t left = t->w.columns.input - pixel;
  run_read(t, pixel * t->w.in_channels,
           (taps < left ? taps : left) * t->w.in_channels);
}

static int64_t padded(int64_t padding, int64_t stride) {
  return padding == 0 ? 0 : (padding + stride - 1) / stride;
}

bool run_line(const run_trace *t) {
  const window_axis *a = &t->w.columns;
  const int64_t in = t->w.in_channels, out = t->w.out_channels;
  const int64_t all = (a->output - 1) * a->stride + a->taps - a->input;
  const int64_t behind = a->before + all % 2;
  const int64_t left = padded(a->before, a->stride);
  int64_t right = padded(behind, a->stride);
  if (behind != 0 && right < 1) right = 1;
  if (left + right > a->output) return false;

  const int64_t middle = a->output - left - right, done = left + middle;
  if (left > 0) read_line(t, 0, a->taps);
  run_write(t, 0, left * out);
  run_by_fours(
      t, &(run_vectors){middle, a->stride * in, a->taps * in,
                        (a->stride * left - a->before) * in, left * out, out});
  read_line(t, a->stride * done - a->before, a->taps - 1);
  run_write(t, done * out, right * out);
  return true;
}
