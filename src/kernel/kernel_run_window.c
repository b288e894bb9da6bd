/* Event models of kernels that slide a window over the picture. */
#include "kernel/kernel_run_parts.h"

static int64_t pixels_of(const run_trace *t) {
  return t->w.rows.output * t->w.columns.output;
}

/* A row of the window: one span where its pixels lie side by side and all their
   channels are wanted. */
static void read_window_row(const run_trace *t, int64_t y, int64_t x,
                            int64_t from, int64_t count) {
  const window_axis *a = &t->w.columns;
  const int64_t channels = t->w.in_channels;
  if (a->dilation == 1 && count == channels) {
    const int64_t begin = x > 0 ? x : 0;
    const int64_t end = x + a->taps < a->input ? x + a->taps : a->input;
    run_read(t, (y * a->input + begin) * channels, (end - begin) * channels);
    return;
  }
  for (int64_t tap = 0; tap < a->taps; tap++) {
    const int64_t at = x + tap * a->dilation;
    if (at >= 0 && at < a->input)
      run_read(t, (y * a->input + at) * channels + from, count);
  }
}

void run_read_window(const run_trace *t, int64_t p, int64_t from,
                     int64_t count) {
  const window_axis *rows = &t->w.rows, *columns = &t->w.columns;
  const int64_t y = p / columns->output * rows->stride - rows->before;
  const int64_t x = p % columns->output * columns->stride - columns->before;
  for (int64_t tap = 0; tap < rows->taps; tap++) {
    const int64_t at = y + tap * rows->dilation;
    if (at >= 0 && at < rows->input) read_window_row(t, at, x, from, count);
  }
}

void run_conv(const run_trace *t) {
  const int64_t channels = t->w.out_channels;
  for (int64_t p = 0; p < pixels_of(t); p++) {
    run_write(t, p * channels, channels - 1);
    run_read_window(t, p, 0, t->w.in_channels);
    run_write(t, p * channels + channels - 1, 1);
  }
}

void run_depthwise(const run_trace *t, int64_t group) {
  const int64_t m = t->w.multiplier;
  for (int64_t p = 0; p < pixels_of(t); p++)
    for (int64_t c = 0; c < t->w.in_channels; c++) {
      const int64_t first = (p * t->w.in_channels + c) * m;
      run_write(t, first, m - group);
      run_read_window(t, p, c, 1);
      run_write(t, first + m - group, group);
    }
}

static void gather_block(const run_trace *t, int64_t pixels, int64_t from,
                         int64_t count, bool all) {
  const int64_t channels = t->w.out_channels, end = pixels_of(t);
  for (int64_t p = 0; p < end; p += pixels) {
    const int64_t next = p + pixels < end ? p + pixels : end;
    for (int64_t q = p; q < next; q++) run_read_window(t, q, from, count);
    if (all) run_write(t, p * channels, (next - p) * channels);
    for (int64_t q = p; q < next && !all; q++)
      run_write(t, q * channels + from, count);
  }
}

void run_gather(const run_trace *t, int64_t pixels, int64_t block) {
  const int64_t channels = t->w.in_channels;
  for (int64_t from = 0; from < channels; from += block) {
    const int64_t left = channels - from;
    gather_block(t, pixels, from, left < block ? left : block,
                 block >= channels);
  }
}
