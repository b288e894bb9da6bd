#include "cli.h"

static int dump(arguments *a, calm_model *model) {
  char *text = NULL;
  calm_status status = calm_model_dump(&text, model);
  return print_text(a->context, status, text);
}

static int show(arguments *a, calm_model *model) {
  calm_inspection *inspection;
  char *text = NULL;
  calm_status status = calm_inspect(&inspection, model, a->options);
  if (status) return report_failure(a->context, status);
  status = calm_inspection_render(
      &text, inspection,
      a->settings.json ? CALM_FORMAT_JSON : CALM_FORMAT_TABLE, false);
  const int code = print_text(a->context, status, text);
  calm_inspection_free(inspection);
  return code;
}

int run_inspect(arguments *a) {
  calm_model *model;
  calm_status status = calm_model_open(&model, a->context, a->operands[0]);
  if (status) return report_failure(a->context, status);
  const int code = a->settings.dump ? dump(a, model) : show(a, model);
  calm_model_free(model);
  return code;
}
