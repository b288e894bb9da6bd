/*
 * All layers of all networks by all mappers, once in a run for each machine and
 * objective.  A layer that another network has, too, is measured once.
 */
#include <math.h>
#include <string.h>

#include "bench/bench_cosa_mappers.h"

/* What a run has measured so far, newest first. */
typedef struct store {
  bench_mappers measured;
  struct store *next;
} store;

typedef struct measuring {
  bench *bench;
  bench_mappers *measured;
  bench_machine machine;
} measuring;

/* ---- Where figures stand ------------------------------------------------- */

static bench_try *tries_at(const bench_mappers *m, uint32_t layer,
                           bench_mapper mapper) {
  return m->tries + ((size_t)layer * BENCH_MAPPERS + mapper) * BENCH_SEEDS;
}

bench_tries bench_mappers_tries(const bench_mappers *m, uint32_t layer,
                                bench_mapper mapper) {
  return (bench_tries){tries_at(m, layer, mapper), bench_mapper_seeds(mapper)};
}

uint32_t bench_mappers_proved(const bench_mappers *m) {
  uint32_t proved = 0;
  for (uint32_t i = 0; i < m->layers.count; i++)
    proved += tries_at(m, i, BENCH_EXACT)->proved;
  return proved;
}

static double member_of(const bench_cost *c, bench_member member) {
  switch (member) {
    case BENCH_CYCLES: return c->cycles;
    case BENCH_ENERGY: return c->energy_pj;
    default: return c->link_cycles;
  }
}

double bench_mappers_mean(const bench_mappers *m, uint32_t layer,
                          bench_mapper mapper, bench_member member) {
  const bench_tries tries = bench_mappers_tries(m, layer, mapper);
  double values[BENCH_SEEDS];
  for (uint32_t i = 0; i < tries.count; i++) {
    if (!tries.data[i].mapped) return NAN;
    values[i] = member_of(&tries.data[i].cost, member);
  }
  return bench_geomean(values, tries.count);
}

/* ---- One network --------------------------------------------------------- */

/* The first layer that is the same. */
static uint32_t find_equal(const bench_layers *layers, uint32_t layer) {
  uint32_t first = 0;
  while (!accel_layer_equal(&layers->data[first].layer,
                            &layers->data[layer].layer))
    first++;
  return first;
}

/* For energy CoSA minimises traffic, whatever weights it has. */
static calm_status add_mapper(bench_requests *out, const measuring *g,
                              const bench_mapping *mapping, uint32_t layer,
                              bench_mapper mapper) {
  const bench_mappers *m = g->measured;
  const bool fitted = mapper == BENCH_COSA_FITTED;
  if (fitted && m->objective != MAPPER_DELAY) return CALM_OK;
  return bench_requests_add(out, g->bench, mapping, mapper,
                            fitted ? &m->fitted : NULL,
                            tries_at(m, layer, mapper));
}

static calm_status add_layer(bench_requests *out, const measuring *g,
                             uint32_t layer, arena *a) {
  const bench_mappers *m = g->measured;
  bench_mapping *mapping;
  ARENA_ARRAY(a, mapping, 1);
  TRY(bench_mapping_open(mapping, &g->machine, &m->layers.data[layer].layer,
                         m->objective, NULL, a));
  for (uint32_t k = 0; k < BENCH_MAPPERS; k++)
    TRY(add_mapper(out, g, mapping, layer, (bench_mapper)k));
  return CALM_OK;
}

static calm_status add_network(bench_requests *out, const measuring *g,
                               uint32_t network, arena *a) {
  const bench_layers *layers = &g->measured->layers;
  for (uint32_t i = 0; i < layers->count; i++)
    if (layers->data[i].network == network && find_equal(layers, i) == i)
      TRY(add_layer(out, g, i, a));
  return CALM_OK;
}

static calm_status measure_network(const measuring *g, uint32_t network) {
  bench *b = g->bench;
  bench_requests requests = {0};
  arena scratch;
  bench_progress(b, "%s, %s, %s", g->measured->machine,
                 g->measured->objective == MAPPER_DELAY ? "delay" : "energy",
                 bench_cosa_networks[network]);
  arena_init(&scratch, b->context);
  calm_status status = add_network(&requests, g, network, &scratch);
  if (status == CALM_OK) status = bench_requests_run(b, &requests);
  VECTOR_FREE(b->context, &requests);
  arena_free(&scratch);
  return status;
}

/* ---- All of them --------------------------------------------------------- */

static void copy_equal(const bench_mappers *m) {
  for (uint32_t i = 0; i < m->layers.count; i++) {
    const uint32_t first = find_equal(&m->layers, i);
    if (first != i)
      memcpy(tries_at(m, i, 0), tries_at(m, first, 0),
             sizeof *m->tries * BENCH_MAPPERS * BENCH_SEEDS);
  }
}

static calm_status measure_layers(const measuring *g) {
  for (uint32_t n = 0; n < BENCH_COSA_NETWORKS; n++) {
    if (context_interrupted(g->bench->context)) return CALM_OK;
    TRY(measure_network(g, n));
  }
  copy_equal(g->measured);
  return CALM_OK;
}

/* Weights that predict the delay on this machine, of convolutions without a
   stride. */
static calm_status fit_weights(measuring *g, arena *a) {
  const mapper_cosa_options options = {.weights = mapper_cosa_released,
                                       .pad = 7};
  bench_mappers *m = g->measured;
  const uint32_t usual = bench_layers_find(&m->layers, "3_56_64_64_1");
  bench_mapping mapping;
  limits l;
  if (m->objective != MAPPER_DELAY) return CALM_OK;
  TRY(bench_mapping_open(&mapping, &g->machine, &m->layers.data[usual].layer,
                         MAPPER_DELAY, NULL, a));
  limits_init(&l, a->context);
  return mapper_cosa_calibrate(&m->fitted, &mapping.problem, &options,
                               g->bench->options->seed, &l, a);
}

static calm_status measure(bench_mappers *m, bench *b) {
  measuring g = {.bench = b, .measured = m};
  arena *a = &b->arena;
  TRY(bench_machine_open(&g.machine, m->machine, a));
  TRY(bench_layers_make(&m->layers, a));
  ARENA_ARRAY(a, m->tries,
              (size_t)m->layers.count * BENCH_MAPPERS * BENCH_SEEDS);
  TRY(fit_weights(&g, a));
  return measure_layers(&g);
}

static void tell_searched(bench *b, const bench_mappers *m) {
  const uint32_t count = m->layers.count * BENCH_MAPPERS * BENCH_SEEDS;
  for (uint32_t i = 0; i < count; i++) bench_searched(b, m->tries[i].stopped);
}

calm_status bench_mappers_run(const bench_mappers **out, bench *b,
                              const char *machine, mapper_objective objective) {
  store *s = b->shared;
  while (s && (strcmp(s->measured.machine, machine) != 0 ||
               s->measured.objective != objective))
    s = s->next;
  if (!s) {
    ARENA_ARRAY(&b->arena, s, 1);
    s->measured = (bench_mappers){.machine = machine, .objective = objective};
    TRY(measure(&s->measured, b));
    s->next = b->shared;
    b->shared = s;
  }
  tell_searched(b, &s->measured);
  *out = &s->measured;
  return CALM_OK;
}
