/* Which reader a file needs, and the closing of built models. */
#include "model/model.h"

/* ---- A model and its end ------------------------------------------------ */

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

calm_status model_finish(calm_model *model) {
  if (model->finished) return CALM_OK;
  graph_vector *graphs = &model->graphs;
  TRY(graph_link_bodies(graphs->data, graphs->count, model->path));
  for (uint32_t i = 0; i < graphs->count; i++)
    TRY(graph_finish(&graphs->data[i], model->path));
  model->finished = true;
  return CALM_OK;
}

/* ---- Formats ------------------------------------------------------------ */

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

/* Field 1 is the IR version, a small number; the next field is one of those
   that a model has. */
static bool looks_like_onnx(const uint8_t *bytes, size_t length) {
  if (length < 3 || bytes[0] != 0x08 || bytes[1] == 0 || bytes[1] > 32)
    return false;
  return bytes[2] == 0x12 || bytes[2] == 0x1a || bytes[2] == 0x22 ||
         bytes[2] == 0x28 || bytes[2] == 0x32 || bytes[2] == 0x3a ||
         bytes[2] == 0x42;
}

static calm_status refuse(const calm_model *model) {
  calm_context *context = model->context;
  const uint8_t *bytes = model->map.bytes;
  size_t length = model->map.length;
  if (length == 0)
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: byte 0: the file is empty; calm reads .tflite "
                        "files and texts that begin with 'calm-graph 1'",
                        model->path);
  if (looks_like_onnx(bytes, length))
    return context_fail(context, CALM_UNSUPPORTED,
                        "%s: byte 0: an ONNX model, which this version does "
                        "not read; convert it to .tflite",
                        model->path);
  if (looks_like_flatbuffer(bytes, length))
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: byte 4: a FlatBuffers file with identifier "
                        "\"%.4s\"; a .tflite file has \"TFL3\"",
                        model->path, (const char *)bytes + 4);
  return context_fail(context, CALM_BAD_INPUT,
                      "%s: byte 0: neither a .tflite file (\"TFL3\" at byte 4) "
                      "nor a text that begins with 'calm-graph 1'",
                      model->path);
}

calm_status model_read(calm_model *model) {
  const uint8_t *bytes = model->map.bytes;
  size_t length = model->map.length;
  model->finished = true;
  if (tflite_recognise(bytes, length)) {
    model->format = MODEL_TFLITE;
    return tflite_read(model);
  }
  if (!graph_text_recognise((const char *)bytes, length)) return refuse(model);
  model->format = MODEL_CG;
  return graph_text_read(&model->graphs, &model->arena, model->path,
                         (const char *)bytes, length);
}
