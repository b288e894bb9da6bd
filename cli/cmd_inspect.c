/* calm inspect MODEL */
#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *inspection,
                          calm_format format, bool color) {
  return calm_inspection_render(out, inspection, format, color);
}

static int dump(const request *r, calm_model *model) {
  char *text;
  calm_status status = calm_model_dump(&text, model);
  if (status) return story_failure(r, status);
  const int code = output_text(text);
  calm_text_free(r->context, text);
  return code;
}

static int inspect(const request *r, calm_model *model) {
  calm_inspection *inspection;
  calm_status status = calm_inspect(&inspection, model, r->options);
  if (status) return story_failure(r, status);
  const int code = output_result(r, render, inspection);
  calm_inspection_free(inspection);
  return code;
}

int cmd_inspect(request *r) {
  calm_model *model;
  calm_status status =
      calm_model_open(&model, r->context, r->operands[0], r->options);
  if (status) return story_failure(r, status);
  const int code = r->dump ? dump(r, model) : inspect(r, model);
  calm_model_free(model);
  return code;
}
