/* Figure 4: what the elements of the array are spread over, all else alike. */
#include "bench/bench_cosa_variation.h"
#include "bench/bench_sections.h"

static const accel_convolution shape = {
    .r = 1, .s = 1, .p = 16, .q = 16, .c = 256, .k = 1024};

static const char *const notes[] = {
    "The layer is R = S = 1, P = Q = 16, C = 256, K = 1024, on Simba. At the "
    "global buffer are factors of 4 of each of P, C and K: 16 of these 64 are "
    "spatial (s), over the 16 processing elements, and 4 temporal (t). All "
    "else is as in the first row, which is, of all nests that spread C and K, "
    "one of least delay, and of those least energy (found and proved by the "
    "exact mapper). Two temporal loops are in the better order.",
    NULL};

enum { DIMENSIONS = 3, PRODUCT = 16, FACTOR = 4 };
static const char dimensions[] = "PCK";

static calm_status name_choice(const char **out, const uint32_t *space,
                               arena *a) {
  text t;
  text_init(&t, a->context);
  text_format(&t, "s:");
  for (uint32_t i = 0; i < DIMENSIONS; i++)
    if (space[i] > 1) text_format(&t, "%c%u", dimensions[i], space[i]);
  text_format(&t, " t:");
  for (uint32_t i = 0; i < DIMENSIONS; i++)
    if (space[i] < FACTOR)
      text_format(&t, "%c%u", dimensions[i], FACTOR / space[i]);
  return text_keep(&t, out, a);
}

/* Of the loops over time, dimension number `inner` innermost. */
static calm_status add_order(bench_variation *v, const char *name,
                             const uint32_t *space, uint32_t inner, arena *a) {
  accel_loop loops[2 * DIMENSIONS];
  for (uint32_t i = 0; i < DIMENSIONS; i++) {
    const uint32_t d = (inner + i) % DIMENSIONS;
    loops[i] =
        bench_variation_loop(v, dimensions[d], space[d], ACCEL_SPATIAL_X);
    loops[DIMENSIONS + i] = bench_variation_loop(
        v, dimensions[d], FACTOR / space[d], ACCEL_TEMPORAL);
  }
  return bench_variation_add(v, name, loops, 2 * DIMENSIONS, a);
}

static bool is_better(const bench_cost *a, const bench_cost *b) {
  return a->cycles < b->cycles ||
         (a->cycles == b->cycles && a->energy_pj < b->energy_pj);
}

/* With at most two loops over time, three rotations are all orders. */
static calm_status add_choice(bench_variation *v, const uint32_t *space,
                              arena *a) {
  bench_variant best;
  const char *name;
  TRY(name_choice(&name, space, a));
  for (uint32_t inner = 0; inner < DIMENSIONS; inner++) {
    TRY(add_order(v, name, space, inner, a));
    const bench_variant *last = &v->variants[--v->count];
    if (inner == 0 || is_better(&last->cost, &best.cost)) best = *last;
  }
  v->variants[v->count++] = best;
  return CALM_OK;
}

calm_status bench_cosa_figure4(bench *b) {
  static const bench_variation_page page = {
      "figure4",
      "Spatial mapping alone",
      "Spatial mapping alone: worst over best",
      {"spatial", "spatial; temporal", BENCH_WORDS},
      BENCH_CLAIM_SPATIAL};
  bench_variation v;
  bool found;
  TRY(bench_variation_open(&v, &found, b, &shape, "cosa-spatial.yaml"));
  if (!found) return CALM_OK;
  for (uint32_t p = 1; p <= FACTOR; p *= 2)
    for (uint32_t c = FACTOR; c >= 1; c /= 2) {
      const uint32_t space[] = {p, c, PRODUCT / (p * c)};
      if (space[2] >= 1 && space[2] <= FACTOR)
        TRY(add_choice(&v, space, &b->arena));
    }
  return bench_variation_show(b, &v, &page, notes);
}
