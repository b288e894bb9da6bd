/*
 * Figure 11, continued: the paper's orders are those of least peak, and what
 * they move is a by-product.  Here orders and what stays are searched for the
 * sake of the traffic, which says how much there was to gain.
 */
#include "base/number.h"
#include "bench/bench_serenity_figure11.h"

/* Of one search: for one cell, size and purpose. */
enum { MOST_TICKS = 60000000 };

/* Bytes spilled. */
typedef struct least {
  uint64_t file, best;               /* of these orders, by Belady's rule */
  uint64_t file_chosen, best_chosen; /* ... by the best choice of what stays */
  uint64_t bytes, bound_bytes;       /* of any order */
  bool proved;
  bool file_proved, best_proved; /* no choice is better for that order */
} least;

typedef least least_grid[BENCH_CELL_COUNT][BENCH_SIZES];

/* Orders searched (traffic_minimize), or what stays in one (traffic_choose). */
typedef calm_status search(traffic_order *out, const traffic_problem *p,
                           const traffic_memory *memory,
                           const uint32_t *sequence,
                           const traffic_options *options, arena *a, limits *l);

static calm_status run_search(traffic_order *out, search *run, bench *b,
                              const traffic_problem *p,
                              const traffic_memory *memory,
                              const uint32_t *sequence, arena *a) {
  traffic_options o = traffic_options_default();
  limits l;
  bench_limits(&l, b, MOST_TICKS);
  o.seed = b->options->seed;
  TRY(run(out, p, memory, sequence, &o, a, &l));
  bench_searched(b, l.reason);
  return bench_check_traffic(p, out->sequence, memory, &out->result, a);
}

/* The order of least traffic is looked for from that of least peak. */
static calm_status measure_size(least *out, const bench_traffic *t,
                                uint32_t size, bench *b, arena *a) {
  const traffic_memory memory = {bench_onchip_bytes[size], 0};
  const traffic_problem *p = &t->problem;
  traffic_order file, best, any;
  TRY(bench_count_spills(&out->file, NULL, p, t->file, &memory, a));
  TRY(bench_count_spills(&out->best, NULL, p, t->best, &memory, a));
  TRY(run_search(&file, traffic_choose, b, p, &memory, t->file, a));
  TRY(run_search(&best, traffic_choose, b, p, &memory, t->best, a));
  TRY(run_search(&any, traffic_minimize, b, p, &memory, t->best, a));
  out->file_chosen = traffic_spills(&file.result.total);
  out->best_chosen = traffic_spills(&best.result.total);
  out->file_proved = file.outcome == CALM_OPTIMAL;
  out->best_proved = best.outcome == CALM_OPTIMAL;
  out->bytes = traffic_spills(&any.result.total);
  out->bytes = number_smaller(out->bytes, out->file_chosen);
  out->bytes = number_smaller(out->bytes, out->best_chosen);
  out->bound_bytes = any.bound_bytes;
  out->proved = out->bytes == out->bound_bytes;
  return CALM_OK;
}

static calm_status measure_sizes(void *out, bench *b, const calm_plan *plan,
                                 arena *a) {
  least *of_size = out;
  bench_traffic t;
  TRY(bench_traffic_of(&t, plan, a));
  for (uint32_t size = 0; size < BENCH_SIZES; size++)
    TRY(measure_size(&of_size[size], &t, size, b, a));
  return CALM_OK;
}

static calm_status measure(least *out, bench *b, bench_network_id id) {
  const bench_task task = {id, bench_seed(b, 0), &bench_way_best};
  bench_progress(b, "least traffic of %s", bench_networks[id].name);
  return bench_with_plan(out, b, &task, measure_sizes);
}

/* ---- Tables -------------------------------------------------------------- */

static const bench_column columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"file_spill_bytes", "file order: Belady", BENCH_KB},
    {"file_chosen_spill_bytes", "file order: optimal", BENCH_KB},
    {"best_spill_bytes", "least peak: Belady", BENCH_KB},
    {"best_chosen_spill_bytes", "least peak: optimal", BENCH_KB},
    {"least_spill_bytes", "any order: found", BENCH_KB},
    {"bound_bytes", "any order: bound", BENCH_KB},
    {"proved", "proved", BENCH_WORDS},
    {"order_share", "by order alone", BENCH_SHARE}};

/* Of what least traffic saves of the file's order, the part that no choice of
   what stays saves in that order. */
static double order_share(const least *m) {
  if (!m->file_proved || !m->proved) return NAN;
  return bench_ratio((double)(m->file_chosen - m->bytes),
                     (double)(m->file - m->bytes));
}

static void add_row(bench *b, bench_table *t, bench_network_id id,
                    uint32_t size, const least *m) {
  bench_cell_name(b, t, id);
  bench_number(b, t, (double)bench_onchip_bytes[size]);
  bench_number(b, t, (double)m->file);
  bench_number(b, t, m->file_proved ? (double)m->file_chosen : NAN);
  bench_number(b, t, (double)m->best);
  bench_number(b, t, m->best_proved ? (double)m->best_chosen : NAN);
  bench_number(b, t, (double)m->bytes);
  bench_number(b, t, (double)m->bound_bytes);
  bench_words(b, t, m->proved ? "yes" : "no");
  bench_number(b, t, order_share(m));
}

/* Cells that spill in neither order say nothing. */
static void add_cells(bench *b, least_grid m) {
  bench_table *t =
      bench_table_begin(b, "figure11-least", "Least spills over all orders, KB",
                        BENCH_COLUMNS(columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    for (uint32_t size = 0; size < BENCH_SIZES; size++)
      if (m[id][size].file || m[id][size].best)
        add_row(b, t, (bench_network_id)id, size, &m[id][size]);
  bench_note(b, t,
             "Whole tensors. Belady: what stays on chip is chosen by Belady's "
             "rule. Optimal: by the best choice for that order, where that is "
             "proved. Any order: order and choice are searched together, from "
             "the least-peak order, within %.3g million ticks; the bound holds "
             "for all orders and choices, and where it is not reached nothing "
             "is proved. By order alone: of what the file order spills by "
             "Belady's rule and the least does not, the share that no better "
             "choice saves in the file order, where all is proved. Cells that "
             "spill in neither order are left out.",
             (double)number_smaller(MOST_TICKS, b->options->tick_limit) * 1e-6);
}

static const bench_column mean_columns[] = {
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"both", "both spill", BENCH_COUNT},
    {"freed", "only file order spills", BENCH_COUNT},
    {"proved", "proved", BENCH_COUNT},
    {"file_over_least", "file order / least traffic", BENCH_RATIO},
    {"peak_over_least", "least peak / least traffic", BENCH_RATIO}};

static void add_means(bench *b, least_grid m) {
  bench_table *t =
      bench_table_begin(b, "figure11-least-means",
                        "Reduction of spills by the least-traffic order",
                        BENCH_COLUMNS(mean_columns));
  for (uint32_t size = 0; size < BENCH_SIZES; size++) {
    uint64_t file[BENCH_CELL_COUNT], best[BENCH_CELL_COUNT];
    uint64_t bytes[BENCH_CELL_COUNT];
    uint32_t proved = 0;
    for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
      file[id] = m[id][size].file;
      best[id] = m[id][size].best;
      bytes[id] = m[id][size].bytes;
      proved += m[id][size].proved;
    }
    const bench_reduction r = bench_reduce(file, bytes, BENCH_CELL_COUNT);
    bench_number(b, t, (double)bench_onchip_bytes[size]);
    bench_number(b, t, r.both);
    bench_number(b, t, r.freed);
    bench_number(b, t, proved);
    bench_number(b, t, r.geomean);
    bench_number(b, t, bench_reduce(best, bytes, BENCH_CELL_COUNT).geomean);
  }
  bench_note(b, t, "Geometric means, as in figure11-means; all %d cells.",
             BENCH_CELL_COUNT);
}

calm_status bench_add_least(bench *b) {
  least_grid m;
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    TRY(measure(m[id], b, (bench_network_id)id));
  add_cells(b, m);
  add_means(b, m);
  return CALM_OK;
}
