/*
 * The memory of random networks over many seeds.  One drawing of RandWire says
 * little: the paper's graphs are not public, so ours come with their spread.
 */
#include "bench/bench_serenity.h"

static const bench_column columns[] = {
    {"cell", "cell", BENCH_WORDS},
    {"paper_dp_bytes", "paper: DP", BENCH_KB},
    {"arena_least_bytes", "arena: min", BENCH_KB},
    {"arena_mean_bytes", "arena: mean", BENCH_KB},
    {"arena_most_bytes", "arena: max", BENCH_KB},
    {"paper_ratio", "paper: ratio", BENCH_RATIO},
    {"ratio_least", "ratio: min", BENCH_RATIO},
    {"ratio_geomean", "ratio: mean", BENCH_RATIO},
    {"ratio_most", "ratio: max", BENCH_RATIO},
    {"proved", "proved", BENCH_WORDS}};

/* Per seed of one cell. */
typedef struct drawn {
  double arenas[BENCH_SEED_COUNT], ratios[BENCH_SEED_COUNT];
  uint32_t proved;
} drawn;

static calm_status draw_seeds(drawn *out, bench *b, bench_network_id id) {
  *out = (drawn){.proved = 0};
  bench_progress(b, "planning %s by %d seeds", bench_networks[id].name,
                 BENCH_SEED_COUNT);
  for (uint32_t i = 0; i < BENCH_SEED_COUNT; i++) {
    bench_outcome file, best;
    TRY(bench_measure_order(&file, &best, b, id, bench_seed(b, i)));
    out->arenas[i] = (double)best.arena_bytes;
    out->ratios[i] = bench_ratio((double)file.arena_bytes, out->arenas[i]);
    out->proved += best.peak_proved && best.arena_proved &&
                   best.arena_bytes == best.peak_bytes;
  }
  return CALM_OK;
}

calm_status bench_add_seeds(bench *b) {
  bench_table *t = bench_table_begin(
      b, "figure15-randwire", "RandWire over seeds: arenas in KB, and ratios",
      BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < BENCH_CELL_COUNT; i++) {
    const bench_network_id id = (bench_network_id)i;
    drawn d;
    bench_spread ratio;
    if (!bench_networks[i].seeded) continue;
    TRY(draw_seeds(&d, b, id));
    bench_cell_name(b, t, id);
    bench_number(b, t, 1e3 * bench_paper_cells[i].dp_kb);
    bench_add_spread(b, t, bench_spread_of(d.arenas, BENCH_SEED_COUNT));
    bench_number(b, t, bench_paper_cells[i].dp_ratio);
    ratio = bench_spread_of(d.ratios, BENCH_SEED_COUNT);
    ratio.mean = bench_geomean(d.ratios, BENCH_SEED_COUNT);
    bench_add_spread(b, t, ratio);
    bench_words(b, t, "%u of %d", d.proved, BENCH_SEED_COUNT);
  }
  bench_note(b, t,
             "Seeds %llu to %llu. Ratio: the arena of the file's order, placed "
             "greedily by size, over ours; its mean is geometric. The paper's "
             "ratio is over its TensorFlow Lite. Proved: seeds whose arena "
             "equals the least peak of any order.",
             bench_seed(b, 0), bench_seed(b, BENCH_SEED_COUNT - 1));
  return CALM_OK;
}
