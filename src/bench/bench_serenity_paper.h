/*
 * What SERENITY's paper reports, to stand beside what is measured; its table
 * (bench_serenity_paper.def) says how sure each figure is.
 */
#ifndef CALM_BENCH_BENCH_SERENITY_PAPER_H
#define CALM_BENCH_BENCH_SERENITY_PAPER_H

#include "bench/bench_network.h"

typedef struct bench_paper_cell {
  bool known;                          /* the paper's own graph is public */
  double tflite_kb, dp_kb, rewrite_kb; /* with its allocator, 1000 bytes */
  double dp_ratio, rewrite_ratio;      /* TensorFlow Lite's over these */
  double dp_seconds, rewrite_seconds;
} bench_paper_cell;

extern const bench_paper_cell bench_paper_cells[BENCH_CELL_COUNT];

typedef enum bench_paper_id {
#define PAPER_CELL(...)
#define PAPER_FIGURE(name, value, mark) PAPER_##name,
#include "bench/bench_serenity_paper.def"
#undef PAPER_FIGURE
#undef PAPER_CELL
  PAPER_FIGURES
} bench_paper_id;

extern const double bench_paper_figures[PAPER_FIGURES];

#endif
