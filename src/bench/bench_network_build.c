#include "bench/bench_network_build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bench_name bench_name_of(const char *format, ...) {
  bench_name name;
  va_list values;
  va_start(values, format);
  vsnprintf(name.text, sizeof name.text, format, values);
  va_end(values);
  return name;
}

void bench_build_begin(bench_build *b, const char *graph_name) {
  text_format(b->out, "calm-graph 1\ngraph %s\n", graph_name);
}

/* ---- Tensors ------------------------------------------------------------- */

static void add_picture(bench_build *b, const bench_picture *x,
                        const char *flag) {
  text_format(b->out, "tensor %s %s[1,%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]%s\n",
              x->name.text, b->type, x->side, x->side, x->channels, flag);
}

bench_picture bench_build_input(bench_build *b, const char *name, uint32_t side,
                                uint32_t channels) {
  const bench_picture x = {bench_name_of("%s", name), side, channels};
  add_picture(b, &x, " input");
  return x;
}

bench_picture bench_build_made(bench_build *b, bench_name name, uint32_t side,
                               uint32_t channels) {
  const bench_picture x = {name, side, channels};
  add_picture(b, &x, strcmp(name.text, b->result) ? "" : " output");
  return x;
}

/* A filter and a bias.  The filter of a depthwise convolution has one row. */
static void add_constants(bench_build *b, const bench_picture *y, uint32_t rows,
                          uint32_t taps, uint32_t columns) {
  text_format(b->out,
              "tensor %s_w %s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
              "] const\n",
              y->name.text, b->type, rows, taps, taps, columns);
  text_format(b->out, "tensor %s_b %s[%" PRIu32 "] const\n", y->name.text,
              b->bias, y->channels);
}

/* ---- Operators ----------------------------------------------------------- */

static void add_window(bench_build *b, bench_window w, const char *pad) {
  if (w.stride > 1)
    text_format(b->out, " stride=%" PRIu32 ",%" PRIu32, w.stride, w.stride);
  if (w.dilation > 1)
    text_format(b->out, " dilation=%" PRIu32 ",%" PRIu32, w.dilation,
                w.dilation);
  text_format(b->out, " pad=%s\n", pad);
}

static uint32_t side_after(const bench_picture *x, bench_window w) {
  return (x->side + w.stride - 1) / w.stride;
}

bench_picture bench_build_conv(bench_build *b, bench_name name,
                               const bench_picture *x, uint32_t channels,
                               bench_window w) {
  const bench_picture y = bench_build_made(b, name, side_after(x, w), channels);
  add_constants(b, &y, channels, w.taps, x->channels);
  text_format(b->out, "op %s conv2d ( %s %s_w %s_b ) -> ( %s )", name.text,
              x->name.text, name.text, name.text, name.text);
  add_window(b, w, "same");
  return y;
}

bench_picture bench_build_depthwise(bench_build *b, bench_name name,
                                    const bench_picture *x, bench_window w) {
  const bench_picture y =
      bench_build_made(b, name, side_after(x, w), x->channels);
  add_constants(b, &y, 1, w.taps, x->channels);
  text_format(b->out, "op %s depthwise_conv2d ( %s %s_w %s_b ) -> ( %s )",
              name.text, x->name.text, name.text, name.text, name.text);
  add_window(b, w, "same");
  return y;
}

bench_picture bench_build_pool(bench_build *b, bench_name name,
                               const char *kind, const bench_picture *x,
                               bench_window w) {
  const bench_picture y =
      bench_build_made(b, name, side_after(x, w), x->channels);
  text_format(b->out, "op %s %s ( %s ) -> ( %s ) filter=%" PRIu32 ",%" PRIu32,
              name.text, kind, x->name.text, name.text, w.taps, w.taps);
  add_window(b, w, w.taps == x->side ? "valid" : "same");
  return y;
}

bench_picture bench_build_join(bench_build *b, bench_name name,
                               const char *kind, const bench_picture *const *xs,
                               uint32_t count) {
  const bool concat = !strcmp(kind, "concat");
  uint32_t channels = concat ? 0 : xs[0]->channels;
  for (uint32_t i = 0; concat && i < count; i++) channels += xs[i]->channels;
  const bench_picture y = bench_build_made(b, name, xs[0]->side, channels);
  text_format(b->out, "op %s %s (", name.text, kind);
  for (uint32_t i = 0; i < count; i++)
    text_format(b->out, " %s", xs[i]->name.text);
  text_format(b->out, " ) -> ( %s )%s\n", name.text, concat ? " axis=3" : "");
  return y;
}

void bench_build_classes(bench_build *b, const bench_picture *x,
                         uint32_t classes) {
  const bench_picture mean =
      bench_build_pool(b, bench_name_of("mean"), "average_pool2d", x,
                       (bench_window){x->side, x->side, 1});
  text_format(b->out,
              "tensor classes_w %s[%" PRIu32 ",%" PRIu32
              "] const\n"
              "tensor classes_b %s[%" PRIu32
              "] const\n"
              "tensor classes %s[1,%" PRIu32
              "] output\n"
              "op classes fully_connected ( %s classes_w classes_b ) -> "
              "( classes )\n",
              b->type, classes, mean.channels, b->bias, classes, b->type,
              classes, mean.name.text);
}
