#include "cmd.h"

#include "story.h"

int cmd_open_model(calm_model **out, const request *r) {
  calm_model *model;
  calm_status status = calm_model_open(&model, r->context, r->operands[0]);
  if (status) return story_failure(r, status);
  status = calm_model_rewrite(model, r->options);
  if (status) {
    calm_model_free(model);
    return story_failure(r, status);
  }
  *out = model;
  return EXIT_DONE;
}
