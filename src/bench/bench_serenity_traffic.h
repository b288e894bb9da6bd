/*
 * Figure 11: how many bytes the orders of a cell move between a fast memory and
 * a slow one, beyond what must be moved anyhow.
 */
#ifndef CALM_BENCH_BENCH_SERENITY_TRAFFIC_H
#define CALM_BENCH_BENCH_SERENITY_TRAFFIC_H

#include "bench/bench_serenity.h"

/* On-chip memories; the first four are figure 11's, in units of 1024 bytes, the
   others the same in units of 1000. */
enum { BENCH_SIZES = 4, BENCH_ALL_SIZES = 8, BENCH_PAGE_BYTES = 64 };
extern const uint64_t bench_onchip_bytes[BENCH_ALL_SIZES];

/* Spills of one cell at one size, reads and writes. */
typedef struct bench_spills {
  uint64_t copied;    /* file order, concats copied */
  uint64_t file;      /* file order, concats elided, as in all that follow */
  uint64_t best;      /* the order of least peak */
  uint64_t rewritten; /* the same of the graph with the paper's sites */
  uint64_t file_pages, best_pages; /* by pages, not by whole tensors */
} bench_spills;

/* Per size, of one cell. */
calm_status bench_measure_spills(bench_spills *out, const bench *b,
                                 bench_network_id id, uint64_t seed);

/* Graphs at one size. */
typedef struct bench_reduction {
  uint32_t both;     /* spill in the file's order and in the best one */
  uint32_t freed;    /* spill in the file's order only */
  uint32_t never;    /* spill in neither */
  uint32_t burdened; /* spill in the best order only */
  double geomean;    /* of file / best, where both spill */
  uint64_t file_bytes, best_bytes; /* of all graphs */
} bench_reduction;

/* The geometric mean over as many graphs as are given. */
bench_reduction bench_reduce(const uint64_t *file, const uint64_t *best,
                             uint32_t count);

#endif
