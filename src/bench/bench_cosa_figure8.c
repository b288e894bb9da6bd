/*
 * Figure 8: what CoSA's program says of the nests that each mapper finds for
 * one layer of ResNet-50: the three terms of its objective.
 */
#include <math.h>
#include <stdio.h>

#include "bench/bench_cosa_mappers.h"
#include "bench/bench_sections.h"

static const char layer_name[] = "3_7_512_512_1";

static const bench_column columns[] = {
    {"mapper", "mapper", BENCH_WORDS},
    {"utilization", "utilization", BENCH_REAL},
    {"compute", "compute", BENCH_REAL},
    {"traffic", "traffic", BENCH_REAL},
    {"objective", "weighted sum", BENCH_REAL},
    {"cycles", "cycles", BENCH_COUNT},
    {"energy_pj", "energy, pJ", BENCH_REAL}};
enum { TERMS = 4 };

static const bench_mapper mappers[] = {
    BENCH_RANDOM, BENCH_HYBRID, BENCH_HYBRID_32, BENCH_COSA, BENCH_EXACT};
enum { MAPPERS = sizeof mappers / sizeof *mappers };

/* Of each mapper; NAN: it has no nest. */
typedef struct breakdown {
  double terms[TERMS][MAPPERS];
  double cycles[MAPPERS], energy_pj[MAPPERS];
} breakdown;

/* ---- Measuring ----------------------------------------------------------- */

/* Terms are logarithms already: their mean is arithmetic. */
static void average(breakdown *out, uint32_t at, const bench_tries *tries) {
  double values[TERMS] = {0}, cycles[BENCH_SEEDS], energies[BENCH_SEEDS];
  bool mapped = true;
  for (uint32_t i = 0; i < tries->count; i++) {
    const bench_try *t = &tries->data[i];
    mapped = mapped && t->mapped;
    values[0] += t->terms.utilization;
    values[1] += t->terms.compute;
    values[2] += t->terms.traffic;
    values[3] += t->terms.objective;
    cycles[i] = t->cost.cycles;
    energies[i] = t->cost.energy_pj;
  }
  for (uint32_t k = 0; k < TERMS; k++)
    out->terms[k][at] = mapped ? values[k] / tries->count : NAN;
  out->cycles[at] = mapped ? bench_geomean(cycles, tries->count) : NAN;
  out->energy_pj[at] = mapped ? bench_geomean(energies, tries->count) : NAN;
}

static calm_status add_requests(bench_requests *out, const bench *b,
                                const bench_mapping *mapping,
                                bench_try (*answers)[BENCH_SEEDS]) {
  for (uint32_t k = 0; k < MAPPERS; k++)
    TRY(bench_requests_add(out, b, mapping, mappers[k], NULL, answers[k]));
  return CALM_OK;
}

static calm_status run(bench_try (*out)[BENCH_SEEDS], bench *b,
                       const bench_mapping *mapping) {
  bench_requests requests = {0};
  calm_status status = add_requests(&requests, b, mapping, out);
  if (status == CALM_OK) status = bench_requests_run(b, &requests);
  VECTOR_FREE(b->context, &requests);
  return status;
}

static calm_status measure(breakdown *out, bench *b, arena *a) {
  bench_layers layers;
  bench_machine machine;
  bench_mapping mapping;
  bench_try tries[MAPPERS][BENCH_SEEDS];
  TRY(bench_layers_make(&layers, a));
  TRY(bench_machine_open(&machine, "simba.yaml", a));
  TRY(bench_mapping_open(
      &mapping, &machine,
      &layers.data[bench_layers_find(&layers, layer_name)].layer, MAPPER_DELAY,
      NULL, a));
  TRY(run(tries, b, &mapping));
  for (uint32_t k = 0; k < MAPPERS; k++) {
    const bench_tries found = {tries[k], bench_mapper_seeds(mappers[k])};
    for (uint32_t i = 0; i < found.count; i++)
      bench_searched(b, found.data[i].stopped);
    average(out, k, &found);
  }
  return CALM_OK;
}

/* ---- Showing ------------------------------------------------------------- */

static void show(bench *b, const breakdown *d) {
  bench_table *t =
      bench_table_begin(b, "figure8", "The terms of CoSA's objective, in bits",
                        BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < MAPPERS; i++) {
    bench_words(b, t, "%s", bench_mapper_names[mappers[i]]);
    for (uint32_t k = 0; k < TERMS; k++) bench_number(b, t, d->terms[k][i]);
    bench_number(b, t, round(d->cycles[i]));
    bench_number(b, t, d->energy_pj[i]);
  }
  bench_note(
      b, t,
      "Layer %s of ResNet-50 (R, P, C, K, stride), for delay, on Simba: the "
      "terms that the released program computes for each mapper's nest. The "
      "weighted sum is %g compute + %g traffic - %g utilization; cosa's is the "
      "least that the program allows. Its limits are stricter than the "
      "machine's (each tensor has a fixed share of a buffer, input windows are "
      "rounded up), so that other mappers' nests may have less. random and "
      "hybrid are means over seeds.",
      layer_name, mapper_cosa_released.compute, mapper_cosa_released.traffic,
      mapper_cosa_released.utilization);
}

static calm_status draw(bench *b, const breakdown *d) {
  static const char *const categories[] = {"utilization", "compute", "traffic"};
  enum { SHOWN = TERMS - 1 };
  double values[MAPPERS][SHOWN];
  chart_series series[MAPPERS];
  for (uint32_t i = 0; i < MAPPERS; i++) {
    for (uint32_t k = 0; k < SHOWN; k++) values[i][k] = d->terms[k][i];
    series[i] = chart_bars(bench_mapper_names[mappers[i]], values[i], SHOWN);
  }
  const report_chart chart = {
      .title = "Terms of CoSA's objective, 3_7_512_512_1",
      .x_title = "",
      .y_title = "bits (logarithm to base 2)",
      .categories = categories,
      .category_count = SHOWN,
      .series = series,
      .series_count = MAPPERS};
  return bench_draw(b, "figure8", &chart);
}

calm_status bench_cosa_figure8(bench *b) {
  breakdown d;
  arena scratch;
  arena_init(&scratch, b->context);
  const calm_status status = measure(&d, b, &scratch);
  arena_free(&scratch);
  TRY(status);
  show(b, &d);
  return draw(b, &d);
}
