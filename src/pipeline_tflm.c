/*
 * A .tflite file as TensorFlow Lite Micro sees it: orders as they stand,
 * scratch as the options tell, and the offsets that the file itself brings
 * along.
 */
#include "pipeline.h"

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

/* Offsets of constants are ignored, and so is what is not there. */
static calm_status read_offsets(const uint64_t *const **out,
                                const calm_model *model, arena *a) {
  const uint64_t **all;
  uint32_t begin = 0;
  ARENA_ARRAY(a, all, model->graphs.count);
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    uint64_t *offsets;
    ARENA_ARRAY(a, offsets, g->tensors.count);
    for (tensor_id t = 0; t < g->tensors.count; t++) {
      const graph_tensor *tensor = &g->tensors.data[t];
      const int32_t word = model->offline.offsets[begin + tensor->file_index];
      offsets[t] = word == -1 || (tensor->flags & CALM_TENSOR_CONST)
                       ? UINT64_MAX
                       : (uint64_t)word;
    }
    begin += g->tensors.count;
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
    ARENA_ARRAY(a, order, model->graphs.data[i].ops.count);
    for (op_id op = 0; op < model->graphs.data[i].ops.count; op++)
      order[op] = op;
    orders[i] = order;
  }
  *out = orders;
  return CALM_OK;
}

calm_status pipeline_tflm_model(pipeline_tflm *out, const calm_model *model,
                                const calm_options *options, arena *a) {
  memory_library library;
  const op_id *const *orders;
  const uint64_t *const *offsets = NULL;
  TRY(memory_library_find(&library, model->context, options->kernels));
  TRY(memory_scratch_build(&out->scratch, model->graphs.data,
                           model->graphs.count, library, options->scratch, a));
  TRY(read_orders(&orders, model, a));
  if (carries_plan(model)) TRY(read_offsets(&offsets, model, a));
  out->model = (tflm_model){.graphs = model->graphs.data,
                            .count = model->graphs.count,
                            .sequences = orders,
                            .offsets = offsets,
                            .scratch = &out->scratch};
  return CALM_OK;
}
