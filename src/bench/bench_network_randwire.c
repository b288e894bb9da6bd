/*
 * What SERENITY says of its RandWire networks: WS(32, 4, 0.75), for pictures of
 * 32 by 32, two cells for CIFAR-10, three for CIFAR-100.  What its figures give
 * away: its peaks are whole multiples of 16 x 16 x 78, 8 x 8 x 156 and 4 x 4 x
 * 312 bytes, one for each of the cells A, B and C.  So a byte is an element,
 * and a cell has the 78, 156 and 312 channels of RandWire's small regime, whose
 * first convolution has half of 78.  What surrounds the cells is not known:
 * that one convolution and RandWire's classifier were chosen among a few, with
 * the totals of the paper's Table 1 in view.
 *
 * A node adds up what comes in, and takes its sum through a ReLU and a
 * separable convolution of 3 x 3.  Nodes without predecessors read the input of
 * the cell with stride 2; the output is the mean of the nodes without
 * successors.  The weights by which RandWire multiplies each edge are left out:
 * one number each. The classifier is RandWire's, a pointwise convolution of
 * 1280 channels.
 *
 * In one operator per node only the node's output takes memory: a kernel adds
 * and convolves as it goes, and that is how the paper counts.  In single
 * operators the sum and the depthwise convolution have outputs of their own,
 * and MACs can be counted.
 */
#include "bench/bench_network_randwire.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/random.h"
#include "bench/bench_network_build.h"

enum { RING = 4 };
static const uint32_t rewired_of_4 = 3; /* 0.75 */
static const uint32_t first_side = 16, first_channels = 78;
static const uint32_t head_channels = 1280;

/* ---- Wiring -------------------------------------------------------------- */

/* Bit w of near[v]: there is an edge between v and w. */
typedef struct ring {
  uint32_t near[RANDWIRE_NODES];
} ring;

static void connect(ring *r, uint32_t u, uint32_t v) {
  r->near[u] |= UINT32_C(1) << v;
  r->near[v] |= UINT32_C(1) << u;
}

static void disconnect(ring *r, uint32_t u, uint32_t v) {
  r->near[u] &= ~(UINT32_C(1) << v);
  r->near[v] &= ~(UINT32_C(1) << u);
}

/* The edge from u to v gets another end: any node that u has no edge to. */
static void rewire(ring *r, uint32_t u, uint32_t v, random_state *random) {
  uint32_t w;
  do w = random_below(random, RANDWIRE_NODES);
  while (w == u || r->near[u] >> w & 1);
  disconnect(r, u, v);
  connect(r, u, w);
}

/* Watts and Strogatz: a ring in which each node knows its RING / 2 neighbours
   on both sides; then, lap by lap, most edges are rewired. */
static ring draw_ring(random_state *random) {
  ring r = {{0}};
  for (uint32_t lap = 1; lap <= RING / 2; lap++)
    for (uint32_t u = 0; u < RANDWIRE_NODES; u++)
      connect(&r, u, (u + lap) % RANDWIRE_NODES);
  for (uint32_t lap = 1; lap <= RING / 2; lap++)
    for (uint32_t u = 0; u < RANDWIRE_NODES; u++)
      if (random_below(random, 4) < rewired_of_4)
        rewire(&r, u, (u + lap) % RANDWIRE_NODES, random);
  return r;
}

static bool is_connected(const ring *r) {
  uint32_t reached = 1, before = 0;
  while (reached != before) {
    before = reached;
    for (uint32_t u = 0; u < RANDWIRE_NODES; u++)
      if (reached >> u & 1) reached |= r->near[u];
  }
  return reached == UINT32_MAX;
}

/* A graph in pieces is drawn again; edges go from lower to higher nodes. */
randwire_wiring randwire_draw(uint64_t seed) {
  random_state random = random_from_seed(seed);
  ring r = draw_ring(&random);
  while (!is_connected(&r)) r = draw_ring(&random);
  randwire_wiring wiring;
  for (uint32_t v = 0; v < RANDWIRE_NODES; v++)
    wiring.before[v] = r.near[v] & ((UINT32_C(1) << v) - 1);
  return wiring;
}

/* ---- Cells --------------------------------------------------------------- */

static const bench_window pointwise = {1, 1, 1};

typedef struct stage_build {
  bench_build *b;
  const char *prefix;
  bench_grain grain;
  const bench_picture *input;
  uint32_t side, channels;
  bench_picture nodes[RANDWIRE_NODES];
} stage_build;

static uint32_t collect(const bench_picture **out, const stage_build *s,
                        uint32_t set) {
  uint32_t count = 0;
  for (; set; set &= set - 1) out[count++] = &s->nodes[bits_lowest(set)];
  return count;
}

/* One operator of a kind that nobody knows, which reads all that comes in. */
static bench_picture build_whole_node(stage_build *s, bench_name name,
                                      const bench_picture *const *xs,
                                      uint32_t count) {
  const bench_picture y = bench_build_made(s->b, name, s->side, s->channels);
  text_format(s->b->out, "op %s randwire_node (", name.text);
  for (uint32_t i = 0; i < count; i++)
    text_format(s->b->out, " %s", xs[i]->name.text);
  text_format(s->b->out, " ) -> ( %s )\n", name.text);
  return y;
}

static bench_picture build_node(stage_build *s, bench_name name,
                                const bench_picture *const *xs,
                                uint32_t count) {
  if (s->grain == BENCH_NODES) return build_whole_node(s, name, xs, count);
  bench_picture x = *xs[0];
  if (count > 1)
    x = bench_build_join(s->b, bench_name_of("%.40s_sum", name.text),
                         count > 2 ? "add_n" : "add", xs, count);
  const bench_picture deep =
      bench_build_depthwise(s->b, bench_name_of("%.40s_dw", name.text), &x,
                            (bench_window){3, x.side / s->side, 1});
  return bench_build_conv(s->b, name, &deep, s->channels, pointwise);
}

/* All nodes, then the mean of those that nobody read. */
static bench_picture build_stage(stage_build *s, bench_name output,
                                 uint64_t seed) {
  const randwire_wiring wiring = randwire_draw(seed);
  uint32_t unread = UINT32_MAX;
  const bench_picture *xs[RANDWIRE_NODES];
  for (uint32_t v = 0; v < RANDWIRE_NODES; v++) {
    uint32_t count = collect(xs, s, wiring.before[v]);
    if (count == 0) xs[count++] = s->input;
    s->nodes[v] =
        build_node(s, bench_name_of("%s%" PRIu32, s->prefix, v), xs, count);
    unread &= ~wiring.before[v];
  }
  const uint32_t count = collect(xs, s, unread);
  return bench_build_join(s->b, output, "mean_n", xs, count);
}

/* ---- Networks ------------------------------------------------------------ */

static const char *const prefixes[RANDWIRE_STAGES] = {"a", "b", "c"};

/* Each stage of each network has a wiring of its own: the second stage for
   CIFAR-10 at seed 6 is drawn from 6011. */
static uint64_t seed_of(uint32_t classes, uint32_t stage, uint64_t seed) {
  return 1000 * seed + classes + stage;
}

static stage_build stage_of(bench_build *b, uint32_t stage,
                            const bench_picture *input, bench_grain grain) {
  return (stage_build){.b = b,
                       .prefix = prefixes[stage],
                       .grain = grain,
                       .input = input,
                       .side = first_side >> stage,
                       .channels = first_channels << stage};
}

void randwire_build_stage(text *out, uint32_t classes, uint32_t stage,
                          uint64_t seed, bench_grain grain) {
  bench_build b = {out, "u8", "i32", "mean"};
  bench_build_begin(&b, bench_name_of("randwire-cifar%" PRIu32 "-%s", classes,
                                      prefixes[stage])
                            .text);
  const bench_picture input = bench_build_input(
      &b, "input", first_side * 2 >> stage, (first_channels << stage) / 2);
  stage_build s = stage_of(&b, stage, &input, grain);
  build_stage(&s, bench_name_of("mean"), seed_of(classes, stage, seed));
}

void randwire_build(text *out, uint32_t classes, uint32_t stages, uint64_t seed,
                    bench_grain grain) {
  bench_build b = {out, "u8", "i32", "classes"};
  bench_build_begin(&b, bench_name_of("randwire-cifar%" PRIu32, classes).text);
  const bench_picture image = bench_build_input(&b, "image", 2 * first_side, 3);
  bench_picture last =
      bench_build_conv(&b, bench_name_of("stem"), &image, first_channels / 2,
                       (bench_window){3, 1, 1});
  for (uint32_t i = 0; i < stages; i++) {
    stage_build s = stage_of(&b, i, &last, grain);
    last = build_stage(&s, bench_name_of("%s_mean", prefixes[i]),
                       seed_of(classes, i, seed));
  }
  last = bench_build_conv(&b, bench_name_of("head"), &last, head_channels,
                          pointwise);
  bench_build_classes(&b, &last, classes);
}
