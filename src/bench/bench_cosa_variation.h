/*
 * One nest, varied in the loops of the global buffer alone: what order and
 * spatial mapping do by themselves (Figures 3 and 4 of CoSA's paper).
 */
#ifndef CALM_BENCH_BENCH_COSA_VARIATION_H
#define CALM_BENCH_BENCH_COSA_VARIATION_H

#include "bench/bench_cosa.h"
#include "bench/bench_cosa_paper.h"

enum {
  BENCH_MOST_VARIANTS = 8,
  BENCH_MOST_LOOPS = 8 /* three over time, and no more than 4 make 16 */
};

typedef struct bench_variant {
  const char *name;
  bench_cost cost;
} bench_variant;

typedef struct bench_variation {
  bench_machine machine;
  accel_layer layer;
  bench_mapping mapping;
  accel_nest base;
  bench_variant variants[BENCH_MOST_VARIANTS];
  uint32_t count;
} bench_variation;

/* `shape` is r to k; there is no stride.  The base: on Simba and under the
   rules of the case, of the nests of least delay the one of least energy.
   *out_found is false, and the run is told, if the time limit left none. */
calm_status bench_variation_open(bench_variation *out, bool *out_found,
                                 bench *b, const accel_convolution *shape,
                                 const char *rules);

/* A loop over `bound` of the dimension of that name, at the global buffer. */
accel_loop bench_variation_loop(const bench_variation *v, char dimension,
                                uint64_t bound, accel_loop_kind kind);

/* The loops of the base at the global buffer replaced by these, innermost
   first, spatial ones before others. */
calm_status bench_variation_add(bench_variation *v, const char *name,
                                const accel_loop *loops, uint32_t count,
                                arena *a);

/* What is written of a variation: NAME and NAME-effect are tables, NAME a
   figure. */
typedef struct bench_variation_page {
  const char *name, *title;
  const char *effect;   /* title of what the worst is over the best */
  bench_column variant; /* of their names */
  bench_claim claim;    /* on delay */
} bench_variation_page;
calm_status bench_variation_show(bench *b, const bench_variation *v,
                                 const bench_variation_page *page,
                                 const char *const *notes);

#endif
