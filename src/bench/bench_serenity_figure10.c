/*
 * Figure 10: how many times less memory.  Each figure of ours says of which
 * baseline it is: one that we measure on the same graph or, in a table of its
 * own, the paper's figure for TensorFlow Lite, which we cannot reproduce.
 */
#include "bench/bench_serenity.h"

/* ---- Of what we measure -------------------------------------------------- */

enum {
  THEIR_DP,
  THEIR_REWRITE,
  COPIED_BEST,
  COPIED_SITES,
  COPIED_PAYS,
  RATIOS
};

static const bench_column ratio_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"paper_dp", "paper: DP", BENCH_RATIO},
    {"paper_rewrite", "paper: +rewriting", BENCH_RATIO},
    {"best", "ours: best order", BENCH_RATIO},
    {"paper_sites", "ours: +paper's rewriting", BENCH_RATIO},
    {"rewritten", "ours: +best rewriting", BENCH_RATIO}};

/* Ratios by column, cells in each: what means and bars need. */
typedef double ratio_grid[RATIOS][BENCH_CELL_COUNT];

static void fill_ratios(ratio_grid r, const bench_peaks *peaks) {
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_peaks *p = &peaks[i];
    const double copied = (double)p->stock.arena_bytes;
    r[THEIR_DP][i] = bench_paper_cells[i].dp_ratio;
    r[THEIR_REWRITE][i] = bench_paper_cells[i].rewrite_ratio;
    r[COPIED_BEST][i] = bench_ratio(copied, (double)p->best.arena_bytes);
    r[COPIED_SITES][i] = bench_ratio(copied, (double)p->paper.arena_bytes);
    r[COPIED_PAYS][i] = bench_ratio(copied, (double)p->rewritten.arena_bytes);
  }
}

static void add_ratios(bench *b, ratio_grid r) {
  bench_table *t = bench_table_begin(
      b, "figure10", "Reduction of memory with the allocator: baseline / arena",
      BENCH_COLUMNS(ratio_columns));
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    bench_cell_name(b, t, (bench_network_id)i);
    for (uint32_t k = 0; k < RATIOS; k++) bench_number(b, t, r[k][i]);
  }
  bench_words(b, t, "geometric mean");
  for (uint32_t k = 0; k < RATIOS; k++)
    bench_number(b, t, bench_geomean(r[k], BENCH_CELL_COUNT));
  bench_note(b, t,
             "Paper: TensorFlow Lite over the paper's arenas. Ours: an arena "
             "that we measure, that of the file's order with concats copied as "
             "runtimes do and greedy placement by size, over our arenas. Other "
             "baselines are in figure10-baselines. The paper prints %.2f and "
             "%.2f as its means; those of the ratios that it prints are above.",
             bench_paper_figures[PAPER_geomean_dp],
             bench_paper_figures[PAPER_geomean_rewrite]);
  bench_note(
      b, t,
      "RandWire has no concats, so the paper rewrites nothing there and "
      "neither do we. Its cells are ours, by seed %llu; figure15-randwire "
      "has the spread over seeds.",
      bench_seed(b, 0));
}

static calm_status draw_ratios(bench *b, ratio_grid r) {
  static const char *const names[] = {"paper: DP", "paper: DP + rewriting",
                                      "ours: best order",
                                      "ours: best, rewritten"};
  static const uint32_t drawn[] = {THEIR_DP, THEIR_REWRITE, COPIED_BEST,
                                   COPIED_PAYS};
  enum { DRAWN = sizeof drawn / sizeof *drawn };
  const char *labels[BENCH_CELL_COUNT + 1];
  double y[DRAWN][BENCH_CELL_COUNT + 1];
  chart_series series[DRAWN];
  TRY(bench_cell_labels(labels, b));
  labels[BENCH_CELL_COUNT] = "geomean";
  for (uint32_t k = 0; k < DRAWN; k++) {
    for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) y[k][i] = r[drawn[k]][i];
    y[k][BENCH_CELL_COUNT] = bench_geomean(r[drawn[k]], BENCH_CELL_COUNT);
    series[k] = chart_bars(names[k], y[k], BENCH_CELL_COUNT + 1);
  }
  const report_chart chart = {
      .title = "Reduction of memory, each over its own baseline",
      .x_title = "cell",
      .y_title = "baseline / arena",
      .categories = labels,
      .category_count = BENCH_CELL_COUNT + 1,
      .series = series,
      .series_count = DRAWN};
  return bench_draw(b, "figure10", &chart);
}

/* ---- Of several baselines ------------------------------------------------ */

static const bench_column baseline_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"litert_best", "LiteRT / best", BENCH_RATIO},
    {"copied_best", "copied / best", BENCH_RATIO},
    {"elided_best", "elided / best", BENCH_RATIO},
    {"level_best", "level / best", BENCH_RATIO},
    {"litert_rewritten", "LiteRT / rewritten", BENCH_RATIO},
    {"copied_rewritten", "copied / rewritten", BENCH_RATIO},
    {"elided_rewritten", "elided / rewritten", BENCH_RATIO},
    {"level_rewritten", "level / rewritten", BENCH_RATIO}};

enum { BASELINES = 4 };

static void add_baselines(bench *b, const bench_peaks *peaks) {
  bench_table *t =
      bench_table_begin(b, "figure10-baselines",
                        "Reduction over several baselines: baseline / arena",
                        BENCH_COLUMNS(baseline_columns));
  double r[2 * BASELINES][BENCH_CELL_COUNT];
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_peaks *p = &peaks[i];
    const bench_outcome *const of[BASELINES] = {&p->litert, &p->stock, &p->file,
                                                &p->level};
    bench_cell_name(b, t, (bench_network_id)i);
    for (uint32_t k = 0; k < BASELINES; k++) {
      const double bytes = (double)of[k]->arena_bytes;
      r[k][i] = bench_ratio(bytes, (double)p->best.arena_bytes);
      r[k + BASELINES][i] =
          bench_ratio(bytes, (double)p->rewritten.arena_bytes);
    }
    for (uint32_t k = 0; k < 2 * BASELINES; k++) bench_number(b, t, r[k][i]);
  }
  bench_words(b, t, "geometric mean");
  for (uint32_t k = 0; k < 2 * BASELINES; k++)
    bench_number(b, t, bench_geomean(r[k], BENCH_CELL_COUNT));
  bench_note(b, t,
             "Each column is a baseline over our arenas, of the best order or "
             "of the best rewriting; figure15-baselines says what the "
             "baselines are. Elided and level have the memory model of our "
             "arenas, so that only order and placement differ.");
}

/* ---- Of the paper's TensorFlow Lite -------------------------------------- */

static const bench_column tflite_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"paper_tflite_bytes", "paper: TFLite, KB", BENCH_KB},
    {"paper_dp", "paper: DP", BENCH_RATIO},
    {"best", "ours: best order", BENCH_RATIO},
    {"paper_rewrite", "paper: +rewriting", BENCH_RATIO},
    {"paper_sites", "ours: +paper's rewriting", BENCH_RATIO},
    {"rewritten", "ours: +best rewriting", BENCH_RATIO}};

enum { TFLITE_RATIOS = 5 };

static void add_tflite_ratios(bench *b, const bench_peaks *peaks) {
  bench_table *t = bench_table_begin(
      b, "figure10-tflite",
      "Reduction over the paper's TensorFlow Lite: its KB / arena",
      BENCH_COLUMNS(tflite_columns));
  double r[TFLITE_RATIOS][BENCH_CELL_COUNT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_paper_cell *paper = &bench_paper_cells[i];
    const double bytes = 1e3 * paper->tflite_kb;
    if (!paper->known) continue;
    r[0][n] = paper->dp_ratio;
    r[1][n] = bench_ratio(bytes, (double)peaks[i].best.arena_bytes);
    r[2][n] = paper->rewrite_ratio;
    r[3][n] = bench_ratio(bytes, (double)peaks[i].paper.arena_bytes);
    r[4][n] = bench_ratio(bytes, (double)peaks[i].rewritten.arena_bytes);
    bench_cell_name(b, t, (bench_network_id)i);
    bench_number(b, t, bytes);
    for (uint32_t k = 0; k < TFLITE_RATIOS; k++) bench_number(b, t, r[k][n]);
    n++;
  }
  bench_words(b, t, "geometric mean");
  bench_nothing(b, t);
  for (uint32_t k = 0; k < TFLITE_RATIOS; k++)
    bench_number(b, t, bench_geomean(r[k], n));
  bench_note(b, t,
             "Cells whose graphs are the paper's own. The numerator is the "
             "paper's and was not reproduced: see figure15-baselines.");
}

calm_status bench_serenity_figure10(bench *b) {
  bench_peaks peaks[BENCH_CELL_COUNT];
  ratio_grid ratios;
  TRY(bench_measure_cells(peaks, b));
  fill_ratios(ratios, peaks);
  add_ratios(b, ratios);
  add_baselines(b, peaks);
  add_tflite_ratios(b, peaks);
  return draw_ratios(b, ratios);
}
