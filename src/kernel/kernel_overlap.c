/*
 * Safe distances.  Number the elements of input and output from 0, in the order
 * in which they lie in memory, and let the output begin D elements below the
 * input.  Output o then lies on input o + (-D), so it destroys input r = o - D.
 * Let L(r) be the last output that is computed from r by a kernel which writes
 * the outputs in order: nothing is lost if L(r) <= r + D for all r, that is, if
 *
 *     D >= max over r of (L(r) - r)
 *
 * and every larger D is safe, too.  For windows the maximum falls apart into
 * one over rows and one over columns, and a term for the channels.  Kernels
 * that write in another order have formulas of their own, with the largest
 * number of an output that is written before r is read for the last time, and
 * one more, in place of L(r).
 */
#include "kernel/kernel_pick.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Windows in raster order --------------------------------------------- */

/* The last output that some tap reads input `i` for; -1: none does. */
static int64_t last_reader(const window_axis *a, int64_t i) {
  int64_t last = -1;
  for (int64_t tap = 0; tap < a->taps; tap++) {
    const int64_t at = i + a->before - tap * a->dilation;
    if (at < 0) break;
    if (at % a->stride == 0 && at / a->stride < a->output)
      last = larger(last, at / a->stride);
  }
  return last;
}

/* max of y(i) * output_step - i * input_step.  The difference is linear in the
   middle of the axis: where one window's span of inputs is followed by another
   with the same readers, one stride on.  So only the borders and the two ends
   of the middle, a stride and a span long, can be extreme. */
static int64_t axis_distance(const window_axis *a, int64_t output_step,
                             int64_t input_step) {
  const int64_t border = 2 * a->stride + window_span(a) + a->before;
  int64_t most = INT64_MIN;
  for (int64_t i = 0; i < a->input; i++) {
    if (i == border && i < a->input - border) i = a->input - border;
    const int64_t last = last_reader(a, i);
    if (last >= 0) most = larger(most, last * output_step - i * input_step);
  }
  return most;
}

/* Of the first channel of pixels, and `channels` for the others; 0 if nothing
   but padding is read. */
static int64_t pixel_distance(const graph_window *w, int64_t channels) {
  const int64_t in = w->in_channels, out = w->out_channels;
  const int64_t rows =
      axis_distance(&w->rows, w->columns.output * out, w->columns.input * in);
  const int64_t columns = axis_distance(&w->columns, out, in);
  return rows == INT64_MIN || columns == INT64_MIN ? 0
                                                   : rows + columns + channels;
}

static int64_t conv_distance(const kernel_subject *s) {
  return pixel_distance(&s->window, s->window.out_channels - 1);
}

/* Channel c makes outputs c * m to c * m + m - 1. */
static int64_t depthwise_distance(const kernel_subject *s) {
  const graph_window *w = &s->window;
  const int64_t c = w->in_channels - 1, m = w->multiplier;
  return pixel_distance(w, larger(m - 1, c * m + m - 1 - c));
}

/* ---- Others in order ----------------------------------------------------- */

static int64_t count_rows(const graph_tensor *t) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < t->rank; i++) rows *= t->dimensions[i];
  return rows;
}

static int64_t dense_distance(const kernel_subject *s) {
  const graph_tensor *w = &s->g->tensors.data[s->op->inputs[1]];
  const int64_t out = w->dimensions[0], in = w->dimensions[1];
  const int64_t last = count_rows(s->y) - 1;
  return larger(0, last * (out - in)) + out - 1;
}

/* The element of `y` that lies at `begin` in it, with `x` cut out behind. */
static int64_t place_in(const graph_tensor *y, const int64_t *begin) {
  int64_t place = 0;
  for (uint32_t i = 0; i < y->rank; i++)
    place = place * y->dimensions[i] + begin[i];
  return place;
}

static int64_t count_elements(const graph_tensor *t) {
  return (int64_t)(t->bytes / (element_type_bits(t->type) / 8));
}

/* The input's last element moves farthest. */
static int64_t pad_distance(const kernel_subject *s) {
  int64_t end[GRAPH_MAX_RANK] = {0};
  graph_op_numbers(end, s->op, "before");
  for (uint32_t i = 0; i < s->x->rank; i++) end[i] += s->x->dimensions[i] - 1;
  return place_in(s->y, end) - (count_elements(s->x) - 1);
}

static int64_t slice_distance(const kernel_subject *s) {
  int64_t begin[GRAPH_MAX_RANK] = {0};
  graph_op_numbers(begin, s->op, "begin");
  return -place_in(s->x, begin);
}

/* ---- 1x1 and 1xN convolutions that work through pixels as vectors -------- */

/* What of 1x1 convolutions belongs to one call of the matrix product: `pixels`
   inputs `step` elements apart, the first at `input`, outputs from `output`. */
typedef struct pixel_run {
  int64_t pixels, step, channels, output, input;
} pixel_run;

/* Two pixels at a time, for the last two channels or the last one alone, after
   all other channels of all pixels. */
static int64_t run_by_channels(const pixel_run *r) {
  const int64_t end = r->pixels * r->channels;
  if (r->channels > 2)
    return r->output + end - (r->channels % 2 ? 1 : 2) - r->input;
  const int64_t group = r->channels == 2 ? 2 : 1;
  const int64_t last = (r->pixels - 1) / group * group;
  return r->output - r->input + larger(0, last * (r->channels - r->step));
}

/* Four pixels at a time, which are read again for each channel; the rest one by
   one, four channels at a time. */
static int64_t run_by_fours(const pixel_run *r) {
  const int64_t fours = r->pixels / 4, rest = r->pixels % 4;
  const int64_t gain = r->channels - r->step;
  int64_t most = INT64_MIN;
  if (fours > 0) {
    const int64_t written = r->channels > 1 ? 4 * r->channels - 1 : 0;
    most = written + larger(0, 4 * (fours - 1) * gain);
  }
  if (rest > 0) {
    const int64_t written = (r->channels - 1) / 4 * 4;
    most = larger(most,
                  written + larger(4 * fours * gain, (r->pixels - 1) * gain));
  }
  return most == INT64_MIN ? most : most + r->output - r->input;
}

static pixel_run whole_picture(const graph_window *w) {
  return (pixel_run){w->rows.output * w->columns.output, w->in_channels,
                     w->out_channels, 0, 0};
}

static pixel_run row_of_picture(const graph_window *w, int64_t y) {
  return (pixel_run){w->columns.output, w->columns.stride * w->in_channels,
                     w->out_channels, y * w->columns.output * w->out_channels,
                     y * w->rows.stride * w->columns.input * w->in_channels};
}

/* A call per row; the first or the last one is extreme. */
static int64_t rows_distance(const graph_window *w,
                             int64_t (*distance)(const pixel_run *r)) {
  const pixel_run first = row_of_picture(w, 0);
  const pixel_run last = row_of_picture(w, w->rows.output - 1);
  return larger(distance(&first), distance(&last));
}

/* The part without padding is read in place, that on the right from a copy that
   is made when the rest is written. */
static int64_t line_distance(const graph_window *w) {
  const window_axis *a = &w->columns;
  kernel_line line;
  kernel_line_of(&line, a);
  const int64_t in = w->in_channels, out = w->out_channels;
  const int64_t done = line.left + line.middle;
  const pixel_run middle = {line.middle, a->stride * in, out, line.left * out,
                            (a->stride * line.left - a->before) * in};
  const int64_t right = done * out - (a->stride * done - a->before) * in;
  return larger(run_by_fours(&middle), right);
}

/* ---- Rows ---------------------------------------------------------------- */

/* In elements; of element-wise kernels in bytes, for their widths may differ:
   an output that is wider catches up with the input. */
static int64_t distance_of(kernel_formula formula, const kernel_subject *s) {
  const pixel_run all = whole_picture(&s->window);
  switch (formula) {
    case FORMULA_CONV: return conv_distance(s);
    case FORMULA_DEPTHWISE: return depthwise_distance(s);
    case FORMULA_DENSE: return dense_distance(s);
    case FORMULA_PAD: return pad_distance(s);
    case FORMULA_SLICE: return slice_distance(s);
    case FORMULA_NARROW: return run_by_channels(&all);
    case FORMULA_STRIDED: return rows_distance(&s->window, run_by_channels);
    case FORMULA_MVE_POINT: return run_by_fours(&all);
    case FORMULA_MVE_STRIDED: return rows_distance(&s->window, run_by_fours);
    case FORMULA_MVE_LINE: return line_distance(&s->window);
    case FORMULA_NEVER:
    case FORMULA_ELEMENTS: break;
  }
  return 0;
}

static int64_t widening_distance(const kernel_subject *s) {
  const int64_t in = (int64_t)s->x->bytes, out = (int64_t)s->y->bytes;
  const int64_t count = count_elements(s->y);
  return count > 0 ? larger(0, (out - in) / count * (count - 1)) : 0;
}

/* Below 0 means in place: an element that moves up is written over one that is
   still to be read.  A slice only moves down. */
static int64_t distance_in_bytes(kernel_formula formula,
                                 const kernel_subject *s) {
  const int64_t width = element_type_bits(s->x->type) / 8;
  if (formula == FORMULA_ELEMENTS) return widening_distance(s);
  const int64_t distance = distance_of(formula, s) * width;
  return formula == FORMULA_SLICE ? distance : larger(0, distance);
}

kernel_distance kernel_overlap(kernel_library library, const graph *g, op_id op,
                               uint32_t slot) {
  kernel_subject s;
  const bool known = kernel_subject_of(&s, g, op, slot);
  const kernel_row_facts *row =
      &kernel_rows[known ? kernel_pick(library, &s) : KERNEL_OTHER_SHAPE];
  kernel_distance d = {row->formula != FORMULA_NEVER, 0, row->why};
  if (d.safe) d.bytes = distance_in_bytes(row->formula, &s);
  return d;
}
