/* Figure 3: the order of three loops at the global buffer, all else alike. */
#include "bench/bench_cosa_variation.h"
#include "bench/bench_sections.h"

static const accel_convolution shape = {
    .r = 3, .s = 3, .p = 8, .q = 8, .c = 32, .k = 1024};

static const char *const notes[] = {
    "The layer is R = S = 3, P = Q = 8, C = 32, K = 1024, on Simba. Of all "
    "nests whose temporal loops at the global buffer are over C, K and P we "
    "take the one of least delay, and of those least energy (found and proved "
    "by the exact mapper), and change nothing but the order of these three "
    "loops.",
    "Weights pass by the global buffer and come from off chip: every loop "
    "outside of the innermost one that changes them fetches them again.",
    NULL};

/* The loop of the base over a dimension, over time at the global buffer. */
static accel_loop loop_of(const bench_variation *v, char dimension) {
  const accel_loop wanted =
      bench_variation_loop(v, dimension, 1, ACCEL_TEMPORAL);
  for (uint32_t i = 0; i < v->base.loop_count; i++) {
    const accel_loop *l = &v->base.loops[i];
    if (l->level == wanted.level && l->kind == ACCEL_TEMPORAL &&
        l->dimension == wanted.dimension)
      return *l;
  }
  return wanted;
}

static calm_status add_order(bench_variation *v, const char *order, arena *a) {
  accel_loop loops[BENCH_MOST_LOOPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < v->base.loop_count; i++) {
    const accel_loop *l = &v->base.loops[i];
    if (l->level == v->machine.global && l->kind != ACCEL_TEMPORAL)
      loops[count++] = *l;
  }
  for (uint32_t i = 3; i-- > 0;) loops[count++] = loop_of(v, order[i]);
  return bench_variation_add(v, order, loops, count, a);
}

calm_status bench_cosa_figure3(bench *b) {
  static const char *const orders[] = {"CKP", "CPK", "KCP",
                                       "KPC", "PCK", "PKC"};
  static const bench_variation_page page = {
      "figure3",
      "Loop order alone",
      "Loop order alone: worst over best",
      {"order", "order, outermost first", BENCH_WORDS},
      BENCH_CLAIM_ORDER};
  bench_variation v;
  bool found;
  TRY(bench_variation_open(&v, &found, b, &shape, "cosa-order.yaml"));
  if (!found) return CALM_OK;
  for (uint32_t i = 0; i < 6; i++) TRY(add_order(&v, orders[i], &b->arena));
  return bench_variation_show(b, &v, &page, notes);
}
