/* A table as CSV (RFC 4180, but for lines that end in a newline alone): a line
   of names, then one per row; empty fields for what there is not. */
#include "bench/bench_output.h"
#include "report/report_csv.h"

static void add_cell(text *out, const bench_cell *cell) {
  report_csv_field(out,
                   cell->words ? cell->words : bench_digits(cell->number).text);
}

calm_status bench_write_csv(text *out, const bench *b, const bench_table *t) {
  const uint32_t rows = bench_row_count(t);
  for (uint32_t line = 0; line <= rows; line++) {
    bool first = true;
    for (uint32_t c = 0; c < t->column_count; c++) {
      if (!bench_has_column(b, &t->columns[c])) continue;
      if (!first) text_add(out, ",", 1);
      first = false;
      if (line == 0)
        report_csv_field(out, t->columns[c].name);
      else
        add_cell(out, bench_cell_at(t, line - 1, c));
    }
    text_add(out, "\n", 1);
  }
  return CALM_OK;
}
