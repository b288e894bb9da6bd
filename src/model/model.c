/* Which reader a file needs, and the closing of built models. */
#include "model/model.h"

#include <inttypes.h>

/* ---- A model and its end ------------------------------------------------- */

void model_init(calm_model *model, calm_context *context, const char *path) {
  *model = (calm_model){.context = context, .path = path};
  arena_init(&model->arena, context);
}

void model_clear(calm_model *model) {
  for (uint32_t i = 0; i < model->graphs.count; i++)
    graph_free(&model->graphs.data[i]);
  VECTOR_FREE(model->context, &model->graphs);
  arena_free(&model->arena);
}

void model_warn_about_order(const calm_model *model, const graph *g) {
  for (op_id u = 0; !g->file_order_valid && u < g->ops.count; u++) {
    uint32_t last = g->pred_begin[u + 1];
    if (last == g->pred_begin[u] || g->preds[last - 1] < u) continue;
    context_log(model->context, CALM_LOG_WARNING,
                "%s: graph '%s': operator '%s' stands before '%s', which must "
                "run first; the file order is replaced by its stable "
                "topological sort",
                model->path, g->name, g->ops.data[u].name,
                g->ops.data[g->preds[last - 1]].name);
    return;
  }
}

calm_status model_finish(calm_model *model) {
  if (model->finished) return CALM_OK;
  graph_vector *graphs = &model->graphs;
  TRY(graph_link_bodies(graphs->data, graphs->count, model->path));
  for (uint32_t i = 0; i < graphs->count; i++)
    TRY(graph_finish(&graphs->data[i], model->path));
  model->finished = true;
  return CALM_OK;
}

/* ---- Formats ------------------------------------------------------------- */

static bool is_identifier(const uint8_t *bytes) {
  for (int i = 0; i < 4; i++) {
    bool letter = (bytes[i] | 0x20) >= 'a' && (bytes[i] | 0x20) <= 'z';
    if (!letter && !(bytes[i] >= '0' && bytes[i] <= '9')) return false;
  }
  return true;
}

/* A root offset that stays inside a small head of zeros, and four letters or
   digits behind it. */
static bool looks_like_flatbuffer(const uint8_t *bytes, size_t length) {
  return length >= 8 && bytes[2] == 0 && bytes[3] == 0 && bytes[0] % 4 == 0 &&
         is_identifier(bytes + 4);
}

static calm_status refuse(const calm_model *model) {
  calm_context *context = model->context;
  const uint8_t *bytes = model->map.bytes;
  size_t length = model->map.length;
  if (length == 0)
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: byte 0: the file is empty; calm reads .tflite "
                        "and .onnx files and texts that begin with "
                        "'calm-graph 1'",
                        model->path);
  if (looks_like_flatbuffer(bytes, length))
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: byte 4: a FlatBuffers file with identifier "
                        "\"%.4s\"; a .tflite file has \"TFL3\"",
                        model->path, (const char *)bytes + 4);
  return context_fail(context, CALM_BAD_INPUT,
                      "%s: byte 0: neither a .tflite file (\"TFL3\" at byte 4) "
                      "nor an .onnx file nor a text that begins with "
                      "'calm-graph 1'",
                      model->path);
}

static calm_status read_text(calm_model *model) {
  return graph_text_read(&model->graphs, &model->arena, model->path,
                         (const char *)model->map.bytes, model->map.length);
}

static bool recognise(model_format *out, const uint8_t *bytes, size_t length) {
  if (tflite_recognise(bytes, length))
    *out = MODEL_TFLITE;
  else if (graph_text_recognise((const char *)bytes, length))
    *out = MODEL_CG;
  else if (onnx_recognise(bytes, length))
    *out = MODEL_ONNX;
  else
    return false;
  return true;
}

calm_status model_read(calm_model *model) {
  model->finished = true;
  if (!recognise(&model->format, model->map.bytes, model->map.length))
    return refuse(model);
  if (model->dims && model->format != MODEL_ONNX)
    return context_fail(model->context, CALM_MISUSE,
                        "--dim: %s leaves no sizes open; only .onnx files do",
                        model->path);
  switch (model->format) {
    case MODEL_TFLITE: return tflite_read(model);
    case MODEL_ONNX: return onnx_read(model);
    default: return read_text(model);
  }
}
