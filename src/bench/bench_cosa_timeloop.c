#include "bench/bench_cosa_timeloop.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

/* The networks as the file spells them; there is no ResNeXt-50. */
static const char *const prefixes[BENCH_COSA_NETWORKS] = {"alexnet", "resnet50",
                                                          NULL, "deepbench"};

typedef struct reading {
  bench_series *out;
  const json_t *layers;
  const char *search, *objective; /* hybrid, delay */
  mapper_objective wanted;
  bench_machine machine;
  calm_context *context;
} reading;

/* ---- One nest ------------------------------------------------------------ */

/* Refused by our reader or not valid: there is none. */
static calm_status cost_text(double *out, const reading *r,
                             const bench_layer *layer, const json_t *nest,
                             arena *a) {
  const accel_source source = {"baselines.json", json_string_value(nest),
                               json_string_length(nest)};
  bench_mapping m;
  bench_cost cost;
  accel_nest n;
  TRY(bench_mapping_open(&m, &r->machine, &layer->layer, r->wanted, NULL, a));
  TRY(accel_nest_parse(&n, &source, &r->machine.arch, &layer->layer, a));
  TRY(bench_cost_nest(&cost, &m, &layer->layer, &n, a));
  *out = r->wanted == MAPPER_DELAY ? cost.cycles : cost.energy_pj;
  return CALM_OK;
}

static calm_status read_layer(reading *r, uint32_t index, uint32_t number,
                              const bench_layer *layer) {
  char key[32], search[32];
  arena scratch;
  snprintf(key, sizeof key, "%s_%02u", prefixes[layer->network], number);
  snprintf(search, sizeof search, "%s_%s", r->search, r->objective);
  const json_t *found =
      json_object_get(json_object_get(r->layers, key), search);
  const json_t *nest = json_object_get(found, "mapping_yaml");
  if (!json_is_string(nest) || json_is_false(json_object_get(found, "usable")))
    return CALM_OK;
  arena_init(&scratch, r->context);
  const calm_status status =
      cost_text(&r->out->values[index], r, layer, nest, &scratch);
  arena_free(&scratch);
  return status;
}

/* ---- The file ------------------------------------------------------------ */

static calm_status read_layers(reading *r, const bench_layers *layers) {
  uint32_t numbers[BENCH_COSA_NETWORKS] = {0};
  for (uint32_t i = 0; i < layers->count; i++) {
    const bench_layer *layer = &layers->data[i];
    const uint32_t number = ++numbers[layer->network];
    if (prefixes[layer->network]) TRY(read_layer(r, i, number, layer));
  }
  return CALM_OK;
}

static calm_status read_root(reading *r, const json_t *root,
                             const bench_layers *layers) {
  arena scratch;
  r->layers = json_object_get(root, "layers");
  arena_init(&scratch, r->context);
  calm_status status = bench_machine_open(&r->machine, "simba.yaml", &scratch);
  if (status == CALM_OK) status = read_layers(r, layers);
  arena_free(&scratch);
  return status;
}

static calm_status read_file(reading *r, const char *path,
                             const bench_layers *layers) {
  file_map map;
  TRY(file_map_open(&map, r->context, path));
  json_t *root = json_loadb((const char *)map.bytes, map.length, 0, NULL);
  file_map_close(&map);
  if (!root)
    return context_fail(r->context, CALM_BAD_INPUT, "%s: is no JSON", path);
  const calm_status status = read_root(r, root, layers);
  json_decref(root);
  return status;
}

/* Layers that the search did not map, or all without the file, are NAN. */
static calm_status fill_series(bench_series *out, bool *there,
                               const char *search, mapper_objective objective,
                               const bench_layers *layers,
                               calm_context *context) {
  const char *given = getenv("CALM_CASES");
  const char *root = given ? given : "../shared/cases";
  char path[4096];
  reading r = {.out = out,
               .search = search,
               .objective = objective == MAPPER_DELAY ? "delay" : "energy",
               .wanted = objective,
               .context = context};
  for (uint32_t i = 0; i < layers->count; i++) out->values[i] = NAN;
  snprintf(path, sizeof path, "%s/mapping/goldens/baselines.json", root);
  *there = access(path, R_OK) == 0;
  return *there ? read_file(&r, path, layers) : CALM_OK;
}

/* ---- In a comparison ----------------------------------------------------- */

calm_status bench_timeloop_add(bench_comparison *c, bool *there, bench *b,
                               mapper_objective objective) {
  bench_series *random = &c->series[c->count++];
  bench_series *hybrid = &c->series[c->count++];
  *random = (bench_series){"timeloop_random", "Timeloop's random", {0}};
  *hybrid = (bench_series){"timeloop_hybrid", "Timeloop's hybrid", {0}};
  TRY(fill_series(random, there, "random", objective, &c->layers, b->context));
  return fill_series(hybrid, there, "hybrid", objective, &c->layers,
                     b->context);
}

void bench_timeloop_note(bench *b, bench_table *t, bool there) {
  bench_note(b, t,
             there ? "Timeloop's own searches are those of the public cases "
                     "(commit 4cf6d4c; hybrid with 2 threads and 500, not the "
                     "authors' 32 threads), for layers that it has mapped; "
                     "there is no ResNeXt-50."
                   : "Timeloop's own searches are not there: the public cases "
                     "($CALM_CASES) have them.");
}
