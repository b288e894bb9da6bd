#include <stdio.h>
#include <string.h>

#include "cli.h"

static int emit(arguments *a, const calm_plan *plan, const char *request) {
  const char *path = strchr(request, '=') + 1;
  const bool json = !strncmp(request, "plan=", 5);
  char *text;
  calm_status status = calm_plan_render(
      &text, plan, json ? CALM_FORMAT_JSON : CALM_FORMAT_CSV, false);
  if (status) return report_failure(a->context, status);
  status = calm_text_write(a->context, path, text);
  calm_text_free(a->context, text);
  return status ? report_failure(a->context, status) : EXIT_DONE;
}

static int show(arguments *a, const calm_plan *plan) {
  char *text = NULL;
  for (int i = 0; i < a->settings.emit_count; i++) {
    const int code = emit(a, plan, a->settings.emits[i]);
    if (code) return code;
  }
  calm_status status = calm_plan_render(
      &text, plan, a->settings.json ? CALM_FORMAT_JSON : CALM_FORMAT_TABLE,
      false);
  const int code = print_text(a->context, status, text);
  if (code) return code;
  return calm_plan_summary_of(plan)->within_budget ? EXIT_DONE
                                                   : EXIT_GOAL_MISSED;
}

int run_plan(arguments *a) {
  calm_model *model = NULL;
  calm_plan *plan = NULL;
  if (a->settings.output) {
    fputs("calm: plan writes no models yet; use --emit plan=FILE\n", stderr);
    return EXIT_USAGE;
  }
  calm_status status = calm_model_open(&model, a->context, a->operands[0]);
  if (!status) status = calm_plan_make(&plan, model, a->options);
  const int code = status ? report_failure(a->context, status) : show(a, plan);
  calm_plan_free(plan);
  calm_model_free(model);
  return code;
}
