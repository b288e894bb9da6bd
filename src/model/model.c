/* Which reader a file needs, and the closing of built models. */
#include "model/model.h"

calm_status model_finish(calm_model *model) {
  if (model->finished) return CALM_OK;
  for (uint32_t i = 0; i < model->graphs.count; i++)
    TRY(graph_finish(&model->graphs.data[i], model->path));
  model->finished = true;
  return CALM_OK;
}

calm_status model_read(calm_model *model) {
  const char *bytes = (const char *)model->map.bytes;
  if (graph_text_recognise(bytes, model->map.length)) {
    model->format = MODEL_CG;
    model->finished = true;
    return graph_text_read(&model->graphs, &model->arena, model->path, bytes,
                           model->map.length);
  }
  return context_fail(model->context, CALM_BAD_INPUT,
                      "%s: not a calm-graph text (its first line is "
                      "'calm-graph 1')",
                      model->path);
}
