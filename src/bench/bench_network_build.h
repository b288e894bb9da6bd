/*
 * Networks of pictures, written down operator by operator as a text of graphs.
 * Each call appends the tensors and the operator that make one picture and
 * returns it, to be handed to the calls that read it.  Pictures are square.
 * Batch normalization is folded into the bias, and a ReLU is taken along by
 * what reads it: neither is an operator.
 */
#ifndef CALM_BENCH_BENCH_NETWORK_BUILD_H
#define CALM_BENCH_BENCH_NETWORK_BUILD_H

#include "base/text.h"

typedef struct bench_name {
  char text[48];
} bench_name;

bench_name bench_name_of(const char *format, ...) PRINTF_LIKE(1, 2);

typedef struct bench_picture {
  bench_name name; /* of its tensor, and of the operator that makes it */
  uint32_t side, channels;
} bench_picture;

typedef struct bench_window {
  uint32_t taps, stride, dilation;
} bench_window;

typedef struct bench_build {
  text *out;
  const char *type;   /* of elements: "u8" */
  const char *bias;   /* of biases: "i32" */
  const char *result; /* the picture of this name is the graph's output */
} bench_build;

void bench_build_begin(bench_build *b, const char *graph_name);

bench_picture bench_build_input(bench_build *b, const char *name, uint32_t side,
                                uint32_t channels);
bench_picture bench_build_conv(bench_build *b, bench_name name,
                               const bench_picture *x, uint32_t channels,
                               bench_window w);
bench_picture bench_build_depthwise(bench_build *b, bench_name name,
                                    const bench_picture *x, bench_window w);
bench_picture bench_build_pool(bench_build *b, bench_name name,
                               const char *kind, const bench_picture *x,
                               bench_window w);

/* One picture from several: "add" and the like, or "concat" of channels. */
bench_picture bench_build_join(bench_build *b, bench_name name,
                               const char *kind, const bench_picture *const *xs,
                               uint32_t count);

/* The tail of a classifier: the mean of each channel, fully connected. */
void bench_build_classes(bench_build *b, const bench_picture *x,
                         uint32_t classes);

/* An operator of its own kind that makes a picture: a tensor of this size. */
bench_picture bench_build_made(bench_build *b, bench_name name, uint32_t side,
                               uint32_t channels);

/* The networks that are built so. */
void bench_network_build_darts_cell(text *out);
void bench_network_build_darts(text *out);

#endif
