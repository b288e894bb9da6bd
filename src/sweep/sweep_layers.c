/* The layers of a sweep, each as the problem file that it would be. */
#include <string.h>

#include "accel/accel_graph.h"
#include "model/model.h"
#include "sweep/sweep.h"

static calm_status keep_text(const char **out, char *words, arena *a) {
  *out = arena_string(a, words, strlen(words));
  calm_text_free(a->context, words);
  return *out ? CALM_OK : context_no_memory(a->context);
}

/* Room for more layers: the old ones move along. */
static calm_status reserve(calm_sweep *s, uint32_t more) {
  sweep_layer *layers;
  ARENA_ARRAY(&s->arena, layers, (size_t)s->layer_count + more);
  if (s->layer_count)
    memcpy(layers, s->layers, s->layer_count * sizeof *layers);
  s->layers = layers;
  return CALM_OK;
}

static calm_status add_layer(calm_sweep *s, const accel_layer *layer,
                             const char *source) {
  char *problem;
  sweep_layer l = {.source = source, .count = layer->count};
  TRY(sweep_keep(&l.name, layer->name, &s->arena));
  TRY(accel_layer_write(&problem, layer, s->context));
  TRY(keep_text(&l.problem, problem, &s->arena));
  s->layers[s->layer_count++] = l;
  return CALM_OK;
}

static calm_status add_all(calm_sweep *s, const calm_model *model,
                           const char *source, arena *scratch) {
  accel_graph_layers found;
  TRY(accel_graph_extract(&found, &model->graphs.data[0], scratch));
  if (found.layer_count == 0)
    return context_fail(s->context, CALM_BAD_INPUT,
                        "%s: no operator of it is a layer to be mapped",
                        source);
  TRY(reserve(s, found.layer_count));
  for (uint32_t i = 0; i < found.layer_count; i++)
    TRY(add_layer(s, &found.layers[i], source));
  return CALM_OK;
}

calm_status sweep_layers_add_model(calm_sweep *s, const char *source,
                                   const char *path,
                                   const calm_options *options) {
  calm_model *model;
  arena scratch;
  TRY(calm_model_open(&model, s->context, path, options));
  arena_init(&scratch, s->context);
  const calm_status status = add_all(s, model, source, &scratch);
  arena_free(&scratch);
  calm_model_free(model);
  return status;
}

calm_status sweep_layers_add_problem(calm_sweep *s, const char *source,
                                     const char *path) {
  accel_yaml *root;
  accel_layer layer;
  TRY(accel_yaml_open(&root, path, &s->arena));
  TRY(accel_layer_read(&layer, root, ACCEL_DILATION_LITERAL, &s->arena));
  TRY(reserve(s, 1));
  return add_layer(s, &layer, source);
}
