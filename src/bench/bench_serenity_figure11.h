/*
 * Figure 11: how many bytes the orders of a cell move between a fast memory and
 * a slow one, beyond what must be moved anyhow.
 */
#ifndef CALM_BENCH_BENCH_SERENITY_FIGURE11_H
#define CALM_BENCH_BENCH_SERENITY_FIGURE11_H

#include "bench/bench_serenity.h"
#include "traffic/traffic.h"

/* On-chip memories; the first four are figure 11's, in units of 1024 bytes, the
   others the same in units of 1000. */
enum { BENCH_SIZES = 4, BENCH_ALL_SIZES = 8, BENCH_PAGE_BYTES = 64 };
extern const uint64_t bench_onchip_bytes[BENCH_ALL_SIZES];

/* The traffic problem of a plan's graph, and two orders of it: the file's and
   the plan's.  In the arena; it borrows from the plan, and from itself: it
   stays where it is. */
typedef struct bench_traffic {
  bench_problem graph;
  traffic_problem problem;
  uint32_t *file, *best;
} bench_traffic;

calm_status bench_traffic_of(bench_traffic *out, const calm_plan *plan,
                             arena *a);

/* CALM_INTERNAL if it does not hold. */
calm_status bench_check_traffic(const traffic_problem *p,
                                const uint32_t *sequence,
                                const traffic_memory *memory,
                                const traffic_result *result, arena *a);

/* What an order spills by Belady's rule, checked; *streams operators stream,
   the same ones in any order (NULL: not asked). */
calm_status bench_count_spills(uint64_t *out, uint32_t *streams,
                               const traffic_problem *p,
                               const uint32_t *sequence,
                               const traffic_memory *memory, arena *a);

/* Spills of one cell at one size, reads and writes. */
typedef struct bench_spills {
  uint64_t copied;    /* file order, concats copied */
  uint64_t file;      /* file order, concats elided, as in all that follow */
  uint64_t best;      /* the order of least peak */
  uint64_t rewritten; /* the same of the graph with the paper's sites */
  uint64_t file_pages, best_pages; /* by pages, not by whole tensors */
  uint32_t op_count, streams;      /* of `file` and `best` */
} bench_spills;

/* Per size, of one cell. */
calm_status bench_measure_spills(bench_spills *out, bench *b,
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

/* At most BENCH_SEED_COUNT graphs. */
bench_reduction bench_reduce(const uint64_t *file, const uint64_t *best,
                             uint32_t count);

/* Of figure 11: the order of least traffic. */
calm_status bench_add_least(bench *b);

#endif
