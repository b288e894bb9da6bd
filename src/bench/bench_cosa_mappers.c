/*
 * All layers of all networks by all mappers, once in a run for each machine and
 * objective.  A layer that another network has, too, is measured once.
 */
#include <math.h>
#include <string.h>

#include "bench/bench_cosa_mappers.h"

/* What a run has measured so far, newest first. */
typedef struct bench_cosa_store {
  bench_mappers measured;
  struct bench_cosa_store *next;
} bench_cosa_store;

typedef struct measuring {
  bench *bench;
  bench_mappers *measured;
  bench_machine machine;
} measuring;

/* ---- Where figures stand ------------------------------------------------- */

static bool has_seeds(bench_mapper mapper) {
  return mapper == BENCH_RANDOM || mapper == BENCH_HYBRID ||
         mapper == BENCH_HYBRID_32;
}

static bool is_cosa(bench_mapper mapper) {
  return mapper == BENCH_COSA || mapper == BENCH_COSA_FITTED;
}

static bench_try *tries_at(const bench_mappers *m, uint32_t layer,
                           bench_mapper mapper) {
  return m->tries + ((size_t)layer * BENCH_MAPPERS + mapper) * BENCH_SEEDS;
}

bench_tries bench_mappers_tries(const bench_mappers *m, uint32_t layer,
                                bench_mapper mapper) {
  return (bench_tries){tries_at(m, layer, mapper),
                       has_seeds(mapper) ? BENCH_SEEDS : 1};
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

/* ---- One layer ----------------------------------------------------------- */

/* The first time that the solver is not there is remembered. */
static calm_status note_missing(bench *b, calm_status status) {
  if (status != CALM_INTERNAL || b->missing) return status;
  const char *why = calm_context_message(b->context);
  b->missing = arena_string(&b->arena, why, strlen(why));
  return b->missing ? CALM_OK : context_no_memory(b->context);
}

calm_status bench_tries_run(bench_try *out, uint32_t *count, bench *b,
                            const bench_mapping *m, bench_mapper mapper,
                            const mapper_cosa_weights *weights) {
  *count = has_seeds(mapper) ? BENCH_SEEDS : 1;
  out[0] = (bench_try){0};
  if (is_cosa(mapper) && b->missing) return CALM_OK;
  for (uint32_t i = 0; i < *count; i++) {
    const calm_status status = bench_try_mapper(
        &out[i], m, mapper, b->options->seed + i, weights, b->context);
    TRY(is_cosa(mapper) ? note_missing(b, status) : status);
  }
  return CALM_OK;
}

/* For energy CoSA minimises traffic, whatever weights it has. */
static calm_status try_mapper(measuring *g, const bench_mapping *mapping,
                              uint32_t layer, bench_mapper mapper) {
  bench_mappers *m = g->measured;
  const bool fitted = mapper == BENCH_COSA_FITTED;
  uint32_t count;
  if (fitted && m->objective != MAPPER_DELAY) return CALM_OK;
  return bench_tries_run(tries_at(m, layer, mapper), &count, g->bench, mapping,
                         mapper, fitted ? &m->fitted : NULL);
}

static calm_status measure_layer(measuring *g, uint32_t layer) {
  bench_mappers *m = g->measured;
  bench_mapping mapping;
  arena scratch;
  arena_init(&scratch, g->bench->context);
  calm_status status =
      bench_mapping_open(&mapping, &g->machine, &m->layers.data[layer].layer,
                         m->objective, NULL, &scratch);
  for (uint32_t k = 0; k < BENCH_MAPPERS && status == CALM_OK; k++)
    status = try_mapper(g, &mapping, layer, (bench_mapper)k);
  arena_free(&scratch);
  return status;
}

/* ---- All of them --------------------------------------------------------- */

/* The first layer that is the same. */
static uint32_t find_equal(const bench_layers *layers, uint32_t layer) {
  uint32_t first = 0;
  while (!accel_layer_equal(&layers->data[first].layer,
                            &layers->data[layer].layer))
    first++;
  return first;
}

static void copy_layer(const bench_mappers *m, uint32_t layer, uint32_t from) {
  memcpy(tries_at(m, layer, 0), tries_at(m, from, 0),
         sizeof *m->tries * BENCH_MAPPERS * BENCH_SEEDS);
}

/* A line for each network. */
static void tell_progress(const measuring *g, uint32_t layer) {
  const bench_mappers *m = g->measured;
  const bench_layer *layers = m->layers.data;
  if (layer > 0 && layers[layer].network == layers[layer - 1].network) return;
  bench_progress(g->bench, "%s, %s, %s", m->machine,
                 m->objective == MAPPER_DELAY ? "delay" : "energy",
                 bench_cosa_networks[layers[layer].network]);
}

static calm_status measure_layers(measuring *g) {
  const bench_layers *layers = &g->measured->layers;
  for (uint32_t i = 0; i < layers->count; i++) {
    const uint32_t first = find_equal(layers, i);
    if (context_interrupted(g->bench->context)) return CALM_OK;
    tell_progress(g, i);
    if (first == i)
      TRY(measure_layer(g, i));
    else
      copy_layer(g->measured, i, first);
  }
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

calm_status bench_mappers_run(const bench_mappers **out, bench *b,
                              const char *machine, mapper_objective objective) {
  bench_cosa_store *s = b->cosa;
  while (s && (strcmp(s->measured.machine, machine) != 0 ||
               s->measured.objective != objective))
    s = s->next;
  if (!s) {
    ARENA_ARRAY(&b->arena, s, 1);
    s->measured = (bench_mappers){.machine = machine, .objective = objective};
    TRY(measure(&s->measured, b));
    s->next = b->cosa;
    b->cosa = s;
  }
  *out = &s->measured;
  return CALM_OK;
}
