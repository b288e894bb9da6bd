/*
 * Figure 15: the memory of each cell.  With the allocator it is the arena that
 * has to be reserved, without it the most bytes that are live at once.  Each is
 * told for what a runtime does today, for the best order, and for the best
 * order of the rewritten graph.
 */
#include "bench/bench_serenity.h"

/* ---- With the allocator -------------------------------------------------- */

static const bench_column arena_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"paper_tflite_bytes", "paper: TFLite", BENCH_KB},
    {"paper_dp_bytes", "paper: DP", BENCH_KB},
    {"paper_rewrite_bytes", "paper: +rewriting", BENCH_KB},
    {"stock_arena_bytes", "file order", BENCH_KB},
    {"arena_bytes", "best order", BENCH_KB},
    {"paper_sites_arena_bytes", "+paper's rewriting", BENCH_KB},
    {"rewritten_arena_bytes", "+best rewriting", BENCH_KB},
    {"proved", "proved", BENCH_WORDS}};

static bool is_proved(const bench_outcome *o) {
  return o->peak_proved && o->arena_proved &&
         o->arena_bytes == o->arena_bound_bytes;
}

static void add_arena_row(bench *b, bench_table *t, bench_network_id id,
                          const bench_peaks *p) {
  const bench_paper_cell *paper = &bench_paper_cells[id];
  const int proved =
      is_proved(&p->best) + is_proved(&p->paper) + is_proved(&p->rewritten);
  bench_cell_name(b, t, id);
  bench_number(b, t, 1e3 * paper->tflite_kb);
  bench_number(b, t, 1e3 * paper->dp_kb);
  bench_number(b, t, 1e3 * paper->rewrite_kb);
  bench_number(b, t, (double)p->stock.arena_bytes);
  bench_number(b, t, (double)p->best.arena_bytes);
  bench_number(b, t, (double)p->paper.arena_bytes);
  bench_number(b, t, (double)p->rewritten.arena_bytes);
  if (proved == 3)
    bench_words(b, t, "all");
  else
    bench_words(b, t, "%d of 3", proved);
}

static void add_arenas(bench *b, const bench_peaks *peaks) {
  bench_table *t = bench_table_begin(b, "figure15",
                                     "Memory with the allocator: the arena, KB",
                                     BENCH_COLUMNS(arena_columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    add_arena_row(b, t, (bench_network_id)id, &peaks[id]);
  bench_note(
      b, t,
      "File order: the operators as they are listed, concats copied, placed "
      "greedily by size. The others have the paper's memory model, in which a "
      "concat copies nothing: its readers read the operands in place. Paper's "
      "rewriting: convolutions behind concats of more than two operands, and "
      "depthwise ones behind concats, are split. Best rewriting: whatever "
      "splits lower the arena. Proved: of the three columns to the left, those "
      "whose arena equals the least peak of any order of their graph.");
  bench_note(b, t,
             "DARTS and SwiftNet are the paper's graphs. Of RandWire the paper "
             "gives the distribution only: ours is drawn by seed %llu, and its "
             "bytes are not to be compared with the paper's.",
             bench_seed(b, 0));
}

/* ---- Without it ---------------------------------------------------------- */

static const bench_column peak_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"stock_peak_bytes", "file order, copied", BENCH_KB},
    {"file_peak_bytes", "file order, elided", BENCH_KB},
    {"level_peak_bytes", "level order", BENCH_KB},
    {"peak_bytes", "best order", BENCH_KB},
    {"paper_sites_peak_bytes", "+paper's rewriting", BENCH_KB},
    {"rewritten_peak_bytes", "+best rewriting", BENCH_KB},
    {"all_sites_peak_bytes", "+all rewriting", BENCH_KB}};

static void add_peaks(bench *b, const bench_peaks *peaks) {
  bench_table *t = bench_table_begin(
      b, "figure15-peaks", "Memory without the allocator: the peak, KB",
      BENCH_COLUMNS(peak_columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_peaks *p = &peaks[id];
    bench_cell_name(b, t, (bench_network_id)id);
    bench_number(b, t, (double)p->stock.peak_bytes);
    bench_number(b, t, (double)p->file.peak_bytes);
    bench_number(b, t, (double)p->level.peak_bytes);
    bench_number(b, t, (double)p->best.peak_bytes);
    bench_number(b, t, (double)p->paper.peak_bytes);
    bench_number(b, t, (double)p->rewritten.peak_bytes);
    bench_number(b, t, (double)p->all.peak_bytes);
  }
  bench_note(b, t,
             "Copied, elided: concats copy, as in runtimes, or cost nothing, "
             "as in the paper's memory model, which all other columns have, "
             "too. Level order: Kahn's algorithm by depth. All rewriting: "
             "every split that there is.");
}

/* ---- What there is to compare with --------------------------------------- */

static const bench_column baseline_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"paper_tflite_bytes", "paper: TFLite", BENCH_KB},
    {"litert_arena_bytes", "LiteRT", BENCH_KB},
    {"stock_arena_bytes", "file order, copied", BENCH_KB},
    {"file_arena_bytes", "file order, elided", BENCH_KB},
    {"level_arena_bytes", "level order", BENCH_KB}};

static void add_baselines(bench *b, const bench_peaks *peaks) {
  bench_table *t =
      bench_table_begin(b, "figure15-baselines", "Baselines: arenas, KB",
                        BENCH_COLUMNS(baseline_columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_peaks *p = &peaks[id];
    bench_cell_name(b, t, (bench_network_id)id);
    bench_number(b, t, 1e3 * bench_paper_cells[id].tflite_kb);
    bench_number(b, t, (double)p->litert.arena_bytes);
    bench_number(b, t, (double)p->stock.arena_bytes);
    bench_number(b, t, (double)p->file.arena_bytes);
    bench_number(b, t, (double)p->level.arena_bytes);
  }
  bench_note(b, t,
             "LiteRT: what the planner of TensorFlow Lite makes of the cell as "
             "a network of its own, whose inputs it keeps. File order, copied "
             "and elided: concats copy, as in runtimes, or cost nothing, as in "
             "the paper's memory model. Level order: Kahn's algorithm by "
             "depth, concats elided. These three are placed greedily by size. "
             "The paper's figures for TensorFlow Lite were not reproduced: "
             "nothing here comes near its 551 KB for cell A of SwiftNet.");
}

/* ---- Proofs -------------------------------------------------------------- */

static const bench_column proof_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"graph", "graph", BENCH_WORDS},
    {"operators", "operators", BENCH_COUNT},
    {"peak_bytes", "peak", BENCH_COUNT},
    {"peak_bound_bytes", "peak bound", BENCH_COUNT},
    {"arena_bytes", "arena", BENCH_COUNT},
    {"arena_bound_bytes", "arena bound", BENCH_COUNT},
    {"states", "states", BENCH_COUNT},
    {"nodes", "nodes", BENCH_COUNT},
    {"no_choice_is_better", "no rewriting is better, because", BENCH_WORDS}};

static void add_proof(bench *b, bench_table *t, bench_network_id id,
                      const char *graph, const bench_outcome *o) {
  bench_cell_name(b, t, id);
  bench_words(b, t, "%s", graph);
  bench_number(b, t, o->op_count);
  bench_number(b, t, (double)o->peak_bytes);
  bench_number(b, t, (double)o->peak_bound_bytes);
  bench_number(b, t, (double)o->arena_bytes);
  bench_number(b, t, (double)o->arena_bound_bytes);
  bench_number(b, t, (double)o->states);
  bench_number(b, t, (double)o->nodes);
  if (o->proof)
    bench_words(b, t, "%s", o->proof);
  else
    bench_nothing(b, t);
}

static void add_proofs(bench *b, const bench_peaks *peaks) {
  bench_table *t =
      bench_table_begin(b, "figure15-proofs", "Proofs: bytes and lower bounds",
                        BENCH_COLUMNS(proof_columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_network_id cell = (bench_network_id)id;
    add_proof(b, t, cell, "original", &peaks[id].best);
    if (peaks[id].rewritten.op_count == peaks[id].best.op_count) continue;
    add_proof(b, t, cell, "paper's rewriting", &peaks[id].paper);
    add_proof(b, t, cell, "best rewriting", &peaks[id].rewritten);
  }
  bench_note(b, t,
             "No order of the graph has a peak below the first bound, and no "
             "arena of any order is below the second. States are those of the "
             "search for an order, nodes those of the placement. Graphs "
             "without anything to rewrite are listed once.");
}

/* ---- The figure ---------------------------------------------------------- */

enum { ARENA_SERIES = 6 };

static calm_status draw_arenas(bench *b, const bench_peaks *peaks) {
  static const char *const names[ARENA_SERIES] = {
      "paper: TensorFlow Lite", "paper: DP + allocator",
      "paper: DP + rewriting",  "file order, greedy placement",
      "best order and arena",   "best, rewritten"};
  double y[ARENA_SERIES][BENCH_CELL_COUNT];
  const char *labels[BENCH_CELL_COUNT];
  chart_series series[ARENA_SERIES];
  TRY(bench_cell_labels(labels, b));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_paper_cell *paper = &bench_paper_cells[id];
    y[0][id] = paper->tflite_kb;
    y[1][id] = paper->dp_kb;
    y[2][id] = paper->rewrite_kb;
    y[3][id] = 1e-3 * (double)peaks[id].stock.arena_bytes;
    y[4][id] = 1e-3 * (double)peaks[id].best.arena_bytes;
    y[5][id] = 1e-3 * (double)peaks[id].rewritten.arena_bytes;
  }
  for (uint32_t i = 0; i < ARENA_SERIES; i++)
    series[i] = chart_bars(names[i], y[i], BENCH_CELL_COUNT);
  const report_chart chart = {.title = "Memory with the allocator",
                              .x_title = "cell",
                              .y_title = "arena, KB",
                              .categories = labels,
                              .category_count = BENCH_CELL_COUNT,
                              .series = series,
                              .series_count = ARENA_SERIES,
                              .log_y = true};
  return bench_draw(b, "figure15", &chart);
}

calm_status bench_serenity_figure15(bench *b) {
  bench_peaks peaks[BENCH_CELL_COUNT];
  TRY(bench_measure_cells(peaks, b));
  add_arenas(b, peaks);
  TRY(bench_add_published(b, peaks));
  add_peaks(b, peaks);
  add_baselines(b, peaks);
  add_proofs(b, peaks);
  TRY(draw_arenas(b, peaks));
  return bench_add_seeds(b);
}
