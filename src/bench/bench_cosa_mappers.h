/*
 * The mappers that CoSA's paper compares, each started as its paper or its
 * authors do, on one layer or on all of them.  The latter is measured once in a
 * run, whatever sections show it.
 */
#ifndef CALM_BENCH_BENCH_COSA_MAPPERS_H
#define CALM_BENCH_BENCH_COSA_MAPPERS_H

#include "bench/bench_cosa.h"
#include "mapper/mapper_cosa.h"
#include "mapper/mapper_sample.h"

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
  limits_reason stopped;
  bench_cost cost;
  mapper_cosa_terms terms; /* what CoSA's program says of the nest */
  uint64_t samples, valid; /* of those that sample */
  double seconds;          /* of a processor's time */
} bench_try;

/* What is to be tried.  A mapper that finds no nest is a result. */
typedef struct bench_request {
  const bench_mapping *mapping;
  bench_mapper mapper;
  uint64_t seed;
  const mapper_cosa_weights *weights; /* CoSA's; the released ones if NULL */
  bench_try *out;
} bench_request;
calm_status bench_request_run(bench_try *out, const bench_request *r,
                              const bench *b);

/* How many requests a mapper takes: one from each seed, if it has any. */
uint32_t bench_mapper_seeds(bench_mapper mapper);

/* Appends a mapper's requests, whose answers go to answers[0], [1], ... */
typedef VECTOR(bench_request) bench_requests;
calm_status bench_requests_add(bench_requests *out, const bench *b,
                               const bench_mapping *m, bench_mapper mapper,
                               const mapper_cosa_weights *weights,
                               bench_try *answers);

/* Runs them, as many at once as --jobs says.  What has no answer, because the
   solver is missing or fails or a process goes down, has no nest; the run is
   told why.  What an interrupt leaves has none either. */
calm_status bench_requests_run(bench *b, const bench_requests *requests);

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

/* Layers of which the optimum is proved. */
uint32_t bench_mappers_proved(const bench_mappers *m);

/* The geometric mean over seeds; NAN without a nest. */
typedef enum bench_member {
  BENCH_CYCLES,
  BENCH_ENERGY,
  BENCH_LINK_CYCLES
} bench_member;
double bench_mappers_mean(const bench_mappers *m, uint32_t layer,
                          bench_mapper mapper, bench_member member);

#endif
