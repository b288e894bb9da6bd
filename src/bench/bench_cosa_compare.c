#include "bench/bench_cosa_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

void bench_series_fill(bench_series *out, const bench_mappers *m,
                       bench_mapper mapper, bench_member member) {
  for (uint32_t i = 0; i < m->layers.count; i++)
    out->values[i] = bench_mappers_mean(m, i, mapper, member);
}

static bool is_within(const bench_layers *layers, uint32_t layer,
                      uint32_t network) {
  return network == CALM_NONE || layers->data[layer].network == network;
}

double bench_gain(uint32_t *counted, const bench_layers *layers,
                  const bench_series *base, const bench_series *other,
                  uint32_t network) {
  double ratios[BENCH_MOST_LAYERS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < layers->count; i++) {
    const double ratio = base->values[i] / other->values[i];
    if (is_within(layers, i, network) && !isnan(ratio)) ratios[count++] = ratio;
  }
  if (counted) *counted = count;
  return bench_geomean(ratios, count);
}

static uint32_t count_layers(const bench_layers *layers, uint32_t network) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < layers->count; i++)
    count += is_within(layers, i, network);
  return count;
}

/* Pairs of one of our mappers and a layer without a nest. */
static uint32_t count_lacking(const bench_comparison *c, uint32_t network) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < c->ours; s++)
    for (uint32_t i = 0; i < c->layers.count; i++)
      count +=
          is_within(&c->layers, i, network) && isnan(c->series[s].values[i]);
  return count;
}

/* ---- Tables -------------------------------------------------------------- */

enum { MOST_COLUMNS = BENCH_MOST_SERIES + 6 };

/* A table under construction: its columns first. */
typedef struct sheet {
  bench *bench;
  bench_table *table;
  bench_column *columns;
  uint32_t count;
} sheet;

static void begin(sheet *s, bench *b) {
  *s = (sheet){.bench = b};
  s->columns = arena_calloc(&b->arena, MOST_COLUMNS, sizeof *s->columns);
  if (!s->columns) b->failed = true;
}

static void add_column(sheet *s, const char *name, const char *title,
                       bench_kind kind) {
  if (s->columns) s->columns[s->count++] = (bench_column){name, title, kind};
}

static void open_table(sheet *s, const bench_comparison *c, const char *suffix,
                       const char *title) {
  char name[64], words[128];
  snprintf(name, sizeof name, "%s%s", c->name, suffix);
  snprintf(words, sizeof words, "%s: %s", c->title, title);
  if (s->columns)
    s->table = bench_table_begin(s->bench, name, words, s->columns, s->count);
}

static void add_series(sheet *s, const bench_comparison *c, uint32_t first,
                       uint32_t end, bench_kind kind) {
  for (uint32_t i = first; i < end; i++)
    add_column(s, c->series[i].name, c->series[i].title, kind);
}

static void name_network(const sheet *s, uint32_t network) {
  bench_words(s->bench, s->table, "%s",
              network == CALM_NONE ? "all" : bench_cosa_networks[network]);
}

/* All networks, and then all layers. */
static uint32_t network_at(uint32_t row) {
  return row < BENCH_COSA_NETWORKS ? row : CALM_NONE;
}

/* Means of counts are shown as counts. */
static void add_value(const sheet *s, const bench_comparison *c, double value) {
  bench_number(s->bench, s->table,
               c->kind == BENCH_COUNT ? round(value) : value);
}

/* ---- Gains --------------------------------------------------------------- */

static void add_gains(const sheet *s, const bench_comparison *c,
                      uint32_t network) {
  const bench_series *cosa = &c->series[c->cosa];
  const bench_series *hybrids[] = {&c->series[c->hybrid],
                                   &c->series[c->hybrid_32]};
  name_network(s, network);
  bench_number(s->bench, s->table, count_layers(&c->layers, network));
  for (uint32_t i = 1; i < c->ours; i++)
    bench_number(
        s->bench, s->table,
        bench_gain(NULL, &c->layers, c->series, &c->series[i], network));
  for (uint32_t i = 0; i < 2; i++)
    bench_number(s->bench, s->table,
                 bench_gain(NULL, &c->layers, hybrids[i], cosa, network));
  bench_number(s->bench, s->table, count_lacking(c, network));
}

/* Beside what it says of cosa there is nothing. */
static void add_claims(const sheet *s, const bench_comparison *c) {
  bench_words(s->bench, s->table, "the paper");
  bench_nothing(s->bench, s->table);
  for (uint32_t i = 1; i < c->ours; i++)
    bench_number(s->bench, s->table, i == c->cosa ? c->over_random : NAN);
  bench_number(s->bench, s->table, c->over_hybrid);
  bench_nothing(s->bench, s->table);
  bench_nothing(s->bench, s->table);
}

bench_table *bench_compare_gains(bench *b, const bench_comparison *c) {
  sheet s;
  begin(&s, b);
  add_column(&s, "network", "network", BENCH_WORDS);
  add_column(&s, "layers", "layers", BENCH_COUNT);
  add_series(&s, c, 1, c->ours, BENCH_RATIO);
  add_column(&s, "hybrid_over_cosa", "hybrid / cosa", BENCH_RATIO);
  add_column(&s, "hybrid_32_over_cosa", "32 x 500 / cosa", BENCH_RATIO);
  add_column(&s, "not_mapped", "not mapped", BENCH_COUNT);
  open_table(&s, c, "", "improvement over random, times");
  for (uint32_t i = 0; i <= BENCH_COSA_NETWORKS; i++)
    add_gains(&s, c, network_at(i));
  if (!isnan(c->over_random) || !isnan(c->over_hybrid)) add_claims(&s, c);
  return s.table;
}

/* ---- Distances ----------------------------------------------------------- */

/* With somebody else's nests: of the layers that all of them have. */
static void keep_common(bench_series *exact, const bench_comparison *c) {
  for (uint32_t s = c->ours; s < c->count; s++)
    for (uint32_t i = 0; i < c->layers.count; i++)
      if (isnan(c->series[s].values[i])) exact->values[i] = NAN;
}

static void add_distances(const sheet *s, const bench_comparison *c,
                          const bench_series *exact, uint32_t last,
                          uint32_t network) {
  uint32_t counted;
  bench_gain(&counted, &c->layers, exact, exact, network);
  if (counted == 0) return;
  name_network(s, network);
  bench_number(s->bench, s->table, counted);
  for (uint32_t i = 0; i < last; i++)
    if (i != c->exact)
      bench_number(s->bench, s->table,
                   bench_gain(NULL, &c->layers, &c->series[i], exact, network));
}

static bench_table *show_distances(bench *b, const bench_comparison *c,
                                   const bench_series *exact, uint32_t last,
                                   const char *suffix, const char *title) {
  sheet s;
  begin(&s, b);
  add_column(&s, "network", "network", BENCH_WORDS);
  add_column(&s, "layers", "layers", BENCH_COUNT);
  for (uint32_t i = 0; i < last; i++)
    if (i != c->exact) add_series(&s, c, i, i + 1, BENCH_RATIO);
  open_table(&s, c, suffix, title);
  for (uint32_t i = 0; i <= BENCH_COSA_NETWORKS; i++)
    add_distances(&s, c, exact, last, network_at(i));
  return s.table;
}

bench_table *bench_compare_optimum(bench *b, const bench_comparison *c) {
  bench_series common = c->series[c->exact];
  bench_table *t = show_distances(b, c, &c->series[c->exact], c->ours,
                                  "-optimum", "distance to the optimum, times");
  keep_common(&common, c);
  if (bench_gain(NULL, &c->layers, &common, &common, CALM_NONE) == 1)
    show_distances(
        b, c, &common, c->count, "-timeloop",
        "distance to the optimum, with Timeloop's own mapper, times");
  return t;
}

/* ---- Totals -------------------------------------------------------------- */

static double total_of(const bench_comparison *c, const bench_series *s,
                       uint32_t network) {
  double total = 0;
  for (uint32_t i = 0; i < c->layers.count; i++)
    if (is_within(&c->layers, i, network))
      total += s->values[i] * c->layers.data[i].times;
  return total;
}

bench_table *bench_compare_totals(bench *b, const bench_comparison *c) {
  sheet s;
  char title[96];
  begin(&s, b);
  add_column(&s, "network", "network", BENCH_WORDS);
  add_series(&s, c, 0, c->ours, c->kind);
  snprintf(title, sizeof title,
           "%s of whole networks, each layer as often as it occurs", c->unit);
  open_table(&s, c, "-totals", title);
  for (uint32_t n = 0; n < BENCH_COSA_NETWORKS; n++) {
    name_network(&s, n);
    for (uint32_t i = 0; i < c->ours; i++)
      add_value(&s, c, total_of(c, &c->series[i], n));
  }
  return s.table;
}

/* ---- Layers -------------------------------------------------------------- */

bench_table *bench_compare_layers(bench *b, const bench_comparison *c) {
  sheet s;
  char title[96];
  begin(&s, b);
  add_column(&s, "layer", "layer", BENCH_WORDS);
  add_column(&s, "network", "network", BENCH_WORDS);
  add_column(&s, "times", "times", BENCH_COUNT);
  add_series(&s, c, 0, c->count, c->kind);
  snprintf(title, sizeof title, "%s of each layer", c->unit);
  open_table(&s, c, "-layers", title);
  for (uint32_t i = 0; i < c->layers.count; i++) {
    const bench_layer *layer = &c->layers.data[i];
    bench_words(b, s.table, "%s", layer->name);
    name_network(&s, layer->network);
    bench_number(b, s.table, layer->times);
    for (uint32_t k = 0; k < c->count; k++)
      add_value(&s, c, c->series[k].values[i]);
  }
  return s.table;
}

/* ---- Notes --------------------------------------------------------------- */

void bench_compare_note_proofs(bench *b, bench_table *t,
                               const bench_mappers *m) {
  bench_note(b, t, "The optimum is proved for %u of %u layers.",
             bench_mappers_proved(m), m->layers.count);
}

void bench_compare_note_padding(bench *b, bench_table *t) {
  bench_note(b, t,
             "cosa pads dimensions that have a prime factor above 7 (as 11 in "
             "AlexNet's first layer, 13 in others); its nests are for the "
             "padded layers, and pay for the padding.");
}
