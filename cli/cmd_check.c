/* calm check MODEL [PLAN.json] */
#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *verdict, calm_format format,
                          bool color) {
  return calm_verdict_render(out, verdict, format, color);
}

static int check(const request *r, calm_model *model) {
  const char *plan = r->operand_count > 1 ? r->operands[1] : NULL;
  calm_verdict *verdict;
  calm_status status = calm_check(&verdict, model, plan, r->options);
  if (status) return story_failure(r, status);
  const int code = output_result(r, render, verdict);
  const bool valid = calm_verdict_valid(verdict);
  calm_verdict_free(verdict);
  return code || valid ? code : EXIT_GOAL_MISSED;
}

int cmd_check(request *r) {
  calm_model *model;
  calm_status status =
      calm_model_open(&model, r->context, r->operands[0], r->options);
  if (status) return story_failure(r, status);
  const int code = check(r, model);
  calm_model_free(model);
  return code;
}
