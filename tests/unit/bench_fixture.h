/*
 * A paper of our own, with two sections: one of a table that has all kinds of
 * columns, values that are not there and words that need care, and one of a
 * figure and a table that is wider than a terminal.
 */
#ifndef CALM_TESTS_BENCH_FIXTURE_H
#define CALM_TESTS_BENCH_FIXTURE_H

#include <math.h>
#include <stdarg.h>
#include <string.h>
/* cmocka wants these before it */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench_output.h"

static const bench_column kinds_columns[] = {
    {"network", "network", BENCH_WORDS},
    {"states", "states", BENCH_COUNT},
    {"peak_bytes", "peak KB", BENCH_KB},
    {"ratio", "times less", BENCH_RATIO},
    {"share", "share of orders", BENCH_SHARE},
    {"real", "any", BENCH_REAL},
    {"seconds", "s", BENCH_SECONDS}};

static inline calm_status run_kinds(bench *b) {
  bench_table *t =
      bench_table_begin(b, "kinds", "All kinds of columns.", kinds_columns, 7);
  bench_words(b, t, "SwiftNet %s", "A");
  bench_number(b, t, 301056);
  bench_number(b, t, 200704);
  bench_number(b, t, 1.68);
  bench_number(b, t, 0.0466);
  bench_number(b, t, 0.1);
  bench_number(b, t, 0.25);
  bench_words(b, t, "a \"b\", c|d");
  for (int i = 0; i < 6; i++) bench_nothing(b, t);
  bench_note(b, t, "Made of `%s`.  Again.", "swiftnet.cg");
  return CALM_OK;
}

static const bench_column wide_columns[] = {
    {"layer", "layer", BENCH_WORDS},
    {"a", "a title of many words", BENCH_REAL},
    {"b", "unbreakablebutlong", BENCH_REAL},
    {"c", "unbreakablebutlong", BENCH_REAL},
    {"d", "unbreakablebutlong", BENCH_REAL},
    {"e", "unbreakablebutlong", BENCH_REAL},
    {"f", "unbreakablebutlong", BENCH_REAL}};

static inline calm_status run_wide(bench *b) {
  const double y[] = {1, 2, 3};
  const chart_series series = {"s", CHART_LINES, NULL, y, 3};
  const report_chart chart = {.title = "Three points",
                              .x_title = "x",
                              .y_title = "y",
                              .series = &series,
                              .series_count = 1};
  bench_table *t = bench_table_begin(b, "wide", "Too wide.", wide_columns, 7);
  bench_words(b, t, "first");
  for (int i = 1; i < 7; i++) bench_number(b, t, i);
  return bench_draw(b, "three", &chart);
}

static const bench_section own_sections[] = {{"one", "One thing", run_kinds},
                                             {"two", "Another", run_wide},
                                             {NULL, NULL, NULL}};
static const bench_paper own_paper = {
    "own", "A paper of *ours*", own_sections, true, NULL, NULL};

/* A run of the paper, with its options. */
typedef struct bench_desk {
  calm_context *context;
  calm_options *options;
  calm_benchmark benchmark;
  text out;
} bench_desk;

static inline void desk_open(bench_desk *d, bool timing) {
  *d = (bench_desk){.context = calm_context_new(NULL)};
  assert_int_equal(calm_options_new(&d->options, d->context), CALM_OK);
  assert_int_equal(
      calm_options_set(d->options, "timing", timing ? "on" : "off"), CALM_OK);
  d->benchmark = (calm_benchmark){.context = d->context, .paper = &own_paper};
  bench_init(&d->benchmark.run, d->context, d->options);
  text_init(&d->out, d->context);
}

static inline void desk_run(bench_desk *d, const char *only) {
  assert_int_equal(bench_run(&d->benchmark.run, &own_paper, only), CALM_OK);
}

static inline void desk_close(bench_desk *d) {
  text_free(&d->out);
  bench_free(&d->benchmark.run);
  calm_options_free(d->options);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
}

#endif
