/*
 * Figure 12: the memory of SwiftNet's cell A from step to step.  Without the
 * allocator it is what is live; with it, how far up the arena reaches what is
 * live, so that holes count.
 */
#include "base/number.h"
#include "bench/bench_serenity.h"

/* One way to run the cell.  Steps are those of operators that do something: not
   of a concat that is elided, nor of a sum that its parts make. */
typedef struct curve {
  const char *name;
  uint32_t count;
  double *live_kb, *arena_kb; /* per step */
  bench_outcome outcome;
} curve;

enum { COPIED, ELIDED, BEST, REWRITTEN, CURVES };

/* The highest end of a tensor that lies in the arena at a step. */
static uint64_t reach_at(const calm_plan *plan, uint32_t step) {
  uint64_t reach = 0;
  for (tensor_id t = 0; t < plan->graph->tensors.count; t++) {
    const memory_life *life = &plan->profile.lives[t];
    if (life->counted && life->first <= step && step <= life->last &&
        plan->offsets[t] != UINT64_MAX)
      reach = number_larger(reach, plan->offsets[t] + life->bytes);
  }
  return reach;
}

/* Curves stay as long as the run. */
static calm_status trace(void *curve_out, bench *b, const calm_plan *plan,
                         arena *a) {
  curve *out = curve_out;
  bench_problem problem;
  TRY(bench_problem_of(&problem, plan, a));
  ARENA_ARRAY(&b->arena, out->live_kb, plan->graph->ops.count);
  ARENA_ARRAY(&b->arena, out->arena_kb, plan->graph->ops.count);
  for (uint32_t step = 0; step < plan->graph->ops.count; step++) {
    if (problem.memory.order_op_of[plan->sequence[step]] == CALM_NONE) continue;
    out->live_kb[out->count] = 1e-3 * (double)plan->profile.step_bytes[step];
    out->arena_kb[out->count++] = 1e-3 * (double)reach_at(plan, step);
  }
  out->outcome = bench_outcome_of(plan);
  return CALM_OK;
}

static calm_status trace_all(curve *curves, bench *b) {
  const bench_way *const ways[CURVES] = {&bench_way_stock, &bench_way_file,
                                         &bench_way_best, &bench_way_paper};
  for (uint32_t i = 0; i < CURVES; i++) {
    const bench_task task = {BENCH_SWIFTNET_A, bench_seed(b, 0), ways[i]};
    TRY(bench_with_plan(&curves[i], b, &task, trace));
  }
  return CALM_OK;
}

/* ---- Peaks --------------------------------------------------------------- */

static const bench_column peak_columns[] = {
    {"allocator", "allocator", BENCH_WORDS},
    {"paper_tflite_bytes", "paper: TFLite", BENCH_KB},
    {"paper_dp_bytes", "paper: DP", BENCH_KB},
    {"paper_rewrite_bytes", "paper: +rewriting", BENCH_KB},
    {"paper_reduction_bytes", "paper: saved", BENCH_KB},
    {"copied_bytes", "ours: file order", BENCH_KB},
    {"best_bytes", "ours: best order", BENCH_KB},
    {"rewritten_bytes", "ours: +rewriting", BENCH_KB},
    {"reduction_bytes", "ours: saved", BENCH_KB}};

/* A figure of the paper in bytes; NAN stays NAN. */
static double paper_bytes(bench_paper_id id) {
  return 1e3 * bench_paper_figures[id];
}

static void add_peak_row(bench *b, bench_table *t, const double *kilobytes) {
  for (int i = 0; i < 2; i++) {
    const double *of = kilobytes + 3 * i;
    for (int k = 0; k < 3; k++) bench_number(b, t, of[k]);
    bench_number(b, t, of[1] - of[2]);
  }
}

static void add_peaks(bench *b, const curve *c) {
  bench_table *t = bench_table_begin(
      b, "figure12",
      "SwiftNet cell A: peaks with and without the allocator, KB",
      BENCH_COLUMNS(peak_columns));
  const double with[] = {paper_bytes(PAPER_figure12a_tflite),
                         paper_bytes(PAPER_figure12a_dp),
                         paper_bytes(PAPER_figure12a_rewrite),
                         (double)c[COPIED].outcome.arena_bytes,
                         (double)c[BEST].outcome.arena_bytes,
                         (double)c[REWRITTEN].outcome.arena_bytes};
  const double without[] = {NAN,
                            paper_bytes(PAPER_figure12b_dp),
                            paper_bytes(PAPER_figure12b_rewrite),
                            (double)c[COPIED].outcome.peak_bytes,
                            (double)c[BEST].outcome.peak_bytes,
                            (double)c[REWRITTEN].outcome.peak_bytes};
  bench_words(b, t, "with");
  add_peak_row(b, t, with);
  bench_words(b, t, "without");
  add_peak_row(b, t, without);
  bench_note(
      b, t,
      "Saved: by rewriting, of the best order. The paper's allocator leaves "
      "holes in its arenas. Ours solves order and placement together, and its "
      "arena is the peak, so that it saves with the allocator what the paper "
      "saves without. Rewriting is the paper's.");
}

/* ---- Steps --------------------------------------------------------------- */

static const bench_column step_columns[] = {
    {"step", "step", BENCH_COUNT},
    {"copied_arena_bytes", "arena: copied", BENCH_KB},
    {"elided_arena_bytes", "arena: elided", BENCH_KB},
    {"best_arena_bytes", "arena: best", BENCH_KB},
    {"rewritten_arena_bytes", "arena: rewritten", BENCH_KB},
    {"copied_live_bytes", "live: copied", BENCH_KB},
    {"elided_live_bytes", "live: elided", BENCH_KB},
    {"best_live_bytes", "live: best", BENCH_KB},
    {"rewritten_live_bytes", "live: rewritten", BENCH_KB}};

static void add_step(bench *b, bench_table *t, const curve *curves,
                     uint32_t step) {
  bench_number(b, t, step + 1);
  for (uint32_t i = 0; i < CURVES; i++)
    bench_number(b, t,
                 step < curves[i].count ? 1e3 * curves[i].arena_kb[step] : NAN);
  for (uint32_t i = 0; i < CURVES; i++)
    bench_number(b, t,
                 step < curves[i].count ? 1e3 * curves[i].live_kb[step] : NAN);
}

static void add_steps(bench *b, const curve *curves) {
  uint32_t most = 0;
  bench_table *t = bench_table_begin(b, "figure12-steps",
                                     "SwiftNet cell A, step by step, KB",
                                     BENCH_COLUMNS(step_columns));
  for (uint32_t i = 0; i < CURVES; i++)
    most = curves[i].count > most ? curves[i].count : most;
  for (uint32_t step = 0; step < most; step++) add_step(b, t, curves, step);
  bench_note(
      b, t,
      "Arena: the end of the highest tensor that is live. Live: the sum of all "
      "that are. Copied, elided: the file's order, placed greedily by size, "
      "with concats that copy or that cost nothing. Best, rewritten: the best "
      "order of the graph, and of the graph rewritten as in the paper. Steps "
      "of operators that do nothing are left out.");
}

/* ---- Figures ------------------------------------------------------------- */

static calm_status draw(bench *b, const curve *curves, bool arena_too,
                        const chart_mark *marks, uint32_t mark_count) {
  chart_series series[CURVES];
  for (uint32_t i = 0; i < CURVES; i++)
    series[i] =
        (chart_series){.name = curves[i].name,
                       .kind = CHART_STEPS,
                       .y = arena_too ? curves[i].arena_kb : curves[i].live_kb,
                       .count = curves[i].count};
  const report_chart chart = {
      .title = arena_too ? "SwiftNet cell A with the allocator"
                         : "SwiftNet cell A without the allocator",
      .x_title = "step",
      .y_title = arena_too ? "highest byte in use, KB" : "live, KB",
      .series = series,
      .series_count = CURVES,
      .marks = marks,
      .mark_count = mark_count};
  return bench_draw(b, arena_too ? "figure12a" : "figure12b", &chart);
}

static calm_status draw_both(bench *b, const curve *curves) {
  const double *f = bench_paper_figures;
  const chart_mark with[] = {
      {"paper: TensorFlow Lite", f[PAPER_figure12a_tflite]},
      {"paper: DP", f[PAPER_figure12a_dp]},
      {"paper: DP + rewriting", f[PAPER_figure12a_rewrite]}};
  const chart_mark without[] = {
      {"paper: DP", f[PAPER_figure12b_dp]},
      {"paper: DP + rewriting", f[PAPER_figure12b_rewrite]}};
  TRY(draw(b, curves, true, with, 3));
  return draw(b, curves, false, without, 2);
}

calm_status bench_serenity_figure12(bench *b) {
  curve curves[CURVES] = {{.name = "file order, concats copied"},
                          {.name = "file order, concats elided"},
                          {.name = "best order"},
                          {.name = "best order, rewritten"}};
  bench_progress(b, "planning swiftnet-a step by step");
  TRY(trace_all(curves, b));
  add_peaks(b, curves);
  add_steps(b, curves);
  return draw_both(b, curves);
}
