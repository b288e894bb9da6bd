/*
 * What the sections of SERENITY's evaluation share: plans of its cells, made by
 * the whole pipeline under one fixed effort, so that they repeat on any
 * machine.
 *
 *   bench_serenity_paper.c     what the paper reports
 *   bench_serenity_plan.c      plans of cells, and what they come to
 *   bench_serenity_search.c    one search of an order, its effort and time
 *
 * A section is in the file of its name; beside figure11 stand what an order of
 * a cell moves (_spills) and how little it could be (_least), beside figure15
 * the paper's arenas (_published) and random networks by seed (_seeds).
 */
#ifndef CALM_BENCH_BENCH_SERENITY_H
#define CALM_BENCH_BENCH_SERENITY_H

#include <math.h>

#include "bench/bench_sections.h"
#include "bench/bench_serenity_paper.h"
#include "bench/bench_statistics.h"
#include "memory/memory.h"
#include "plan.h"

/* ---- Plans --------------------------------------------------------------- */

/* How a cell is planned, as `calm plan` would be told. */
typedef struct bench_way {
  const char *memory, *order, *layout, *rewrite;
} bench_way;

/* What runtimes do, concats copied; the same order under the paper's memory
   model; and under that the best order and arena, with nothing rewritten, what
   the paper would, whatever pays, or all there is. */
extern const bench_way bench_way_stock, bench_way_file;
extern const bench_way bench_way_best, bench_way_paper, bench_way_auto,
    bench_way_all;

/* To be freed with calm_plan_free. */
calm_status bench_serenity_plan(calm_plan **out, bench *b, calm_model *model,
                                const bench_way *way);

/* Which plan: of this network, in this way. */
typedef struct bench_task {
  bench_network_id id;
  uint64_t seed;
  const bench_way *way;
} bench_task;

/* What is made of a plan, in an arena that lasts as long as the plan. */
typedef calm_status bench_plan_use(void *out, bench *b, const calm_plan *plan,
                                   arena *a);
calm_status bench_with_plan(void *out, bench *b, const bench_task *task,
                            bench_plan_use *use);

/* What a plan comes to. */
typedef struct bench_outcome {
  uint32_t op_count;
  uint64_t peak_bytes, peak_bound_bytes;
  uint64_t arena_bytes, arena_bound_bytes;
  uint64_t states, nodes; /* of the searches for order and arena */
  bool peak_proved, arena_proved;
  const char *proof; /* why no choice of sites has a lower peak; NULL: nothing
                        was chosen, or it is not known */
} bench_outcome;

bench_outcome bench_outcome_of(const calm_plan *plan);

/* What a plan was made of, for other searches of the same graph. */
typedef struct bench_problem {
  const graph *g; /* the plan's, rewritten where it is */
  memory_problem memory;
  uint32_t *sequence; /* the plan's order, of order operators */
} bench_problem;

/* In the arena; the plan must outlive it. */
calm_status bench_problem_of(bench_problem *out, const calm_plan *plan,
                             arena *a);

/* A cell planned in all ways that the tables compare. */
typedef struct bench_peaks {
  bench_outcome stock;  /* file order, concats copied, placed by size */
  bench_outcome litert; /* the same under TensorFlow Lite's own rules */
  bench_outcome file;   /* the paper's memory model; file order, by size */
  bench_outcome level;  /* ... Kahn's order by depth, by size */
  bench_outcome best, paper, rewritten, all; /* of the ways above */
} bench_peaks;

calm_status bench_measure_peaks(bench_peaks *out, bench *b, bench_network_id id,
                                uint64_t seed);

/* Only the file's order and the best one. */
calm_status bench_measure_order(bench_outcome *out_file,
                                bench_outcome *out_best, bench *b,
                                bench_network_id id, uint64_t seed);

/* All nine cells, the seeded ones by --seed. */
calm_status bench_measure_cells(bench_peaks *out, bench *b);

/* ---- Seeds --------------------------------------------------------------- */

/* RandWire where one graph is shown is that of seed 0, statistics are over
   seeds 0 to BENCH_SEED_COUNT - 1, all counted from --seed. */
static inline unsigned long long bench_seed(const bench *b, uint32_t index) {
  return b->options->seed + index;
}

/* ---- Tables -------------------------------------------------------------- */

/* A cell of a table: the network as the paper calls it, and its cell. */
void bench_cell_name(bench *b, bench_table *t, bench_network_id id);

/* The same for the axis of a figure, shorter; BENCH_CELL_COUNT of them. */
calm_status bench_cell_labels(const char **out, bench *b);

static inline double bench_ratio(double a, double b) {
  return b > 0 ? a / b : NAN;
}

/* Parts of figure 15. */
calm_status bench_add_published(bench *b, const bench_peaks *peaks);
calm_status bench_add_seeds(bench *b);

#endif
