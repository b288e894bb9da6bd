/* What a model's file becomes: the copy, and the text of a reordered graph. */
#include <string.h>

#include "model/model.h"

/* ---- Text ---------------------------------------------------------------- */

/* A graph that has its operators in another order.  Only what the writer of
   texts looks at is filled in. */
static calm_status reorder(graph *out, const graph *g, const op_id *sequence,
                           arena *a) {
  op_id *place;
  *out = *g;
  ARENA_ARRAY(a, place, g->ops.count);
  ARENA_ARRAY(a, out->ops.data, g->ops.count);
  for (uint32_t i = 0; i < g->ops.count; i++) place[sequence[i]] = i;
  for (uint32_t i = 0; i < g->ops.count; i++) {
    graph_op *op = &out->ops.data[i];
    op_id *after;
    *op = g->ops.data[sequence[i]];
    ARENA_ARRAY(a, after, op->after_count);
    for (uint32_t j = 0; j < op->after_count; j++)
      after[j] = place[op->after[j]];
    op->after = after;
  }
  return CALM_OK;
}

static calm_status text_pieces(file_pieces *out, const calm_model *model,
                               const model_patch *patch, arena *a) {
  const graph_vector *graphs = &model->graphs;
  graph *reordered;
  text t;
  char *written;
  ARENA_ARRAY(a, reordered, graphs->count);
  for (uint32_t i = 0; i < graphs->count; i++) {
    reordered[i] = graphs->data[i];
    if (patch)
      TRY(reorder(&reordered[i], &graphs->data[i], patch->sequences[i], a));
  }
  text_init(&t, model->context);
  graph_text_write(&t, reordered, graphs->count);
  TRY(text_finish(&t, &written));
  const size_t length = strlen(written);
  const char *copy = arena_string(a, written, length);
  calm_text_free(model->context, written);
  if (!copy) return context_no_memory(model->context);
  VECTOR_PUSH(model->context, out,
              (file_piece){(const uint8_t *)copy, length, false});
  return CALM_OK;
}

/* ---- Formats ------------------------------------------------------------- */

static calm_status still_there(const calm_model *model) {
  if (model->map.bytes) return CALM_OK;
  return context_fail(model->context, CALM_MISUSE,
                      "%s: a model that was built or read from memory has no "
                      "file to be changed; open a file",
                      model->path);
}

static calm_status whole(file_pieces *out, const calm_model *model) {
  VECTOR_PUSH(
      model->context, out,
      (file_piece){model->map.bytes, model->map.length,
                   model->mapped && !model->altered && model->map.length > 0});
  return CALM_OK;
}

calm_status model_pieces(file_pieces *out, const calm_model *model,
                         const model_patch *patch, arena *a) {
  if (model->format == MODEL_BUILT) return text_pieces(out, model, patch, a);
  TRY(still_there(model));
  if (!patch) return whole(out, model);
  switch (model->format) {
    case MODEL_TFLITE: return tflite_pieces(out, model, patch, a);
    case MODEL_ONNX: return onnx_pieces(out, model, patch, a);
    default: return text_pieces(out, model, patch, a);
  }
}

calm_status model_rewrite(calm_model *model, model_rewriting kind) {
  static const char *const works_on[] = {
      [MODEL_TO_INT8] = "--to-int8 works on .tflite",
      [MODEL_REMOVE_NOOPS] = "--remove-noops works on .tflite and .onnx",
      [MODEL_DILATE_1X1] = "--rewrite-1x1 works on .tflite"};
  TRY(still_there(model));
  if (model->format == MODEL_TFLITE)
    return kind == MODEL_DILATE_1X1 ? tflite_dilate(model)
                                    : tflite_rewrite(model, kind);
  if (model->format == MODEL_ONNX && kind == MODEL_REMOVE_NOOPS)
    return onnx_remove_noops(model);
  return context_fail(model->context, CALM_UNSUPPORTED, "%s: %s files",
                      model->path, works_on[kind]);
}
