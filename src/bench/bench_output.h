/*
 * Tables of a run in the forms that they go out in.  What is shown of a cell
 * depends on its column alone: people see few digits, programs all of them.
 * Columns of seconds are there only if the run was to measure them.
 */
#ifndef CALM_BENCH_BENCH_OUTPUT_H
#define CALM_BENCH_BENCH_OUTPUT_H

#include "bench/bench.h"
#include "report/report_name.h"

/* A paper's run, as calm_bench gives it. */
struct calm_benchmark {
  calm_context *context;
  const bench_paper *paper;
  calm_options *own_options; /* NULL: the caller's */
  bench run;
};

bool bench_has_section(const bench *b, const bench_section *s);
bool bench_has_column(const bench *b, const bench_column *column);
const bench_cell *bench_cell_at(const bench_table *t, uint32_t row,
                                uint32_t column);
uint32_t bench_row_count(const bench_table *t);

/* A number for people: "200.7", "4.66 %", "-" if there is none. */
report_digits bench_shown(bench_kind kind, double n);

/* A number with all its digits, and no more than tell it from others; empty if
   there is none. */
report_digits bench_digits(double n);

/* The tables as text for a terminal, the run as a page, a table as CSV (RFC
   4180), all as JSON (calm/bench/1). */
calm_status bench_write_terminal(text *out, const calm_benchmark *m,
                                 bool color);
calm_status bench_write_page(text *out, const calm_benchmark *m);
calm_status bench_write_csv(text *out, const bench *b, const bench_table *t);
calm_status bench_write_json(text *out, const calm_benchmark *m);

#endif
