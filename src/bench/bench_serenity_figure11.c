/*
 * Figure 11: the traffic of each cell at four sizes of on-chip memory, in the
 * file's order and in the order of least peak, what stays being chosen by
 * Belady's rule for both.
 */
#include "bench/bench_serenity_figure11.h"

typedef bench_spills spill_grid[BENCH_CELL_COUNT][BENCH_ALL_SIZES];

/* ---- By cell ------------------------------------------------------------- */

static const bench_column cell_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"copied_spill_bytes", "file order, concats copied", BENCH_KB},
    {"file_spill_bytes", "file order", BENCH_KB},
    {"best_spill_bytes", "least peak order", BENCH_KB},
    {"rewritten_spill_bytes", "+paper's rewriting", BENCH_KB},
    {"reduction", "file / least peak", BENCH_RATIO},
    {"file_page_spill_bytes", "pages: file order", BENCH_KB},
    {"best_page_spill_bytes", "pages: least peak", BENCH_KB},
    {"streaming_operators", "operators that stream", BENCH_COUNT},
    {"operators", "of", BENCH_COUNT}};

static void add_cell(bench *b, bench_table *t, bench_network_id id,
                     uint32_t size, const bench_spills *s) {
  bench_cell_name(b, t, id);
  bench_number(b, t, (double)bench_onchip_bytes[size]);
  bench_number(b, t, (double)s->copied);
  bench_number(b, t, (double)s->file);
  bench_number(b, t, (double)s->best);
  bench_number(b, t, (double)s->rewritten);
  bench_number(b, t, bench_ratio((double)s->file, (double)s->best));
  bench_number(b, t, (double)s->file_pages);
  bench_number(b, t, (double)s->best_pages);
  bench_number(b, t, s->streams);
  bench_number(b, t, s->op_count);
}

static void add_cells(bench *b, spill_grid spills) {
  bench_table *t =
      bench_table_begin(b, "figure11", "Spills (bytes read and written), KB",
                        BENCH_COLUMNS(cell_columns));
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    for (uint32_t size = 0; size < BENCH_SIZES; size++)
      add_cell(b, t, (bench_network_id)id, size, &spills[id][size]);
  bench_note(b, t,
             "Spills: all bytes read and written beyond the first read of the "
             "input, the one write of the output, and weights, which every "
             "order has to move. What stays on chip is chosen by Belady's "
             "rule, for whole tensors as in the paper, or for pages of %d "
             "bytes. On chip: 32, 64, 128 and 256 KiB; the paper says KB and "
             "not which. But for the third column, concats copy nothing.",
             BENCH_PAGE_BYTES);
  bench_note(b, t, "A dash: the least-peak order spills nothing.");
  bench_note(b, t,
             "An operator streams if its operands and results do not fit on "
             "chip together. Which do so depends on the size and not on the "
             "order; where nearly all of them do, as at 32 KiB in cell A of "
             "SwiftNet, a row says little about orders.");
}

/* ---- Means --------------------------------------------------------------- */

static const bench_column mean_columns[] = {
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"model", "model", BENCH_WORDS},
    {"both", "both spill", BENCH_COUNT},
    {"freed", "only file order spills", BENCH_COUNT},
    {"never", "neither spills", BENCH_COUNT},
    {"burdened", "only least peak spills", BENCH_COUNT},
    {"geomean", "geometric mean", BENCH_RATIO},
    {"all", "all bytes", BENCH_RATIO},
    {"paper", "paper", BENCH_RATIO}};

static void add_mean(bench *b, bench_table *t, uint32_t size, const char *model,
                     const bench_reduction *r) {
  const bool is_largest = size % BENCH_SIZES == BENCH_SIZES - 1;
  bench_number(b, t, (double)bench_onchip_bytes[size]);
  bench_words(b, t, "%s", model);
  bench_number(b, t, r->both);
  bench_number(b, t, r->freed);
  bench_number(b, t, r->never);
  bench_number(b, t, r->burdened);
  bench_number(b, t, r->geomean);
  bench_number(b, t, bench_ratio((double)r->file_bytes, (double)r->best_bytes));
  bench_number(b, t, is_largest ? bench_paper_figures[PAPER_traffic_256] : NAN);
}

/* The three comparisons of the file's order with the best one. */
enum { ELIDED, COPIED, PAGES, MODELS };
static const char *const models[MODELS] = {"tensors", "tensors, copied",
                                           "pages"};

static bench_reduction reduce(spill_grid spills, uint32_t size, int model) {
  uint64_t file[BENCH_CELL_COUNT], best[BENCH_CELL_COUNT];
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    const bench_spills *s = &spills[id][size];
    file[id] = model == COPIED  ? s->copied
               : model == PAGES ? s->file_pages
                                : s->file;
    best[id] = model == PAGES ? s->best_pages : s->best;
  }
  return bench_reduce(file, best, BENCH_CELL_COUNT);
}

static void add_means(bench *b, spill_grid spills) {
  bench_table *t = bench_table_begin(
      b, "figure11-means",
      "Reduction of spills over the cells: file order / least-peak",
      BENCH_COLUMNS(mean_columns));
  for (int model = 0; model < MODELS; model++)
    for (uint32_t size = 0; size < BENCH_ALL_SIZES; size++) {
      const bench_reduction r = reduce(spills, size, model);
      add_mean(b, t, size, models[model], &r);
    }
  bench_note(
      b, t,
      "Geometric mean: over the cells that spill in both orders. Where only "
      "the file's order does the quotient is infinite, where neither does "
      "there is none; these are counted and left out. All bytes: the spills of "
      "all cells together, file order over least-peak. Sizes in units of 1000 "
      "bytes are there because the paper's may be.");
}

/* ---- Without any --------------------------------------------------------- */

static const bench_column free_columns[] = {
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"never", "in file order", BENCH_WORDS},
    {"freed", "with the least-peak order", BENCH_WORDS},
    {"freed_rewritten", "with rewriting", BENCH_WORDS}};

typedef enum freedom { SPILLS, FREED, FREED_REWRITTEN, NEVER } freedom;

static freedom freedom_of(const bench_spills *s) {
  if (!s->best) return s->file ? FREED : NEVER;
  return s->rewritten ? SPILLS : FREED_REWRITTEN;
}

static calm_status list_cells(bench *b, bench_table *t, spill_grid spills,
                              uint32_t size, freedom wanted) {
  const char *labels[BENCH_CELL_COUNT];
  text list;
  TRY(bench_cell_labels(labels, b));
  text_init(&list, b->context);
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++)
    if (freedom_of(&spills[id][size]) == wanted)
      text_format(&list, "%s%s", list.length ? ", " : "", labels[id]);
  const bool failed = list.failed;
  if (list.length && !failed)
    bench_words(b, t, "%s", list.data);
  else
    bench_nothing(b, t);
  text_free(&list);
  return failed ? context_no_memory(b->context) : CALM_OK;
}

static calm_status add_free(bench *b, spill_grid spills) {
  bench_table *t =
      bench_table_begin(b, "figure11-free", "Cells that spill nothing",
                        BENCH_COLUMNS(free_columns));
  for (uint32_t size = 0; size < BENCH_SIZES; size++) {
    bench_number(b, t, (double)bench_onchip_bytes[size]);
    TRY(list_cells(b, t, spills, size, NEVER));
    TRY(list_cells(b, t, spills, size, FREED));
    TRY(list_cells(b, t, spills, size, FREED_REWRITTEN));
  }
  bench_note(b, t,
             "Whole tensors; each cell once, in the first column that holds: "
             "it spills nothing in file order, in the least-peak order, or in "
             "that of the rewritten graph.");
  return CALM_OK;
}

/* ---- Over seeds ---------------------------------------------------------- */

static const bench_column seed_columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"onchip_bytes", "on chip", BENCH_COUNT},
    {"both", "both spill", BENCH_COUNT},
    {"freed", "only file order spills", BENCH_COUNT},
    {"never", "neither spills", BENCH_COUNT},
    {"burdened", "only least peak spills", BENCH_COUNT},
    {"geomean", "geometric mean", BENCH_RATIO},
    {"all", "all bytes", BENCH_RATIO}};

typedef struct seed_spills {
  uint64_t file[BENCH_SIZES][BENCH_SEED_COUNT];
  uint64_t best[BENCH_SIZES][BENCH_SEED_COUNT];
} seed_spills;

static calm_status measure_seeds(seed_spills *out, bench *b,
                                 bench_network_id id) {
  bench_progress(b, "traffic of %s by %d seeds", bench_networks[id].name,
                 BENCH_SEED_COUNT);
  for (uint32_t i = 0; i < BENCH_SEED_COUNT; i++) {
    bench_spills s[BENCH_ALL_SIZES];
    TRY(bench_measure_spills(s, b, id, bench_seed(b, i)));
    for (uint32_t size = 0; size < BENCH_SIZES; size++) {
      out->file[size][i] = s[size].file;
      out->best[size][i] = s[size].best;
    }
  }
  return CALM_OK;
}

static void add_seed_row(bench *b, bench_table *t, bench_network_id id,
                         uint32_t size, const seed_spills *s) {
  const bench_reduction r =
      bench_reduce(s->file[size], s->best[size], BENCH_SEED_COUNT);
  bench_cell_name(b, t, id);
  bench_number(b, t, (double)bench_onchip_bytes[size]);
  bench_number(b, t, r.both);
  bench_number(b, t, r.freed);
  bench_number(b, t, r.never);
  bench_number(b, t, r.burdened);
  bench_number(b, t, r.geomean);
  bench_number(b, t, bench_ratio((double)r.file_bytes, (double)r.best_bytes));
}

static calm_status add_seeds(bench *b) {
  bench_table *t = bench_table_begin(
      b, "figure11-randwire",
      "Reduction of spills over seeds: file order / least-peak",
      BENCH_COLUMNS(seed_columns));
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_network_id id = (bench_network_id)i;
    seed_spills s;
    if (!bench_networks[i].seeded) continue;
    TRY(measure_seeds(&s, b, id));
    for (uint32_t size = 0; size < BENCH_SIZES; size++)
      add_seed_row(b, t, id, size, &s);
  }
  bench_note(b, t, "Seeds %llu to %llu, whole tensors.", bench_seed(b, 0),
             bench_seed(b, BENCH_SEED_COUNT - 1));
  return CALM_OK;
}

/* ---- The figure ---------------------------------------------------------- */

static calm_status draw_spills(bench *b, spill_grid spills) {
  static const char *const names[BENCH_SIZES] = {"32 KiB", "64 KiB", "128 KiB",
                                                 "256 KiB"};
  const char *labels[BENCH_CELL_COUNT + 1];
  double y[BENCH_SIZES][BENCH_CELL_COUNT + 1];
  chart_series series[BENCH_SIZES];
  TRY(bench_cell_labels(labels, b));
  labels[BENCH_CELL_COUNT] = "geomean";
  for (uint32_t size = 0; size < BENCH_SIZES; size++) {
    for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
      const bench_spills *s = &spills[id][size];
      y[size][id] = bench_ratio((double)s->file, (double)s->best);
    }
    y[size][BENCH_CELL_COUNT] = reduce(spills, size, ELIDED).geomean;
    series[size] = chart_bars(names[size], y[size], BENCH_CELL_COUNT + 1);
  }
  const chart_mark mark = {"paper, mean at 256 KB",
                           bench_paper_figures[PAPER_traffic_256]};
  const report_chart chart = {
      .title = "Reduction of spills by the least-peak order (no bar: none)",
      .x_title = "cell",
      .y_title = "file order / least-peak order",
      .categories = labels,
      .category_count = BENCH_CELL_COUNT + 1,
      .series = series,
      .series_count = BENCH_SIZES,
      .marks = &mark,
      .mark_count = 1};
  return bench_draw(b, "figure11", &chart);
}

calm_status bench_serenity_figure11(bench *b) {
  spill_grid spills;
  for (uint32_t id = 0; id < BENCH_CELL_COUNT; id++) {
    bench_progress(b, "traffic of %s", bench_networks[id].name);
    TRY(bench_measure_spills(spills[id], b, (bench_network_id)id,
                             bench_seed(b, 0)));
  }
  add_cells(b, spills);
  add_means(b, spills);
  TRY(add_free(b, spills));
  TRY(draw_spills(b, spills));
  TRY(add_seeds(b));
  return bench_add_least(b);
}
