/*
 * CoSA's weights for a machine.  What is fitted are nests of layers that nobody
 * has; the layer that is given, or a convolution, only says which dimensions
 * and tensors there are, so that constraints can speak of them.
 */
#include "map_parts.h"
#include "pipeline.h"

static calm_status assume_convolution(calm_mapping *m) {
  static const accel_convolution usual = {.r = 3,
                                          .s = 3,
                                          .p = 56,
                                          .q = 56,
                                          .c = 64,
                                          .k = 64,
                                          .n = 1,
                                          .groups = 1,
                                          .stride_w = 1,
                                          .stride_h = 1,
                                          .dilation_w = 1,
                                          .dilation_h = 1};
  ARENA_ARRAY(&m->arena, m->layers, 1);
  map_layer *l = &m->layers[m->layer_count++];
  TRY(accel_layer_convolution(&l->layer, "convolution", &usual, &m->arena));
  l->name = l->layer.name;
  l->count = 1;
  return CALM_OK;
}

static calm_status find_layer(map_run *run) {
  const calm_map_files *files = run->files;
  const bool given = files->model || files->problem_count > 0 ||
                     accel_yaml_get(run->machine.arch, "problem");
  return given ? map_layers_find(run) : assume_convolution(run->mapping);
}

static calm_status fit(mapper_cosa_weights *out, map_run *run) {
  calm_mapping *m = run->mapping;
  map_layer *l = &m->layers[0];
  mapper_problem p;
  limits limit;
  TRY(map_layer_prepare(l, run));
  if (l->error) return context_fail(m->context, l->error, "%s", l->reason);
  TRY(map_layer_problem(&p, l, run, &m->arena));
  pipeline_limits(&limit, m->context, run->options, 1);
  return mapper_cosa_calibrate(out, &p, &run->cosa, run->options->seed, &limit,
                               &m->arena);
}

typedef struct calibration {
  map_run run;
  char **out;
} calibration;

/* Delay is what is fitted, and needs no energies. */
static calm_status calibrate(void *payload, const calm_options *options) {
  calibration *c = payload;
  map_run *run = &c->run;
  mapper_cosa_weights weights;
  run->options = options;
  TRY(map_read_cosa(run));
  run->mapping->method = MAP_COSA;
  run->mapping->objective = MAPPER_DELAY;
  TRY(map_read_machine(run));
  TRY(find_layer(run));
  TRY(fit(&weights, run));
  return map_weights_write(c->out, &weights, run);
}

calm_status calm_calibrate(char **out, calm_context *context,
                           const calm_map_files *files,
                           const calm_options *options) {
  calm_mapping *m = pipeline_allocate(context, sizeof *m);
  if (!m) return CALM_NO_MEMORY;
  m->context = context;
  arena_init(&m->arena, context);
  calibration c = {.run = {.mapping = m, .files = files}, .out = out};
  const calm_status status = pipeline_run(context, options, calibrate, &c);
  calm_mapping_free(m);
  return status;
}
