/* The public calls that make, fill and show models; the verbs have files of
   their own beside this one. */
#include <string.h>

#include "base/text.h"
#include "model/model.h"

const char *calm_version(void) { return CALM_VERSION; }

const char *calm_outcome_name(calm_outcome outcome) {
  static const char *const names[] = {"optimal", "feasible", "infeasible",
                                      "limit"};
  return names[outcome];
}

/* An empty model; `path` is copied. */
static calm_status create(calm_model **out, calm_context *context,
                          const char *path) {
  calm_model *model = context_reallocate(context, NULL, 0, sizeof *model);
  if (!model) return context_no_memory(context);
  model_init(model, context, NULL);
  model->path = arena_string(&model->arena, path, strlen(path));
  if (!model->path) {
    calm_model_free(model);
    return context_no_memory(context);
  }
  *out = model;
  return CALM_OK;
}

/* The options may go before the model does. */
static calm_status copy_dims(calm_model *model, const calm_options *options) {
  option_LIST from = options ? options->dim : NULL;
  for (option_LIST *to = &model->dims; from; from = from->next) {
    option_item *item;
    ARENA_ARRAY(&model->arena, item, 1);
    item->text = arena_string(&model->arena, from->text, strlen(from->text));
    if (!item->text) return context_no_memory(model->context);
    *to = item;
    to = &item->next;
  }
  return CALM_OK;
}

/* Read the bytes of the map.  What is taken out need not be converted. */
static calm_status read_as_asked(calm_model *model,
                                 const calm_options *options) {
  TRY(copy_dims(model, options));
  model->fixed_weights = options && strcmp(options->rewrite, "none");
  TRY(model_read(model));
  if (!options) return CALM_OK;
  if (options->remove_noops) TRY(model_rewrite(model, MODEL_REMOVE_NOOPS));
  if (options->to_int8) TRY(model_rewrite(model, MODEL_TO_INT8));
  return options->rewrite_1x1 ? model_rewrite(model, MODEL_DILATE_1X1)
                              : CALM_OK;
}

/* Hand a model out, or free it if it could not be made. */
static calm_status deliver(calm_model **out, calm_model *model,
                           calm_status status) {
  if (status == CALM_OK)
    *out = model;
  else
    calm_model_free(model);
  return status;
}

calm_status calm_model_open(calm_model **out, calm_context *context,
                            const char *path, const calm_options *options) {
  calm_model *model;
  TRY(create(&model, context, path));
  calm_status status = file_map_open(&model->map, context, path);
  model->mapped = status == CALM_OK;
  if (status == CALM_OK) status = read_as_asked(model, options);
  return deliver(out, model, status);
}

calm_status calm_model_parse(calm_model **out, calm_context *context,
                             const void *bytes, size_t length, const char *name,
                             const calm_options *options) {
  calm_model *model;
  TRY(create(&model, context, name));
  model->map = (file_map){bytes, length};
  calm_status status = read_as_asked(model, options);
  model->map = (file_map){0}; /* what was read does not refer to it */
  return deliver(out, model, status);
}

static calm_status add_empty_graph(calm_model *model, const char *name) {
  graph g;
  const char *copy = arena_string(&model->arena, name, strlen(name));
  if (!copy) return context_no_memory(model->context);
  graph_init(&g, &model->arena, copy);
  VECTOR_PUSH(model->context, &model->graphs, g);
  return CALM_OK;
}

calm_status calm_model_new(calm_model **out, calm_context *context,
                           const char *graph_name) {
  calm_model *model;
  TRY(create(&model, context, graph_name));
  model->format = MODEL_BUILT;
  return deliver(out, model, add_empty_graph(model, graph_name));
}

void calm_model_free(calm_model *model) {
  if (!model) return;
  calm_context *context = model->context;
  if (model->mapped) file_map_close(&model->map);
  model_clear(model);
  context_reallocate(context, model, sizeof *model, 0);
}

static calm_status still_open(const calm_model *model) {
  if (!model->finished) return CALM_OK;
  return context_fail(model->context, CALM_MISUSE,
                      "%s: a model cannot grow after it was used", model->path);
}

calm_status calm_model_add_tensor(uint32_t *out, calm_model *model,
                                  const calm_tensor *tensor) {
  TRY(still_open(model));
  if (!tensor->name)
    return context_fail(model->context, CALM_MISUSE,
                        "%s: a tensor needs a name", model->path);
  graph_tensor added = {.name = tensor->name,
                        .dimensions = tensor->dimensions,
                        .rank = tensor->type ? tensor->rank : 0,
                        .type = ELEMENT_ABSTRACT,
                        .flags = tensor->flags,
                        .bytes = tensor->bytes,
                        .file_index = model->graphs.data[0].tensors.count};
  if (tensor->type) {
    added.type = element_type_find(tensor->type, strlen(tensor->type));
    if (added.type == ELEMENT_ABSTRACT)
      return context_fail(model->context, CALM_MISUSE,
                          "%s: tensor '%s': unknown element type '%s'",
                          model->path, tensor->name, tensor->type);
  }
  return graph_add_tensor(out, &model->graphs.data[0], &added);
}

/* Ids come from the caller, so they are checked before they are used. */
static calm_status check_ids(const calm_model *model, const calm_op *op,
                             const uint32_t *ids, uint32_t count,
                             uint32_t limit) {
  for (uint32_t i = 0; i < count; i++)
    if (ids[i] >= limit && ids[i] != CALM_NONE)
      return context_fail(model->context, CALM_MISUSE,
                          "%s: operator '%s': there is no id %u", model->path,
                          op->name, ids[i]);
  return CALM_OK;
}

/* The library only reads what it copies. */
static uint32_t *readable(const uint32_t *ids) {
  return (uint32_t *)(uintptr_t)ids;
}

calm_status calm_model_add_op(uint32_t *out, calm_model *model,
                              const calm_op *op) {
  TRY(still_open(model));
  if (!op->name || !op->kind)
    return context_fail(model->context, CALM_MISUSE,
                        "%s: an operator needs a name and a kind", model->path);
  graph *g = &model->graphs.data[0];
  TRY(check_ids(model, op, op->inputs, op->input_count, g->tensors.count));
  TRY(check_ids(model, op, op->outputs, op->output_count, g->tensors.count));
  TRY(check_ids(model, op, op->after, op->after_count, g->ops.count));
  graph_op added = {.name = op->name,
                    .kind_name = op->kind,
                    .kind = op_kind_find(op->kind),
                    .inputs = readable(op->inputs),
                    .outputs = readable(op->outputs),
                    .after = readable(op->after),
                    .input_count = op->input_count,
                    .output_count = op->output_count,
                    .after_count = op->after_count,
                    .workspace_bytes = op->workspace_bytes,
                    .file_index = g->ops.count};
  return graph_add_op(out, g, &added);
}

const char *calm_model_format(const calm_model *model) {
  switch (model->format) {
    case MODEL_CG: return "cg";
    case MODEL_ONNX: return "onnx";
    case MODEL_TFLITE: return "tflite";
    case MODEL_BUILT: break;
  }
  return "built";
}

uint32_t calm_model_op_count(const calm_model *model) {
  return model->graphs.data[0].ops.count;
}

uint32_t calm_model_tensor_count(const calm_model *model) {
  return model->graphs.data[0].tensors.count;
}

const char *calm_model_op_name(const calm_model *model, uint32_t op) {
  const graph *g = &model->graphs.data[0];
  return op < g->ops.count ? g->ops.data[op].name : NULL;
}

const char *calm_model_tensor_name(const calm_model *model, uint32_t tensor) {
  const graph *g = &model->graphs.data[0];
  return tensor < g->tensors.count ? g->tensors.data[tensor].name : NULL;
}

calm_status calm_model_dump(char **out, calm_model *model) {
  text t;
  TRY(model_finish(model));
  text_init(&t, model->context);
  graph_text_write(&t, model->graphs.data, model->graphs.count);
  return text_finish(&t, out);
}
