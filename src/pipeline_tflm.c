/*
 * A .tflite file as TensorFlow Lite Micro sees it: orders as they stand,
 * scratch as the options tell, and the offsets that the file itself brings
 * along.
 */
#include "pipeline.h"

#include <string.h>

/* An offline plan says where tensors lie; it cannot change what is copied, who
   owns the inputs or how long they stay. */
static const char *find_foreign_column(const memory_model *m) {
  const struct {
    bool foreign;
    const char *option;
  } rules[] = {
      {m->concat == CONCAT_ELIDE, "--concat elide"},
      {m->inputs != INPUTS_UNTIL_USE, "--inputs other than until-use"},
      {m->outputs != OUTPUTS_TO_END, "--outputs external"},
      {m->variables != VARIABLES_EXTERNAL, "--variables whole-run"},
      {m->align % TFLM_ALIGN != 0, "--align that is no multiple of 16"},
      {m->round != TFLM_ALIGN, "--round other than 16"}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].foreign) return rules[i].option;
  return NULL;
}

/* The runtime has no operators that add up in place. */
static const char *find_foreign_operator(const calm_model *model) {
  for (uint32_t i = 0; i < model->graphs.count; i++)
    if (graph_has_sums(&model->graphs.data[i]))
      return op_kind_name(OP_partial_sum);
  return NULL;
}

calm_status pipeline_tflm_settle(memory_model *memory, const calm_model *model,
                                 bool insisted) {
  calm_context *context = model->context;
  if (memory->subgraphs != SUBGRAPHS_TFLM) return CALM_OK;
  const char *option = find_foreign_column(memory);
  if (!option) option = find_foreign_operator(model);
  if (!option) return CALM_OK;
  if (insisted)
    return context_fail(context, CALM_MISUSE,
                        "%s: TensorFlow Lite Micro cannot do that; it goes "
                        "with --subgraphs entry only",
                        option);
  memory->subgraphs = SUBGRAPHS_ENTRY;
  context_log(context, CALM_LOG_WARNING,
              "%s: TensorFlow Lite Micro cannot do that; the first graph alone "
              "is looked at, without scratch",
              option);
  return CALM_OK;
}

/* A plan that the runtime would take: one offset for each tensor. */
static bool carries_plan(const calm_model *model) {
  const model_offline_plan *offline = &model->offline;
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    tensors += model->graphs.data[i].tensors.count;
  if (!offline->present || offline->fault || offline->declared_count < 0 ||
      (uint32_t)offline->declared_count != tensors ||
      offline->word_count < tensors)
    return false;
  for (uint32_t i = 0; i < tensors; i++)
    if (offline->offsets[i] < -1) return false;
  return true;
}

calm_status pipeline_carried_offsets(uint64_t **out, const calm_model *model,
                                     uint32_t graph_index, uint32_t first_word,
                                     arena *a) {
  const graph *g = &model->graphs.data[graph_index];
  uint64_t *offsets;
  ARENA_ARRAY(a, offsets, g->tensors.count);
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    const int32_t word =
        model->offline.offsets[first_word + tensor->file_index];
    offsets[t] = word == -1 || (tensor->flags & CALM_TENSOR_CONST)
                     ? UINT64_MAX
                     : (uint64_t)word;
  }
  *out = offsets;
  return CALM_OK;
}

static calm_status read_offsets(const uint64_t *const **out,
                                const calm_model *model, arena *a) {
  const uint64_t **all;
  uint32_t first_word = 0;
  ARENA_ARRAY(a, all, model->graphs.count);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    uint64_t *offsets;
    TRY(pipeline_carried_offsets(&offsets, model, i, first_word, a));
    first_word += model->graphs.data[i].tensors.count;
    all[i] = offsets;
  }
  *out = all;
  return CALM_OK;
}

/* As they stand in the file, whether that is an order or not. */
static calm_status read_orders(const op_id *const **out,
                               const calm_model *model, arena *a) {
  const op_id **orders;
  ARENA_ARRAY(a, orders, model->graphs.count);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    op_id *order;
    TRY(pipeline_identity(&order, model->graphs.data[i].ops.count, a));
    orders[i] = order;
  }
  *out = orders;
  return CALM_OK;
}

/* Of compressed tensors the runtime keeps what the graph does not tell. */
static bool is_compressed(const calm_model *model) {
  for (uint32_t i = 0; i < model->metadata_count; i++)
    if (!strcmp(model->metadata_names[i], "COMPRESSION_METADATA")) return true;
  return false;
}

static bool knows_tail(const calm_model *model, kernel_library library) {
  return model->format == MODEL_TFLITE && !is_compressed(model) &&
         (library == KERNELS_AUTO || library == KERNELS_REFERENCE);
}

tflm_tail pipeline_tflm_tail(const pipeline_tflm *file,
                             const tflm_model *model) {
  tflm_tail unknown = TFLM_TAIL_UNKNOWN;
  unknown.target = file->target;
  return file->tail_known ? tflm_predict_tail(model, file->target) : unknown;
}

calm_status pipeline_tflm_model(pipeline_tflm *out, const calm_model *model,
                                const calm_options *options, arena *a) {
  kernel_library library;
  const op_id *const *orders;
  const uint64_t *const *offsets = NULL;
  TRY(kernel_library_find(&library, model->context, options->kernels));
  TRY(memory_scratch_build(&out->scratch, model->graphs.data,
                           model->graphs.count, library, options->scratch, a));
  TRY(read_orders(&orders, model, a));
  out->tail_known = knows_tail(model, library);
  out->target = (tflm_target)options->target;
  if (carries_plan(model)) TRY(read_offsets(&offsets, model, a));
  out->model = (tflm_model){.graphs = model->graphs.data,
                            .count = model->graphs.count,
                            .sequences = orders,
                            .offsets = offsets,
                            .scratch = &out->scratch};
  return CALM_OK;
}

calm_status pipeline_tflm_graphs(graph **out, const pipeline_tflm *file,
                                 arena *a) {
  graph *graphs;
  uint32_t number = 0;
  ARENA_ARRAY(a, graphs, file->model.count);
  for (uint32_t i = 0; i < file->model.count; i++) {
    graph *g = &graphs[i];
    graph_op *ops;
    *g = file->model.graphs[i];
    g->is_body = false;
    ARENA_ARRAY(a, ops, g->ops.count);
    for (op_id op = 0; op < g->ops.count; op++) {
      ops[op] = g->ops.data[op];
      TRY(memory_scratch_sum(&ops[op].workspace_bytes, &file->scratch, number++,
                             TFLM_ALIGN, a->context));
    }
    g->ops.data = ops;
  }
  *out = graphs;
  return CALM_OK;
}
