/*
 * All layers of all networks by all mappers, once in a run for each machine and
 * objective.  A layer that another network has, too, is measured once.
 */
#include <math.h>
#include <string.h>

#include "bench/bench_cosa.h"

/* What a run has measured so far, newest first. */
typedef struct bench_cosa_store {
  bench_mappers measured;
  struct bench_cosa_store *next;
} bench_cosa_store;

typedef struct measuring {
  bench *bench;
  bench_mappers *measured;
  bench_machine machine;
  bool solver; /* CoSA's has been there so far */
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

/* The solver is looked for once; without it, all else is measured. */
static calm_status try_cosa(bench_try *out, measuring *g,
                            const bench_mapping *mapping, bench_mapper mapper) {
  const mapper_cosa_weights *weights =
      mapper == BENCH_COSA_FITTED ? &g->measured->fitted : NULL;
  bench *b = g->bench;
  if (!g->solver) return CALM_OK;
  const calm_status status =
      bench_try_mapper(out, mapping, mapper, 0, weights, b->context);
  if (status != CALM_INTERNAL) return status;
  g->solver = false;
  const char *why = calm_context_message(b->context);
  b->missing = arena_string(&b->arena, why, strlen(why));
  return b->missing ? CALM_OK : context_no_memory(b->context);
}

/* For energy CoSA minimises traffic, whatever weights it has. */
static bool is_wanted(const measuring *g, bench_mapper mapper) {
  return mapper != BENCH_COSA_FITTED ||
         g->measured->objective == MAPPER_DELAY;
}

static calm_status try_mapper(measuring *g, const bench_mapping *mapping,
                              uint32_t layer, bench_mapper mapper) {
  const bench_tries tries = bench_mappers_tries(g->measured, layer, mapper);
  bench_try *out = tries_at(g->measured, layer, mapper);
  if (!is_wanted(g, mapper)) return CALM_OK;
  if (is_cosa(mapper)) return try_cosa(out, g, mapping, mapper);
  for (uint32_t i = 0; i < tries.count; i++)
    TRY(bench_try_mapper(&out[i], mapping, mapper, g->bench->options->seed + i,
                         NULL, g->bench->context));
  return CALM_OK;
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

static calm_status measure_layers(measuring *g) {
  const bench_layers *layers = &g->measured->layers;
  for (uint32_t i = 0; i < layers->count; i++) {
    const uint32_t first = find_equal(layers, i);
    if (context_interrupted(g->bench->context)) return CALM_OK;
    bench_progress(g->bench, "%s, %s: %s %s (%u/%u)", g->measured->machine,
                   g->measured->objective == MAPPER_DELAY ? "delay" : "energy",
                   bench_cosa_networks[layers->data[i].network],
                   layers->data[i].name, i + 1, layers->count);
    if (first == i)
      TRY(measure_layer(g, i));
    else
      copy_layer(g->measured, i, first);
  }
  return CALM_OK;
}

/* Weights that predict the delay on this machine. */
static calm_status fit_weights(measuring *g, arena *a) {
  const mapper_cosa_options options = {.weights = mapper_cosa_released,
                                       .pad = 7};
  bench_mappers *m = g->measured;
  bench_mapping mapping;
  limits l;
  if (m->objective != MAPPER_DELAY) return CALM_OK;
  TRY(bench_mapping_open(&mapping, &g->machine, &m->layers.data[0].layer,
                         MAPPER_DELAY, NULL, a));
  limits_init(&l, a->context);
  return mapper_cosa_calibrate(&m->fitted, &mapping.problem, &options,
                               g->bench->options->seed, &l, a);
}

static calm_status measure(bench_mappers *m, bench *b) {
  measuring g = {.bench = b, .measured = m, .solver = true};
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
