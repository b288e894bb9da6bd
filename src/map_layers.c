/*
 * The layers to be mapped: of problem files, one each, or of a model, every
 * operator that is one.  Equal layers are one with their count, named as the
 * first of them.
 */
#include <string.h>

#include "accel/accel_graph.h"
#include "map_parts.h"
#include "model/model.h"

/* ---- Problem files ------------------------------------------------------- */

static map_layer *find_equal(const calm_mapping *m, const accel_layer *layer) {
  for (uint32_t i = 0; i < m->layer_count; i++)
    if (accel_layer_equal(&m->layers[i].layer, layer)) return &m->layers[i];
  return NULL;
}

static void add_layer(calm_mapping *m, const accel_layer *layer) {
  map_layer *known = find_equal(m, layer);
  if (known)
    known->count += layer->count;
  else
    m->layers[m->layer_count++] = (map_layer){
        .name = layer->name, .layer = *layer, .count = layer->count};
}

static calm_status add_problem(map_run *run, const char *path) {
  calm_mapping *m = run->mapping;
  accel_yaml *root;
  accel_layer layer;
  TRY(pipeline_open_or_find(&root, path, "problem", run->machine.arch,
                            &m->arena));
  TRY(accel_layer_read(&layer, root,
                       (accel_dilation_zero)run->options->dilation_zero,
                       &m->arena));
  add_layer(m, &layer);
  return CALM_OK;
}

static calm_status read_problems(map_run *run) {
  const calm_map_files *files = run->files;
  const uint32_t count = files->problem_count;
  calm_mapping *m = run->mapping;
  m->source = count ? files->problems[0] : files->arch[0];
  if (count == 0 && !accel_yaml_get(run->machine.arch, "problem"))
    return context_fail(m->context, CALM_MISUSE,
                        "no layer is given: there is no model, no --problem "
                        "FILE, and no architecture file has a section "
                        "'problem'");
  ARENA_ARRAY(&m->arena, m->layers, count ? count : 1);
  if (count == 0) return add_problem(run, NULL);
  for (uint32_t i = 0; i < count; i++)
    TRY(add_problem(run, files->problems[i]));
  return CALM_OK;
}

/* ---- Models -------------------------------------------------------------- */

/* The graph that names belong to goes. */
static calm_status keep_layers(calm_mapping *m,
                               const accel_graph_layers *found) {
  arena *a = &m->arena;
  ARENA_ARRAY(a, m->layers, found->layer_count);
  for (uint32_t i = 0; i < found->layer_count; i++) {
    accel_layer layer = found->layers[i];
    TRY(pipeline_keep_text(&layer.name, layer.name, a));
    m->layers[i] =
        (map_layer){.name = layer.name, .layer = layer, .count = layer.count};
  }
  m->layer_count = found->layer_count;
  return CALM_OK;
}

static calm_status keep_skipped(calm_mapping *m,
                                const accel_graph_layers *found,
                                const graph *g) {
  arena *a = &m->arena;
  ARENA_ARRAY(a, m->skipped, found->skipped_count);
  for (uint32_t i = 0; i < found->skipped_count; i++) {
    const graph_op *op = &g->ops.data[found->skipped[i]];
    TRY(pipeline_keep_text(&m->skipped[i].name, op->name, a));
    m->skipped[i].reason = found->reasons[i];
  }
  m->skipped_count = found->skipped_count;
  return CALM_OK;
}

static calm_status extract(calm_mapping *m, const calm_model *model) {
  const graph *g = &model->graphs.data[0];
  accel_graph_layers found;
  TRY(accel_graph_extract(&found, g, &m->arena));
  if (found.layer_count == 0)
    return context_fail(m->context, CALM_BAD_INPUT,
                        "%s: no operator of it is a layer to be mapped",
                        model->path);
  TRY(keep_layers(m, &found));
  return keep_skipped(m, &found, g);
}

static bool is_yaml(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static calm_status read_model(map_run *run) {
  calm_mapping *m = run->mapping;
  calm_model *model;
  if (is_yaml(run->files->model))
    return context_fail(m->context, CALM_MISUSE,
                        "%s: is no model; the file of a layer is given by "
                        "--problem FILE",
                        run->files->model);
  m->network = true;
  m->source = run->files->model;
  TRY(calm_model_open(&model, m->context, m->source, run->options));
  const calm_status status = extract(m, model);
  calm_model_free(model);
  return status;
}

calm_status map_layers_find(map_run *run) {
  calm_mapping *m = run->mapping;
  if (run->files->model && run->files->problem_count)
    return context_fail(m->context, CALM_MISUSE,
                        "either a model or --problem, not both");
  TRY(run->files->model ? read_model(run) : read_problems(run));
  return pipeline_keep_text(&m->source, m->source, &m->arena);
}
