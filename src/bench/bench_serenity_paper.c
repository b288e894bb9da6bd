#include "bench/bench_serenity_paper.h"

const bench_paper_cell bench_paper_cells[BENCH_CELL_COUNT] = {
#define PAPER_CELL(id, known, tflite, dp, rewrite, dp_ratio, rewrite_ratio, \
                   dp_seconds, rewrite_seconds)                             \
  [BENCH_##id] = {known,    tflite,        dp,         rewrite,             \
                  dp_ratio, rewrite_ratio, dp_seconds, rewrite_seconds},
#define PAPER_FIGURE(name, value, mark)
#include "bench/bench_serenity_paper.def"
#undef PAPER_FIGURE
#undef PAPER_CELL
};

const double bench_paper_figures[PAPER_FIGURES] = {
#define PAPER_CELL(...)
#define PAPER_FIGURE(name, value, mark) [PAPER_##name] = value,
#include "bench/bench_serenity_paper.def"
#undef PAPER_FIGURE
#undef PAPER_CELL
};
