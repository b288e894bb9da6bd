/*
 * Mapped layers filled by hand, on the machine of eval_fixture.h: one that is
 * proved, one that is not, one that no nest fits, one that failed.
 */
#ifndef CALM_TESTS_REPORT_MAP_FIXTURE_H
#define CALM_TESTS_REPORT_MAP_FIXTURE_H

#include "eval_fixture.h"
#include "map.h"

enum { PROVED, OPEN, NONE, FAILED, MAP_LAYERS, MOST_POINTS = 40 };

typedef struct map_fixture {
  eval_fixture eval;
  calm_mapping mapping;
  map_layer layers[MAP_LAYERS];
  map_skipped skipped[8];
  mapper_point front[MOST_POINTS];
  accel_dimension padded_dimensions[3];
  accel_layer padded;
} map_fixture;

/* Four buffers with a multiplier each, on a row below the memory. */
static inline void fill_meshes(eval_fixture *f) {
  for (uint32_t i = 0; i < LEVELS; i++) {
    f->levels[i].mesh_x = f->levels[i].instances;
    f->levels[i].mesh_y = 1;
  }
  f->levels[MEMORY].shared_bandwidth = 1;
  f->evaluation.arch.compute.mesh_x = 4;
  f->evaluation.arch.compute.mesh_y = 1;
}

static inline void fill_mapped(map_layer *l, const eval_nest *n) {
  l->result.nest = n->nest;
  l->result.cost = n->result;
  l->result.value = n->result.edp;
  l->result.states = 1234;
  l->result.rounds = 1;
}

static inline void fill_layers(map_fixture *f) {
  static const char *const names[] = {"conv1", "odd\xff layer", "wide, \"big\"",
                                      "strange"};
  const calm_evaluation *e = &f->eval.evaluation;
  memset(f->layers, 0, sizeof f->layers);
  for (uint32_t i = 0; i < MAP_LAYERS; i++)
    f->layers[i] = (map_layer){
        .name = names[i], .layer = e->layer, .count = i + 1, .seconds = 0.25};
  fill_mapped(&f->layers[PROVED], &e->nests[0]);
  f->layers[PROVED].result.outcome = CALM_OPTIMAL;
  f->layers[PROVED].result.bound = 240600;
  fill_mapped(&f->layers[OPEN], &e->nests[1]);
  f->layers[OPEN].result.outcome = CALM_FEASIBLE;
  f->layers[OPEN].result.bound = 180450;
  f->layers[OPEN].reason = "stopped by the time limit";
  f->layers[NONE].result.outcome = CALM_INFEASIBLE;
  f->layers[NONE].reason = "Buffer: 200 words do not fit into 100";
  f->layers[FAILED].error = CALM_UNSUPPORTED;
  f->layers[FAILED].reason = "several tensors are written";
}

/* `count` of the layers above, from the first. */
static inline calm_mapping *fixture_mapping(map_fixture *f, uint32_t count) {
  calm_mapping *m = &f->mapping;
  const uint32_t mapped = count < 2 ? count : 2;
  fixture_evaluation(&f->eval, 2);
  fill_meshes(&f->eval);
  fill_layers(f);
  for (uint32_t i = 0; i < 8; i++)
    f->skipped[i] = (map_skipped){"matmul", "both of its inputs are computed"};
  *m = (calm_mapping){.context = f->eval.context,
                      .arch = f->eval.evaluation.arch,
                      .source = "some/net.onnx",
                      .network = count > 1,
                      .energy = true,
                      .method = MAP_EXACT,
                      .objective = MAPPER_EDP,
                      .layers = f->layers,
                      .layer_count = count,
                      .skipped = f->skipped,
                      .total_energy_pj = mapped < 2 ? 6015 : 3 * 6015,
                      .total_cycles = mapped < 2 ? 40 : 120,
                      .total_macs = mapped < 2 ? 12 : 36,
                      .mapped_count = mapped};
  return m;
}

/* So many nests that nothing beats: 40, 80, ... cycles; energies fall, first
   by much. */
static inline calm_mapping *fixture_front(map_fixture *f, uint32_t count) {
  calm_mapping *m = fixture_mapping(f, 1);
  mapper_result *r = &f->layers[PROVED].result;
  m->objective = MAPPER_PARETO;
  for (uint32_t i = 0; i < count; i++) {
    cost_result *c = &f->front[i].cost;
    f->front[i] = (mapper_point){r->nest, r->cost};
    c->cycles = 40 * (i + 1);
    c->energy_pj = 3000 + 3000.0 / (i + 1) / (i + 1);
    c->edp = c->energy_pj * (double)c->cycles;
  }
  r->front = f->front;
  r->front_count = count;
  return m;
}

/* CoSA, with K raised from 4 to 6. */
static inline calm_mapping *fixture_cosa(map_fixture *f) {
  calm_mapping *m = fixture_mapping(f, 1);
  map_layer *l = &f->layers[PROVED];
  m->method = MAP_COSA;
  f->padded = l->layer;
  memcpy(f->padded_dimensions, l->layer.dimensions,
         sizeof f->padded_dimensions);
  f->padded_dimensions[1].bound = 6;
  f->padded.dimensions = f->padded_dimensions;
  f->padded.macs = 18;
  l->result.padded = &f->padded;
  l->result.outcome = CALM_FEASIBLE;
  l->result.bound = 0;
  l->terms = (mapper_cosa_terms){3.5, 10, 20.25, 119.9, 119.5};
  return m;
}

static inline int open_map(void **state) {
  static map_fixture f;
  memset(&f, 0, sizeof f);
  eval_fixture_open(&f.eval);
  *state = &f;
  return 0;
}

static inline int close_map(void **state) {
  map_fixture *f = *state;
  eval_fixture_close(&f->eval);
  return 0;
}

#define MAP_TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_map, close_map)

static inline char *render_map(map_fixture *f, calm_format format) {
  char *out;
  if (calm_mapping_render(&out, &f->mapping, format, false) != CALM_OK)
    fail_msg("%s", calm_context_message(f->eval.context));
  return out;
}

#endif
