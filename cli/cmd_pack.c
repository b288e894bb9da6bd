#include "cli.h"

static int write_csv(arguments *a, const calm_packing *packing) {
  char *text;
  calm_status status =
      calm_packing_render(&text, packing, CALM_FORMAT_CSV, false);
  if (status) return report_failure(a->context, status);
  status = calm_text_write(a->context, a->settings.output, text);
  calm_text_free(a->context, text);
  return status ? report_failure(a->context, status) : EXIT_DONE;
}

static int show(arguments *a, const calm_packing *packing) {
  char *text = NULL;
  if (a->settings.output) {
    const int code = write_csv(a, packing);
    if (code) return code;
  }
  calm_status status = calm_packing_render(
      &text, packing, a->settings.json ? CALM_FORMAT_JSON : CALM_FORMAT_TABLE,
      false);
  const int code = print_text(a->context, status, text);
  if (code) return code;
  return calm_packing_within_budget(packing) ? EXIT_DONE : EXIT_GOAL_MISSED;
}

int run_pack(arguments *a) {
  calm_packing *packing;
  calm_status status =
      calm_pack(&packing, a->context, a->operands[0], a->options);
  if (status) return report_failure(a->context, status);
  const int code = show(a, packing);
  calm_packing_free(packing);
  return code;
}
