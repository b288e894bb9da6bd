/* SERENITY's sections: what is known to the byte comes out of the code that
   fills the tables. */
#include <string.h>

#include "bench/bench_serenity_search.h"
#include "bench/bench_serenity_figure11.h"
#include "bench_fixture.h"
#include "bench_scarce.h"

static void run_on(bench_desk *d, const char *only) {
  if (bench_run(&d->benchmark.run, &bench_papers[0], only))
    fail_msg("%s", calm_context_message(d->context));
}

static void run_sections(bench_desk *d, const char *only) {
  desk_open(d, false);
  run_on(d, only);
}

static const bench_table *find_table(const bench_desk *d, const char *name) {
  for (uint32_t i = 0; i < d->benchmark.run.tables.count; i++)
    if (!strcmp(d->benchmark.run.tables.data[i]->name, name))
      return d->benchmark.run.tables.data[i];
  fail_msg("no table %s", name);
  return NULL;
}

static uint32_t find_column(const bench_table *t, const char *name) {
  for (uint32_t c = 0; c < t->column_count; c++)
    if (!strcmp(t->columns[c].name, name)) return c;
  fail_msg("no column %s in %s", name, t->name);
  return 0;
}

static const bench_cell *at(const bench_table *t, uint32_t row,
                            const char *column) {
  assert_true((row + 1) * t->column_count <= t->cells.count);
  return &t->cells.data[row * t->column_count + find_column(t, column)];
}

/* ---- Memory -------------------------------------------------------------- */

/* Bytes of the graphs that are public; a rewritten
   one by the paper's sites, and by whatever pays. */
typedef struct golden {
  bench_network_id id;
  uint64_t best, paper, rewritten;
} golden;

static const golden goldens[] = {
    {BENCH_DARTS_NORMAL, 903168, 752640, 752640},
    {BENCH_SWIFTNET_A, 200704, 188160, 188160},
    {BENCH_SWIFTNET_B, 81536, 56448, 53312},
    {BENCH_SWIFTNET_C, 32536, 17052, 16856},
};
enum { GOLDENS = sizeof goldens / sizeof *goldens };

static void assert_proved(const bench_outcome *o, uint64_t bytes) {
  assert_int_equal(o->peak_bytes, bytes);
  assert_int_equal(o->peak_bound_bytes, bytes);
  assert_int_equal(o->arena_bytes, bytes);
  assert_int_equal(o->arena_bound_bytes, bytes);
  assert_true(o->peak_proved && o->arena_proved);
}

static void golden_bytes(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, false);
  for (uint32_t i = 0; i < GOLDENS; i++) {
    bench_peaks p;
    assert_int_equal(
        bench_measure_peaks(&p, &d.benchmark.run, goldens[i].id, 1), CALM_OK);
    assert_proved(&p.best, goldens[i].best);
    assert_proved(&p.paper, goldens[i].paper);
    assert_proved(&p.rewritten, goldens[i].rewritten);
    assert_proved(&p.all, goldens[i].rewritten);
    assert_non_null(p.rewritten.proof);
  }
  desk_close(&d);
}

/* Of an order of the file nothing is better than the best; elided concats cost
   no more than copied ones. */
static void baselines_are_above(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, false);
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    bench_peaks p;
    assert_int_equal(
        bench_measure_peaks(&p, &d.benchmark.run, (bench_network_id)i, 1),
        CALM_OK);
    assert_true(p.file.peak_bytes <= p.stock.peak_bytes);
    assert_true(p.best.peak_bytes <= p.file.peak_bytes);
    assert_true(p.best.peak_bytes <= p.level.peak_bytes);
    assert_true(p.rewritten.arena_bytes <= p.best.arena_bytes);
    assert_true(p.best.arena_bytes <= p.file.arena_bytes);
  }
  desk_close(&d);
}

/* "at or below" for each published arena, and nothing left to prove. */
static void published_arenas_hold(void **state) {
  (void)state;
  bench_desk d;
  run_sections(&d, "figure15");
  const bench_table *t = find_table(&d, "figure15-published");
  assert_int_equal(t->cells.count, 12 * t->column_count);
  for (uint32_t row = 0; row < 12; row++)
    assert_string_equal(at(t, row, "holds")->words, "yes");
  assert_string_equal(at(t, 3, "published_kb")->words, "250.9");
  assert_true(fabs(at(t, 3, "saved")->number - (1 - 200.704 / 250.9)) < 1e-12);
  t = find_table(&d, "figure15");
  for (uint32_t row = 0; row < BENCH_CELL_COUNT; row++)
    assert_string_equal(at(t, row, "proved")->words, "all");
  t = find_table(&d, "figure15-randwire");
  for (uint32_t row = 0; row < 5; row++) {
    assert_string_equal(at(t, row, "proved")->words, "20 of 20");
    assert_true(at(t, row, "ratio_least")->number >= 1);
    assert_true(at(t, row, "ratio_geomean")->number <=
                at(t, row, "ratio_most")->number);
  }
  desk_close(&d);
}

/* The paper's means follow from its ratios. */
static void figures_of_the_paper(void **state) {
  (void)state;
  double dp[BENCH_CELL_COUNT], rewrite[BENCH_CELL_COUNT], seconds = 0;
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_paper_cell *c = &bench_paper_cells[i];
    dp[i] = c->dp_ratio;
    rewrite[i] = c->rewrite_ratio;
    seconds += c->dp_seconds / BENCH_CELL_COUNT;
    assert_true(fabs(c->tflite_kb / c->dp_kb - c->dp_ratio) < 0.04);
    assert_true(fabs(c->tflite_kb / c->rewrite_kb - c->rewrite_ratio) < 0.06);
  }
  const double *f = bench_paper_figures;
  assert_true(fabs(bench_geomean(dp, BENCH_CELL_COUNT) - f[PAPER_geomean_dp]) <
              0.005);
  assert_true(fabs(bench_geomean(rewrite, BENCH_CELL_COUNT) -
                   f[PAPER_geomean_rewrite]) < 0.01);
  assert_true(fabs(seconds - f[PAPER_mean_dp_seconds]) < 0.05);
}

/* ---- Over time ----------------------------------------------------------- */

/* Figure 12: rewriting saves 12,544 bytes of cell A, with the allocator and
   without, and curves reach their peaks. */
static void curves_of_cell_a(void **state) {
  (void)state;
  static const char *const columns[] = {"best_arena_bytes", "best_live_bytes",
                                        "rewritten_arena_bytes",
                                        "rewritten_live_bytes"};
  static const double most[] = {200704, 200704, 188160, 188160};
  bench_desk d;
  run_sections(&d, "figure12");
  const bench_table *t = find_table(&d, "figure12");
  for (uint32_t row = 0; row < 2; row++) {
    assert_true(at(t, row, "reduction_bytes")->number == 12544);
    assert_true(at(t, row, "best_bytes")->number == 200704);
  }
  t = find_table(&d, "figure12-steps");
  for (int i = 0; i < 4; i++) {
    double found = 0;
    for (uint32_t row = 0; row < t->cells.count / t->column_count; row++)
      found = fmax(found, at(t, row, columns[i])->number);
    assert_true(fabs(found - most[i]) < 1e-6);
  }
  desk_close(&d);
}

/* ---- Traffic ------------------------------------------------------------- */

/* No order spills where its peak fits. */
static void spills_follow_peaks(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, false);
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_network_id id = (bench_network_id)i;
    bench_spills s[BENCH_ALL_SIZES];
    bench_peaks p;
    assert_int_equal(bench_measure_spills(s, &d.benchmark.run, id, 1), CALM_OK);
    assert_int_equal(bench_measure_peaks(&p, &d.benchmark.run, id, 1), CALM_OK);
    for (uint32_t k = 0; k < BENCH_ALL_SIZES; k++) {
      const uint64_t bytes = bench_onchip_bytes[k];
      if (p.stock.peak_bytes <= bytes) assert_int_equal(s[k].copied, 0);
      if (p.file.peak_bytes <= bytes) assert_int_equal(s[k].file, 0);
      if (p.best.peak_bytes <= bytes) assert_int_equal(s[k].best, 0);
      if (p.paper.peak_bytes <= bytes) assert_int_equal(s[k].rewritten, 0);
    }
  }
  desk_close(&d);
}

/* Where the best order needs nothing and that of the file does. */
static void spared_cells(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, false);
  bench_spills s[BENCH_ALL_SIZES];
  assert_int_equal(
      bench_measure_spills(s, &d.benchmark.run, BENCH_SWIFTNET_A, 1), CALM_OK);
  assert_true(s[3].file > 0);
  assert_int_equal(s[3].best, 0);
  assert_int_equal(
      bench_measure_spills(s, &d.benchmark.run, BENCH_SWIFTNET_C, 1), CALM_OK);
  assert_true(s[0].file > 0);
  assert_int_equal(s[0].best, 0);
  desk_close(&d);
}

/* From bound to Belady's rule nothing gets smaller; small cells are proved. */
static void least_is_between(void **state) {
  (void)state;
  static const char *const rising[] = {"bound_bytes", "least_spill_bytes",
                                       "best_chosen_spill_bytes",
                                       "best_spill_bytes"};
  bench_desk d;
  desk_open(&d, false);
  assert_int_equal(calm_options_set(d.options, "tick-limit", "12000000"),
                   CALM_OK);
  run_on(&d, "figure11");
  const bench_table *t = find_table(&d, "figure11-least");
  const uint32_t rows = t->cells.count / t->column_count;
  for (uint32_t row = 0; row < rows; row++) {
    for (int i = 1; i < 4; i++)
      assert_true(at(t, row, rising[i - 1])->number <=
                  at(t, row, rising[i])->number);
    assert_true(at(t, row, "file_chosen_spill_bytes")->number <=
                at(t, row, "file_spill_bytes")->number);
    assert_true(at(t, row, "least_spill_bytes")->number <=
                at(t, row, "file_chosen_spill_bytes")->number);
    if (!strncmp(at(t, row, "cell")->words, "SwiftNet", 8))
      assert_string_equal(at(t, row, "proved")->words, "yes");
  }
  desk_close(&d);
}

static void reductions_are_counted(void **state) {
  (void)state;
  static const uint64_t file[] = {8, 18, 5, 0, 0};
  static const uint64_t best[] = {4, 2, 0, 0, 3};
  const bench_reduction r = bench_reduce(file, best, 5);
  assert_int_equal(r.both, 2);
  assert_int_equal(r.freed, 1);
  assert_int_equal(r.never, 1);
  assert_int_equal(r.burdened, 1);
  assert_true(fabs(r.geomean - sqrt(18)) < 1e-12);
  assert_int_equal(r.file_bytes, 31);
  assert_int_equal(r.best_bytes, 9);
  assert_true(isnan(bench_reduce(file, best, 0).geomean));
}

/* ---- Time ---------------------------------------------------------------- */

/* Table 2: the paper's nodes, and the states of its algorithm. */
/* Millions of states: not where hashes collide, nor where each is watched. */
enum { SLOW = CALM_HOSTILE || CALM_SANITIZED };

static void nodes_and_states(void **state) {
  (void)state;
  bench_desk d;
  if (SLOW) skip();
  run_sections(&d, "table2");
  const bench_table *t = find_table(&d, "table2");
  assert_string_equal(at(t, 0, "nodes")->words, "62 {21, 19, 22}");
  assert_string_equal(at(t, 5, "nodes")->words, "91 {33, 28, 30}");
  assert_string_equal(at(t, 10, "nodes")->words, "101 {38, 31, 32}");
  for (uint32_t row = 0; row < 15; row++)
    assert_true(at(t, row, "peak_bytes")->number ==
                (row < 5 ? 200704 : 188160));
  t = find_table(&d, "table2-cells");
  assert_true(at(t, 2, "dp_states")->number == 1345);
  assert_true(at(t, 3, "dp_states")->number == 324273);
  assert_true(at(t, 4, "dp_states")->number == 1259);
  assert_true(at(t, 6, "dp_states")->number == 8645);
  desk_close(&d);
}

/* ---- All of it ----------------------------------------------------------- */

static bool same_cell(const bench_cell *a, const bench_cell *b) {
  if (a->words || b->words)
    return a->words && b->words && !strcmp(a->words, b->words);
  return isnan(a->number) ? isnan(b->number) : a->number == b->number;
}

/* Cells of columns of seconds differ; all others repeat. */
static void figures_repeat(void **state) {
  (void)state;
  const char *sections =
      SLOW ? "figure10,figure12" : "figure10,figure12,figure13";
  bench_desk x, y;
  run_sections(&x, sections);
  run_sections(&y, sections);
  assert_int_equal(x.benchmark.run.tables.count, y.benchmark.run.tables.count);
  for (uint32_t i = 0; i < x.benchmark.run.tables.count; i++) {
    const bench_table *s = x.benchmark.run.tables.data[i],
                      *t = y.benchmark.run.tables.data[i];
    assert_int_equal(s->cells.count, t->cells.count);
    for (uint32_t k = 0; k < s->cells.count; k++)
      if (s->columns[k % s->column_count].kind != BENCH_SECONDS)
        assert_true(same_cell(&s->cells.data[k], &t->cells.data[k]));
  }
  assert_int_equal(x.benchmark.run.figures.count,
                   y.benchmark.run.figures.count);
  for (uint32_t i = 0; i < x.benchmark.run.figures.count; i++)
    assert_string_equal(x.benchmark.run.figures.data[i].svg,
                        y.benchmark.run.figures.data[i].svg);
  desk_close(&x);
  desk_close(&y);
}

/* All but those that take long. */
static void memory_runs_out(void **state) {
  static const char *const sections[] = {"table1",   "figure3b", "figure10",
                                         "figure12", "figure15", "figure13"};
  const size_t count = sizeof sections / sizeof *sections - SLOW;
  (void)state;
  for (size_t i = 0; i < count; i++)
    bench_scarce(&bench_papers[0], sections[i], NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_bytes),
      cmocka_unit_test(baselines_are_above),
      cmocka_unit_test(published_arenas_hold),
      cmocka_unit_test(figures_of_the_paper),
      cmocka_unit_test(curves_of_cell_a),
      cmocka_unit_test(spills_follow_peaks),
      cmocka_unit_test(spared_cells),
      cmocka_unit_test(least_is_between),
      cmocka_unit_test(reductions_are_counted),
      cmocka_unit_test(nodes_and_states),
      cmocka_unit_test(figures_repeat),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
