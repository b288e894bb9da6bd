/*
 * What the sections of CoSA's paper share: its machines (bench/cases), the
 * layers of its networks (bench_cosa_layers.def), and what a nest costs.  A
 * section is in the file of its name; those that compare mappers share
 * bench_cosa_mappers.h and bench_cosa_compare.h, Figures 3 and 4
 * bench_cosa_variation.h.
 */
#ifndef CALM_BENCH_BENCH_COSA_H
#define CALM_BENCH_BENCH_COSA_H

#include "accel/accel_constraints.h"
#include "bench/bench.h"
#include "bench/bench_statistics.h"
#include "mapper/mapper.h"

/* ---- Machines ------------------------------------------------------------ */

typedef struct bench_machine {
  const char *name; /* of its case */
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

#endif
