/*
 * DARTS (Liu, Simonyan, Yang, ICLR 2019), the genotype DARTS_V2 of its authors,
 * as they train it on ImageNet: a stem, 14 cells of 48 channels, twice as many
 * after each of the two reductions at a third and two thirds of the depth, and
 * a classifier.  The auxiliary classifier serves training and is left out.
 *
 * A cell reads what the two cells before it made, each through a convolution of
 * one tap (or, where that picture is twice as wide, two such convolutions of
 * stride 2, side by side), adds pairs of states to four new ones, and joins
 * these.  What SERENITY measures is a normal cell behind those convolutions,
 * with the one that the next cell begins with.
 */
#include "bench/bench_network_build.h"

enum { DARTS_CELLS = 14, DARTS_CHANNELS = 48, DARTS_NODES = 4 };

typedef enum darts_step {
  DARTS_SKIP,
  DARTS_SEPARABLE, /* depthwise and pointwise, twice */
  DARTS_DILATED,   /* once, the taps one apart */
  DARTS_MAX_POOL
} darts_step;

/* Node 2 + i is the sum of two earlier states, each after a step. */
typedef struct darts_edge {
  darts_step step;
  uint32_t from;
} darts_edge;

static const darts_edge normal_cell[DARTS_NODES][2] = {
    {{DARTS_SEPARABLE, 0}, {DARTS_SEPARABLE, 1}},
    {{DARTS_SEPARABLE, 0}, {DARTS_SEPARABLE, 1}},
    {{DARTS_SEPARABLE, 1}, {DARTS_SKIP, 0}},
    {{DARTS_SKIP, 0}, {DARTS_DILATED, 2}}};

static const darts_edge reduction_cell[DARTS_NODES][2] = {
    {{DARTS_MAX_POOL, 0}, {DARTS_MAX_POOL, 1}},
    {{DARTS_SKIP, 2}, {DARTS_MAX_POOL, 1}},
    {{DARTS_MAX_POOL, 0}, {DARTS_SKIP, 2}},
    {{DARTS_SKIP, 2}, {DARTS_MAX_POOL, 1}}};

static const bench_window one_tap = {1, 1, 1}, one_tap_half = {1, 2, 1},
                          three_taps = {3, 1, 1}, three_taps_half = {3, 2, 1};

/* Depthwise, then pointwise. */
static bench_picture separate(bench_build *b, bench_name name,
                              const bench_picture *x, bench_window w) {
  const bench_picture deep =
      bench_build_depthwise(b, bench_name_of("%.40s_dw", name.text), x, w);
  return bench_build_conv(b, bench_name_of("%.40s_pw", name.text), &deep,
                          x->channels, one_tap);
}

static bench_picture take_step(bench_build *b, bench_name name, darts_step step,
                               const bench_picture *x, uint32_t stride) {
  const bench_window w = {3, stride, step == DARTS_DILATED ? 2 : 1};
  if (step == DARTS_SKIP) return *x; /* only ever of stride 1 */
  if (step == DARTS_MAX_POOL)
    return bench_build_pool(b, name, "max_pool2d", x, w);
  const bench_picture y = separate(b, name, x, w);
  if (step == DARTS_DILATED) return y;
  return separate(b, bench_name_of("%.40s_again", name.text), &y, three_taps);
}

/* The four nodes from states 0 and 1, and their concatenation. */
static bench_picture build_cell(bench_build *b, const char *prefix,
                                const bench_picture *s0,
                                const bench_picture *s1, bool reduces) {
  bench_picture states[2 + DARTS_NODES] = {*s0, *s1};
  const bench_picture *made[DARTS_NODES];
  for (uint32_t i = 0; i < DARTS_NODES; i++) {
    const darts_edge *edges = reduces ? reduction_cell[i] : normal_cell[i];
    bench_picture terms[2];
    for (uint32_t e = 0; e < 2; e++)
      terms[e] = take_step(b,
                           bench_name_of("%sn%u_s%u", prefix, (unsigned)i + 2,
                                         (unsigned)edges[e].from),
                           edges[e].step, &states[edges[e].from],
                           reduces && edges[e].from < 2 ? 2 : 1);
    const bench_picture *both[] = {&terms[0], &terms[1]};
    states[2 + i] = bench_build_join(
        b, bench_name_of("%sn%u", prefix, (unsigned)i + 2), "add", both, 2);
    made[i] = &states[2 + i];
  }
  return bench_build_join(b, bench_name_of("%scell", prefix), "concat", made,
                          DARTS_NODES);
}

void bench_network_build_darts_cell(text *out) {
  bench_build b = {out, "f32", "f32", "next"};
  bench_build_begin(&b, "darts-normal");
  const bench_picture s0 = bench_build_input(&b, "s0", 28, DARTS_CHANNELS),
                      s1 = bench_build_input(&b, "s1", 28, DARTS_CHANNELS),
                      cell = build_cell(&b, "", &s0, &s1, false);
  bench_build_conv(&b, bench_name_of("next"), &cell, DARTS_CHANNELS, one_tap);
}

/* What a cell does first to a picture: bring it to its channels and size. */
static bench_picture prepare(bench_build *b, bench_name name,
                             const bench_picture *x, uint32_t channels,
                             bool halve) {
  if (!halve) return bench_build_conv(b, name, x, channels, one_tap);
  const bench_picture even = bench_build_conv(
                          b, bench_name_of("%.40s_even", name.text), x,
                          channels / 2, one_tap_half),
                      odd = bench_build_conv(
                          b, bench_name_of("%.40s_odd", name.text), x,
                          channels / 2, one_tap_half);
  const bench_picture *both[] = {&even, &odd};
  return bench_build_join(b, name, "concat", both, 2);
}

void bench_network_build_darts(text *out) {
  bench_build b = {out, "f32", "f32", "classes"};
  bench_build_begin(&b, "darts");
  uint32_t channels = DARTS_CHANNELS;
  const bench_picture image = bench_build_input(&b, "image", 224, 3),
                      stem = bench_build_conv(&b, bench_name_of("stem"), &image,
                                              channels / 2, three_taps_half);
  bench_picture before = bench_build_conv(&b, bench_name_of("stem0"), &stem,
                                          channels, three_taps_half),
                last = bench_build_conv(&b, bench_name_of("stem1"), &before,
                                        channels, three_taps_half);
  for (uint32_t i = 0; i < DARTS_CELLS; i++) {
    const bool reduces = i == DARTS_CELLS / 3 || i == 2 * DARTS_CELLS / 3;
    if (reduces) channels *= 2;
    const bench_name prefix = bench_name_of("c%u_", (unsigned)i);
    const bench_picture s0 =
                            prepare(&b, bench_name_of("c%u_s0", (unsigned)i),
                                    &before, channels, before.side > last.side),
                        s1 = prepare(&b, bench_name_of("c%u_s1", (unsigned)i),
                                     &last, channels, false);
    before = last;
    last = build_cell(&b, prefix.text, &s0, &s1, reduces);
  }
  bench_build_classes(&b, &last, 1000);
}
