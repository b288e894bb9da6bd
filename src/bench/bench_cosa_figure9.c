/*
 * Figure 9: the same comparison on two larger machines; and what becomes of
 * CoSA with weights that were fitted to each.
 */
#include <math.h>

#include "bench/bench_cosa_compare.h"
#include "bench/bench_cosa_paper.h"
#include "bench/bench_sections.h"

typedef struct variant {
  const char *file, *title;
  bench_claim over_random, over_hybrid;
} variant;

static const variant variants[] = {
    {"simba.yaml", "Simba", BENCH_CLAIM_RANDOM_DELAY, BENCH_CLAIM_HYBRID_DELAY},
    {"simba-4x.yaml", "4x PEs", BENCH_CLAIM_ARRAY_RANDOM,
     BENCH_CLAIM_ARRAY_HYBRID},
    {"simba-sram.yaml", "larger SRAMs", BENCH_CLAIM_SRAM_RANDOM,
     BENCH_CLAIM_SRAM_HYBRID}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const bench_column gain_columns[] = {
    {"machine", "machine", BENCH_WORDS},
    {"network", "network", BENCH_WORDS},
    {"hybrid", "hybrid", BENCH_RATIO},
    {"hybrid_32", "hybrid, 32 x 500", BENCH_RATIO},
    {"cosa", "cosa", BENCH_RATIO},
    {"cosa_fitted", "cosa, fitted", BENCH_RATIO},
    {"exact", "exact", BENCH_RATIO},
    {"hybrid_over_cosa", "hybrid / cosa", BENCH_RATIO},
    {"hybrid_32_over_cosa", "32 x 500 / cosa", BENCH_RATIO},
    {"cosa_over_exact", "cosa / exact", BENCH_RATIO}};

static const bench_column weight_columns[] = {
    {"machine", "machine", BENCH_WORDS},
    {"compute", "compute", BENCH_REAL},
    {"traffic", "traffic", BENCH_REAL},
    {"utilization", "utilization", BENCH_REAL}};

/* ---- Gains --------------------------------------------------------------- */

static double gain(const bench_mappers *m, const bench_series *series,
                   bench_mapper base, bench_mapper other, uint32_t network) {
  return bench_gain(NULL, &m->layers, &series[base], &series[other], network);
}

static void add_row(bench *b, bench_table *t, const variant *v,
                    const bench_mappers *m, const bench_series *series,
                    uint32_t network) {
  bench_words(b, t, "%s", v->title);
  bench_words(b, t, "%s",
              network == CALM_NONE ? "all" : bench_cosa_networks[network]);
  for (uint32_t k = BENCH_RANDOM + 1; k < BENCH_MAPPERS; k++)
    bench_number(b, t, gain(m, series, BENCH_RANDOM, (bench_mapper)k, network));
  bench_number(b, t, gain(m, series, BENCH_HYBRID, BENCH_COSA, network));
  bench_number(b, t, gain(m, series, BENCH_HYBRID_32, BENCH_COSA, network));
  bench_number(b, t, gain(m, series, BENCH_COSA, BENCH_EXACT, network));
}

/* Beside what it says of cosa there is nothing. */
static void add_claims(bench *b, bench_table *t, const variant *v) {
  bench_words(b, t, "%s", v->title);
  bench_words(b, t, "the paper");
  for (uint32_t k = BENCH_RANDOM + 1; k < BENCH_MAPPERS; k++)
    bench_number(b, t, k == BENCH_COSA ? bench_claimed(v->over_random) : NAN);
  bench_number(b, t, bench_claimed(v->over_hybrid));
  bench_nothing(b, t);
  bench_nothing(b, t);
}

static void add_rows(bench *b, bench_table *t, const variant *v,
                     const bench_mappers *m, bench_series *series) {
  for (uint32_t k = 0; k < BENCH_MAPPERS; k++)
    bench_series_fill(&series[k], m, (bench_mapper)k, BENCH_CYCLES);
  for (uint32_t n = 0; n < BENCH_COSA_NETWORKS; n++)
    add_row(b, t, v, m, series, n);
  add_row(b, t, v, m, series, CALM_NONE);
  add_claims(b, t, v);
}

static calm_status show_gains(bench *b, const bench_mappers *const *found) {
  bench_series *series;
  ARENA_ARRAY(&b->arena, series, BENCH_MAPPERS);
  bench_table *t = bench_table_begin(b, "figure9",
                                     "Delay on larger machines: how many "
                                     "improvement over random",
                                     BENCH_COLUMNS(gain_columns));
  for (uint32_t i = 0; i < VARIANTS; i++)
    add_rows(b, t, &variants[i], found[i], series);
  bench_note(
      b, t,
      "4x PEs: 64 elements instead of 16, and twice the bandwidth off chip, "
      "as the paper's text has it (the file in the authors' repository, "
      "simba_large.yaml, has the same bandwidth as the small machine). Larger "
      "SRAMs: buffers of the elements twice as large, the global buffer eight "
      "times.");
  bench_note(b, t,
             "cosa has the released weights on all machines, \"cosa, fitted\" "
             "those below. Mappers and seeds are those of figure6.");
  return CALM_OK;
}

/* ---- Weights ------------------------------------------------------------- */

static void add_weights(bench *b, bench_table *t, const char *machine,
                        const mapper_cosa_weights *w) {
  bench_words(b, t, "%s", machine);
  bench_number(b, t, w->compute);
  bench_number(b, t, w->traffic);
  bench_number(b, t, w->utilization);
}

static void show_weights(bench *b, const bench_mappers *const *found) {
  bench_table *t =
      bench_table_begin(b, "figure9-weights", "Weights of CoSA's objective",
                        BENCH_COLUMNS(weight_columns));
  add_weights(b, t, "released", &mapper_cosa_released);
  for (uint32_t i = 0; i < VARIANTS; i++)
    add_weights(b, t, variants[i].title, &found[i]->fitted);
  bench_note(b, t,
             "Fitted as `calm map --calibrate` does: nests of eight synthetic "
             "layers are drawn and costed, and the logarithm of their delay "
             "is explained by the three terms. The paper takes weights from "
             "micro-benchmarks, which are not public.");
}

/* ---- The figure ---------------------------------------------------------- */

static calm_status draw(bench *b, const bench_mappers *const *found) {
  const char *categories[VARIANTS];
  double values[BENCH_MAPPERS][VARIANTS], paper[VARIANTS];
  chart_series bars[BENCH_MAPPERS];
  bench_series *series;
  ARENA_ARRAY(&b->arena, series, BENCH_MAPPERS);
  for (uint32_t i = 0; i < VARIANTS; i++) {
    categories[i] = variants[i].title;
    paper[i] = bench_claimed(variants[i].over_random);
    for (uint32_t k = 0; k < BENCH_MAPPERS; k++)
      bench_series_fill(&series[k], found[i], (bench_mapper)k, BENCH_CYCLES);
    for (uint32_t k = 0; k < BENCH_MAPPERS; k++)
      values[k][i] =
          gain(found[i], series, BENCH_RANDOM, (bench_mapper)k, CALM_NONE);
  }
  for (uint32_t k = 1; k < BENCH_MAPPERS; k++)
    bars[k - 1] = chart_bars(bench_mapper_names[k], values[k], VARIANTS);
  bars[BENCH_MAPPERS - 1] = (chart_series){.name = "the paper: cosa",
                                           .kind = CHART_POINTS,
                                           .y = paper,
                                           .count = VARIANTS};
  const report_chart chart = {.title = "Delay on larger machines",
                              .x_title = "",
                              .y_title = "improvement over random",
                              .categories = categories,
                              .category_count = VARIANTS,
                              .series = bars,
                              .series_count = BENCH_MAPPERS};
  return bench_draw(b, "figure9", &chart);
}

calm_status bench_cosa_figure9(bench *b) {
  const bench_mappers *found[VARIANTS];
  for (uint32_t i = 0; i < VARIANTS; i++)
    TRY(bench_mappers_run(&found[i], b, variants[i].file, MAPPER_DELAY));
  TRY(show_gains(b, found));
  show_weights(b, found);
  return draw(b, found);
}
