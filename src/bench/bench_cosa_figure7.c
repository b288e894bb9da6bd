/*
 * Figure 7: the energy of every layer by every mapper, CoSA's once by traffic
 * alone, as the paper has it, and once by the weighted sum.
 */
#include <math.h>

#include "bench/bench_cosa_compare.h"
#include "bench/bench_cosa_paper.h"
#include "bench/bench_cosa_timeloop.h"
#include "bench/bench_sections.h"

static void add_energies(bench_comparison *c, const bench_mappers *energy,
                         const bench_mappers *delay) {
  const struct {
    const char *name, *title;
    const bench_mappers *from;
    bench_mapper mapper;
  } rows[] = {{"random", "random", energy, BENCH_RANDOM},
              {"hybrid", "hybrid", energy, BENCH_HYBRID},
              {"hybrid_32", "hybrid, 32 x 500", energy, BENCH_HYBRID_32},
              {"cosa_traffic", "cosa, traffic", energy, BENCH_COSA},
              {"cosa_sum", "cosa, weighted sum", delay, BENCH_COSA},
              {"exact", "exact", energy, BENCH_EXACT}};
  enum { ROWS = sizeof rows / sizeof *rows };
  for (uint32_t i = 0; i < ROWS; i++) {
    c->series[i].name = rows[i].name;
    c->series[i].title = rows[i].title;
    bench_series_fill(&c->series[i], rows[i].from, rows[i].mapper,
                      BENCH_ENERGY);
  }
  c->count = c->ours = ROWS;
  c->hybrid = 1;
  c->hybrid_32 = 2;
  c->cosa = 4;
  c->exact = 5;
}

static double saved(const bench_comparison *c, uint32_t of, uint32_t by) {
  return 1 - 1 / bench_gain(NULL, &c->layers, &c->series[of], &c->series[by],
                            CALM_NONE);
}

static const char *const minimised[] = {"traffic", "the weighted sum"};

static calm_status draw_saved(bench *b, const bench_comparison *c) {
  double of_hybrid[2], of_hybrid_32[2];
  for (uint32_t i = 0; i < 2; i++) {
    of_hybrid[i] = 100 * saved(c, c->hybrid, c->cosa - 1 + i);
    of_hybrid_32[i] = 100 * saved(c, c->hybrid_32, c->cosa - 1 + i);
  }
  const chart_series series[] = {
      chart_bars("of hybrid's", of_hybrid, 2),
      chart_bars("of hybrid's, 32 x 500", of_hybrid_32, 2)};
  const chart_mark mark = {"the paper: of hybrid's",
                           100 * bench_claimed(BENCH_CLAIM_HYBRID_ENERGY)};
  const report_chart chart = {.title = "Energy that cosa saves",
                              .x_title = "cosa minimises",
                              .y_title = "% of energy saved",
                              .categories = minimised,
                              .category_count = 2,
                              .series = series,
                              .series_count = 2,
                              .marks = &mark,
                              .mark_count = 1};
  return bench_draw(b, "figure7-saved", &chart);
}

static void show_saved(bench *b, const bench_comparison *c) {
  static const bench_column columns[] = {
      {"cosa", "cosa minimises", BENCH_WORDS},
      {"of_hybrid", "saved of hybrid's", BENCH_SHARE},
      {"of_hybrid_32", "saved of 32 x 500's", BENCH_SHARE},
      {"of_exact", "what the optimum saves of cosa's", BENCH_SHARE},
      {"paper", "the paper, of hybrid's", BENCH_SHARE}};
  bench_table *t = bench_table_begin(
      b, "figure7-saved", "Energy that cosa saves", BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t cosa = c->cosa - 1 + i;
    bench_words(b, t, "%s", minimised[i]);
    bench_number(b, t, saved(c, c->hybrid, cosa));
    bench_number(b, t, saved(c, c->hybrid_32, cosa));
    bench_number(b, t, saved(c, cosa, c->exact));
    bench_number(b, t, bench_claimed(BENCH_CLAIM_HYBRID_ENERGY));
  }
  bench_note(
      b, t,
      "Geometric means over all layers. The paper minimises traffic alone for "
      "energy, and so does the released program here. Its traffic ignores what "
      "an access costs at which level, so that nests for the weighted sum, "
      "which it finds for delay, need less energy.");
}

calm_status bench_cosa_figure7(bench *b) {
  const bench_mappers *energy, *delay;
  bool there;
  bench_comparison c = {.name = "figure7",
                        .title = "Energy",
                        .unit = "pJ",
                        .kind = BENCH_REAL,
                        .over_random = NAN,
                        .over_hybrid = NAN};
  ARENA_ARRAY(&b->arena, c.series, BENCH_MOST_SERIES);
  TRY(bench_mappers_run(&energy, b, "simba.yaml", MAPPER_ENERGY));
  TRY(bench_mappers_run(&delay, b, "simba.yaml", MAPPER_DELAY));
  c.layers = energy->layers;
  add_energies(&c, energy, delay);
  TRY(bench_timeloop_add(&c, &there, b, MAPPER_ENERGY));
  bench_note(b, bench_compare_gains(b, &c),
             "hybrid / cosa and 32 x 500 / cosa: cosa with its weighted sum.");
  show_saved(b, &c);
  bench_table *t = bench_compare_optimum(b, &c);
  bench_compare_note_proofs(b, t, energy);
  bench_timeloop_note(b, t, there);
  bench_compare_totals(b, &c);
  bench_compare_note_padding(b, bench_compare_layers(b, &c));
  TRY(bench_compare_draw(b, &c));
  TRY(draw_saved(b, &c));
  return bench_compare_draw_layers(b, &c);
}
