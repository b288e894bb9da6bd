/*
 * Mappers side by side, layer by layer and network by network, in one figure of
 * each nest: cycles, or picojoules.  All comparisons are geometric means of
 * ratios over the layers that both mappers have mapped.
 */
#ifndef CALM_BENCH_BENCH_COSA_COMPARE_H
#define CALM_BENCH_BENCH_COSA_COMPARE_H

#include "bench/bench_cosa_mappers.h"

enum { BENCH_MOST_SERIES = 8 };

/* What one mapper came to, by layer; NAN: no nest. */
typedef struct bench_series {
  const char *name;  /* of columns in files: cosa_traffic */
  const char *title; /* for people */
  double values[BENCH_MOST_LAYERS];
} bench_series;

typedef struct bench_comparison {
  const char *name;  /* figure6: tables are NAME, NAME-optimum, ... */
  const char *title; /* "Delay" */
  const char *unit;  /* "cycles" */
  bench_kind kind;   /* of values */
  bench_layers layers;
  bench_series *series; /* the first one is random; after `ours`, others' */
  uint32_t count, ours;
  uint32_t cosa, hybrid, hybrid_32, exact;
  double over_random, over_hybrid; /* cosa's gain, as the paper has it; NAN */
} bench_comparison;

/* How many times less `other` has than `base`: the mean over the layers of a
   network, CALM_NONE for all of them; `counted` (or NULL) layers had both. */
double bench_gain(uint32_t *counted, const bench_layers *layers,
                  const bench_series *base, const bench_series *other,
                  uint32_t network);

void bench_series_fill(bench_series *out, const bench_mappers *m,
                       bench_mapper mapper, bench_member member);

/* Gains over random; distances to the optimum; totals of whole networks; each
   layer.  NULL: no memory, which the run remembers. */
bench_table *bench_compare_gains(bench *b, const bench_comparison *c);
bench_table *bench_compare_optimum(bench *b, const bench_comparison *c);
bench_table *bench_compare_totals(bench *b, const bench_comparison *c);
bench_table *bench_compare_layers(bench *b, const bench_comparison *c);

/* How many optima are proved; what CoSA does to prime bounds. */
void bench_compare_note_proofs(bench *b, bench_table *t,
                               const bench_mappers *m);
void bench_compare_note_padding(bench *b, bench_table *t);

/* Gains as a picture, and layer by layer as one of each network. */
calm_status bench_compare_draw(bench *b, const bench_comparison *c);
calm_status bench_compare_draw_layers(bench *b, const bench_comparison *c);

#endif
