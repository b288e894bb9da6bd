/*
 * Figure 13: how long it takes to find an order, by the paper's method and by
 * ours, beside what the paper reports for its own program in Python on its own
 * machine.
 */
#include "bench/bench_serenity_search.h"

/* One graph of one cell. */
typedef struct timing {
  uint32_t op_count; /* of the order problem */
  bench_search dp, exact;
  double plan_seconds; /* rewriting, order, arena and all checks */
} timing;

enum { AS_IS, REWRITTEN, GRAPHS };

static calm_status measure_searches(timing *out, bench *b,
                                    const calm_plan *plan) {
  const order_options dp = bench_dp_options(true, true);
  const order_options exact = order_options_default();
  bench_problem p;
  arena scratch;
  arena_init(&scratch, b->context);
  calm_status status = bench_problem_of(&p, plan, &scratch);
  if (status == CALM_OK) {
    out->op_count = p.memory.order.op_count;
    status = bench_search_order(&out->dp, b, &p.memory.order, &dp);
  }
  if (status == CALM_OK)
    status = bench_search_order(&out->exact, b, &p.memory.order, &exact);
  arena_free(&scratch);
  return status;
}

/* The last of the plans is searched once more, by itself. */
static calm_status measure_graph(timing *out, bench *b, calm_model *model,
                                 const bench_way *way) {
  enum { RUNS = 5 };
  double seconds[RUNS];
  calm_status status = CALM_OK;
  const uint32_t runs = b->timing ? RUNS : 1;
  for (uint32_t i = 0; i < runs && status == CALM_OK; i++) {
    calm_plan *plan;
    const double start = limits_clock();
    TRY(bench_serenity_plan(&plan, b, model, way));
    seconds[i] = limits_clock() - start;
    if (i + 1 == runs) status = measure_searches(out, b, plan);
    calm_plan_free(plan);
  }
  out->plan_seconds = bench_median(seconds, runs);
  return status;
}

static calm_status measure_cell(timing *out, bench *b, bench_network_id id) {
  calm_model *model;
  TRY(bench_network_open(&model, b->context, id, bench_seed(b, 0),
                         BENCH_NODES));
  calm_status status = measure_graph(&out[AS_IS], b, model, &bench_way_best);
  if (status == CALM_OK)
    status = measure_graph(&out[REWRITTEN], b, model, &bench_way_paper);
  calm_model_free(model);
  return status;
}

/* ---- The table ----------------------------------------------------------- */

static const bench_column columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"graph", "graph", BENCH_WORDS},
    {"operators", "operators", BENCH_COUNT},
    {"dp_states", "DP: states", BENCH_COUNT},
    {"dp_ticks", "DP: ticks", BENCH_COUNT},
    {"exact_states", "exact: states", BENCH_COUNT},
    {"exact_ticks", "exact: ticks", BENCH_COUNT},
    {"paper_seconds", "paper, s", BENCH_REAL},
    {"dp_seconds", "DP, s", BENCH_SECONDS},
    {"exact_seconds", "exact, s", BENCH_SECONDS},
    {"plan_seconds", "whole plan, s", BENCH_SECONDS}};

static double paper_seconds(bench_network_id id, int graph) {
  return graph == AS_IS ? bench_paper_cells[id].dp_seconds
                        : bench_paper_cells[id].rewrite_seconds;
}

static void add_search(bench *b, bench_table *t, const bench_search *s) {
  bench_number(b, t, s->solved ? (double)s->states : NAN);
  bench_number(b, t, (double)s->ticks);
}

static void add_row(bench *b, bench_table *t, bench_network_id id, int graph,
                    const timing *m) {
  bench_cell_name(b, t, id);
  bench_words(b, t, graph == AS_IS ? "original" : "paper's rewriting");
  bench_number(b, t, m->op_count);
  add_search(b, t, &m->dp);
  add_search(b, t, &m->exact);
  bench_number(b, t, paper_seconds(id, graph));
  bench_number(b, t, m->dp.solved ? m->dp.seconds : NAN);
  bench_number(b, t, m->exact.solved ? m->exact.seconds : NAN);
  bench_number(b, t, m->plan_seconds);
}

/* ---- Means --------------------------------------------------------------- */

typedef struct means {
  double paper, dp, exact, plan;
} means;

static means means_of(const timing (*m)[GRAPHS], int graph) {
  means sum = {
      .paper =
          bench_paper_figures[graph == AS_IS ? PAPER_mean_dp_seconds
                                             : PAPER_mean_rewrite_seconds]};
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    sum.dp += m[id][graph].dp.seconds / BENCH_CELL_COUNT;
    sum.exact += m[id][graph].exact.seconds / BENCH_CELL_COUNT;
    sum.plan += m[id][graph].plan_seconds / BENCH_CELL_COUNT;
  }
  return sum;
}

static const bench_column mean_columns[] = {
    {"graph", "graph", BENCH_WORDS},
    {"paper_seconds", "paper, s", BENCH_REAL},
    {"dp_seconds", "DP, s", BENCH_SECONDS},
    {"exact_seconds", "exact, s", BENCH_SECONDS},
    {"plan_seconds", "whole plan, s", BENCH_SECONDS},
    {"paper_over_dp", "paper / DP", BENCH_SECONDS},
    {"paper_over_exact", "paper / exact", BENCH_SECONDS},
    {"paper_over_plan", "paper / plan", BENCH_SECONDS}};

static void add_means(bench *b, const timing (*m)[GRAPHS]) {
  bench_table *t = bench_table_begin(
      b, "figure13-means", "Time to find an order: means over the cells",
      BENCH_COLUMNS(mean_columns));
  for (int graph = 0; graph < GRAPHS; graph++) {
    const means s = means_of(m, graph);
    bench_words(b, t, graph == AS_IS ? "original" : "paper's rewriting");
    bench_number(b, t, s.paper);
    bench_number(b, t, s.dp);
    bench_number(b, t, s.exact);
    bench_number(b, t, s.plan);
    bench_number(b, t, bench_ratio(s.paper, s.dp));
    bench_number(b, t, bench_ratio(s.paper, s.exact));
    bench_number(b, t, bench_ratio(s.paper, s.plan));
  }
  bench_note(b, t,
             "Arithmetic means, as in the paper. Its figures are of a program "
             "in Python on another machine, in another year; a quotient says "
             "as much about these as about the method.");
}

/* ---- The figure ---------------------------------------------------------- */

enum { TIME_SERIES = 4 };

static calm_status draw_times(bench *b, const timing (*m)[GRAPHS]) {
  static const char *const names[TIME_SERIES] = {
      "paper: DP", "paper: DP + rewriting", "ours: whole plan",
      "ours: whole plan, rewritten"};
  const char *labels[BENCH_CELL_COUNT];
  double y[TIME_SERIES][BENCH_CELL_COUNT];
  chart_series series[TIME_SERIES];
  TRY(bench_cell_labels(labels, b));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    y[0][id] = bench_paper_cells[id].dp_seconds;
    y[1][id] = bench_paper_cells[id].rewrite_seconds;
    y[2][id] = m[id][AS_IS].plan_seconds;
    y[3][id] = m[id][REWRITTEN].plan_seconds;
  }
  for (uint32_t i = 0; i < TIME_SERIES; i++)
    series[i] = chart_bars(names[i], y[i], BENCH_CELL_COUNT);
  const report_chart chart = {.title = "Time to schedule",
                              .x_title = "cell",
                              .y_title = "seconds",
                              .categories = labels,
                              .category_count = BENCH_CELL_COUNT,
                              .series = series,
                              .series_count = TIME_SERIES,
                              .log_y = true};
  return bench_draw(b, "figure13", &chart);
}

calm_status bench_serenity_figure13(bench *b) {
  timing m[BENCH_CELL_COUNT][GRAPHS] = {0};
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    bench_progress(b, "searching orders of %s", bench_networks[id].name);
    TRY(measure_cell(m[id], b, (bench_network_id)id));
  }
  bench_table *t = bench_table_begin(b, "figure13", "Time to find an order",
                                     BENCH_COLUMNS(columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    for (int graph = 0; graph < GRAPHS; graph++)
      if (graph == AS_IS || m[id][graph].op_count != m[id][AS_IS].op_count)
        add_row(b, t, (bench_network_id)id, graph, &m[id][graph]);
  bench_note(
      b, t,
      "DP: the paper's dynamic programming with divide and conquer and "
      "budgets. Exact: our own search. Both prove the optimum. A tick is about "
      "one examined element. Whole plan: rewriting, order, arena and all "
      "checks. Seconds are medians of five runs. RandWire has nothing to "
      "rewrite. The paper's 8.4 s for DARTS rewritten is not verified.");
  if (!b->timing) return CALM_OK;
  add_means(b, (const timing(*)[GRAPHS])m);
  return draw_times(b, (const timing(*)[GRAPHS])m);
}
