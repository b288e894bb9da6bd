/*
 * What the sections of CoSA's paper share: its machines (bench/cases), the
 * layers of its networks (bench_cosa_layers.def), and what each mapper makes of
 * each layer.  The latter is measured once in a run, whatever sections show it.
 */
#ifndef CALM_BENCH_BENCH_COSA_H
#define CALM_BENCH_BENCH_COSA_H

#include "accel/accel_constraints.h"
#include "bench/bench.h"
#include "mapper/mapper_cosa.h"
#include "mapper/mapper_sample.h"

/* ---- Machines ------------------------------------------------------------ */

typedef struct bench_machine {
  accel_arch arch;
  const accel_yaml *rules; /* what is kept where */
  uint32_t global;         /* level: the global buffer, above the array */
} bench_machine;

/* The case `name` as a tree; the machine of it.  In the arena. */
calm_status bench_case_parse(accel_yaml **out, const char *name, arena *a);
calm_status bench_machine_open(bench_machine *out, const char *name, arena *a);

/* A layer on it.  `more` has further constraints; NULL: none. */
typedef struct bench_mapping {
  const bench_machine *machine;
  const accel_layer *layer;
  accel_constraints constraints;
  mapper_problem problem;
} bench_mapping;
calm_status bench_mapping_open(bench_mapping *out, const bench_machine *machine,
                               const accel_layer *layer,
                               mapper_objective objective,
                               const accel_yaml *more, arena *a);

/* ---- Networks ------------------------------------------------------------ */

enum { BENCH_COSA_NETWORKS = 4, BENCH_MOST_LAYERS = 80 };

typedef struct bench_layer {
  const char *name; /* R_P_C_K_stride, as in the paper */
  uint32_t network;
  uint32_t times; /* in the network */
  accel_layer layer;
} bench_layer;

typedef struct bench_layers {
  bench_layer *data; /* network after network */
  uint32_t count;
} bench_layers;

extern const char *const bench_cosa_networks[BENCH_COSA_NETWORKS];
calm_status bench_layers_make(bench_layers *out, arena *a);

/* The number of the first of that name, CALM_NONE if there is none. */
uint32_t bench_layers_find(const bench_layers *layers, const char *name);

/* ---- Nests --------------------------------------------------------------- */

/* Cycles and energy of a nest, and what the array's network makes of them. */
typedef struct bench_cost {
  double cycles, energy_pj;
  double link_cycles;  /* no fewer, if each link carries so many words */
  double buffer_words; /* read from and written to the global buffer */
  double array_words;  /* over the network between it and the elements */
} bench_cost;

enum { BENCH_LINK_WORDS = 8 }; /* a flit of 64 bits */

/* CALM_INTERNAL if the nest is not valid. */
calm_status bench_cost_nest(bench_cost *out, const bench_mapping *m,
                            const accel_layer *layer, const accel_nest *n,
                            arena *a);

/* ---- Mappers ------------------------------------------------------------- */

typedef enum bench_mapper {
  BENCH_RANDOM,    /* the best of the first 5 valid nests */
  BENCH_HYBRID,    /* until 500 valid nests in a row were no better */
  BENCH_HYBRID_32, /* ... 32 times 500 */
  BENCH_COSA,
  BENCH_COSA_FITTED, /* with weights fitted to the machine */
  BENCH_EXACT,
  BENCH_MAPPERS
} bench_mapper;
extern const char *const bench_mapper_names[BENCH_MAPPERS];

enum { BENCH_SEEDS = 3 };

/* One mapper, started once, on one layer. */
typedef struct bench_try {
  bool mapped, proved;
  bench_cost cost;
  mapper_cosa_terms terms; /* what CoSA's program says of the nest */
  uint64_t samples, valid; /* of those that sample */
  double seconds;
} bench_try;

/* `weights` is CoSA's; the released ones if NULL.  A mapper that finds no nest
   is a result; CALM_INTERNAL if CoSA's has no solver. */
calm_status bench_try_mapper(bench_try *out, const bench_mapping *m,
                             bench_mapper mapper, uint64_t seed,
                             const mapper_cosa_weights *weights,
                             calm_context *context);

/* Its tries from all seeds, or the one of a mapper without: *count of them.
   Without a solver CoSA's has no nest, and the run is told what is missing. */
calm_status bench_tries_run(bench_try *out, uint32_t *count, bench *b,
                            const bench_mapping *m, bench_mapper mapper,
                            const mapper_cosa_weights *weights);

/* All layers by all mappers. */
typedef struct bench_mappers {
  const char *machine; /* its case */
  mapper_objective objective;
  bench_layers layers;
  mapper_cosa_weights fitted; /* CoSA's for the machine; compute 0: none */
  bench_try
      *tries; /* [(layer * BENCH_MAPPERS + mapper) * BENCH_SEEDS + seed] */
} bench_mappers;

/* DELAY or ENERGY.  What was measured before in this run is not again. */
calm_status bench_mappers_run(const bench_mappers **out, bench *b,
                              const char *machine, mapper_objective objective);

/* Its tries: one for each seed, if it has any. */
typedef struct bench_tries {
  const bench_try *data;
  uint32_t count;
} bench_tries;
bench_tries bench_mappers_tries(const bench_mappers *m, uint32_t layer,
                                bench_mapper mapper);

/* The geometric mean over seeds; NAN without a nest. */
typedef enum bench_member {
  BENCH_CYCLES,
  BENCH_ENERGY,
  BENCH_LINK_CYCLES
} bench_member;
double bench_mappers_mean(const bench_mappers *m, uint32_t layer,
                          bench_mapper mapper, bench_member member);

#endif
