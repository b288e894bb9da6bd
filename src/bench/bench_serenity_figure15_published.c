/*
 * Our arenas beside the published ones, for the graphs that are the paper's
 * own: its dynamic programming followed by TensorFlow Lite's allocator against
 * order and placement solved together.
 */
#include "bench/bench_serenity.h"

static const bench_column columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"graph", "graph", BENCH_WORDS},
    {"published_kb", "published, KB", BENCH_WORDS},
    {"arena_bytes", "ours, KB", BENCH_KB},
    {"exact_bytes", "ours, bytes", BENCH_COUNT},
    {"saved", "saved", BENCH_SHARE},
    {"holds", "at or below the published", BENCH_WORDS}};

/* A published figure, and how many digits of a KB it is printed with. */
typedef struct published {
  double kb;
  int digits;
} published;

static void add_row(bench *b, bench_table *t, bench_network_id id,
                    const char *graph, published theirs, uint64_t bytes) {
  const double unit = theirs.digits ? 0.1 : 1; /* KB */
  const double ours = 1e-3 * (double)bytes;
  const double more = unit * (round(ours / unit) - round(theirs.kb / unit));
  bench_cell_name(b, t, id);
  bench_words(b, t, "%s", graph);
  bench_words(b, t, "%.*f", theirs.digits, theirs.kb);
  bench_number(b, t, (double)bytes);
  bench_number(b, t, (double)bytes);
  bench_number(b, t, more < 0 || more > 0 ? 1 - ours / theirs.kb : 0);
  bench_words(b, t, more > 0 ? "no" : "yes");
}

/* Figure 12 prints one digit more of cell A than Figure 15. */
static published of_dp(bench_network_id id) {
  if (id == BENCH_SWIFTNET_A)
    return (published){bench_paper_figures[PAPER_figure12a_dp], 1};
  return (published){bench_paper_cells[id].dp_kb, 0};
}

static published of_rewriting(bench_network_id id) {
  if (id == BENCH_SWIFTNET_A)
    return (published){bench_paper_figures[PAPER_figure12a_rewrite], 1};
  return (published){bench_paper_cells[id].rewrite_kb, 0};
}

calm_status bench_add_published(bench *b, const bench_peaks *peaks) {
  bench_table *t = bench_table_begin(b, "figure15-published",
                                     "Our arenas beside the published ones",
                                     BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_network_id id = (bench_network_id)i;
    if (!bench_paper_cells[id].known) continue;
    add_row(b, t, id, "original", of_dp(id), peaks[id].best.arena_bytes);
    add_row(b, t, id, "paper's rewriting", of_rewriting(id),
            peaks[id].paper.arena_bytes);
    add_row(b, t, id, "best rewriting", of_rewriting(id),
            peaks[id].rewritten.arena_bytes);
  }
  bench_note(b, t,
             "Compared at the digits that the paper prints: 903,168 bytes are "
             "its 903 KB, and nothing is saved there. What the graphs are is "
             "said below figure15.");
  return CALM_OK;
}
