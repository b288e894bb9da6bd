#include "cli.h"

static int show(arguments *a, calm_model *model) {
  calm_verdict *verdict;
  char *text = NULL;
  calm_status status =
      calm_check(&verdict, model, a->operand_count > 1 ? a->operands[1] : NULL,
                 a->options);
  if (status) return report_failure(a->context, status);
  status = calm_verdict_render(
      &text, verdict, a->settings.json ? CALM_FORMAT_JSON : CALM_FORMAT_TABLE,
      false);
  const int code = print_text(a->context, status, text);
  const bool valid = calm_verdict_valid(verdict);
  calm_verdict_free(verdict);
  if (code) return code;
  return valid ? EXIT_DONE : EXIT_GOAL_MISSED;
}

int run_check(arguments *a) {
  calm_model *model;
  calm_status status = calm_model_open(&model, a->context, a->operands[0]);
  if (status) return report_failure(a->context, status);
  const int code = show(a, model);
  calm_model_free(model);
  return code;
}
