/* An evaluation of loop nests, in every format. */
#include "report/report_eval.h"

#include <string.h>

/* ---- Formats that are a text of their own -------------------------------- */

static calm_status add_text(text *out, char *words) {
  text_add(out, words, strlen(words));
  calm_text_free(out->context, words);
  return CALM_OK;
}

static calm_status write_nest(text *out, const calm_evaluation *e,
                              calm_format format) {
  char *words;
  const accel_nest *n = &e->nests[0].nest;
  if (e->nest_count > 1)
    return context_fail(e->context, CALM_MISUSE,
                        "a mapping is written of one nest, not of two");
  if (format == CALM_FORMAT_MAPPING)
    TRY(accel_nest_write(&words, n, &e->arch, &e->layer, e->context));
  else
    TRY(accel_nest_text(&words, n, &e->arch, &e->layer, e->context));
  return add_text(out, words);
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status render(text *out, const calm_evaluation *e,
                          calm_format format, bool color, arena *scratch) {
  switch (format) {
    case CALM_FORMAT_JSON:
      return report_json_write(out, report_eval_json(scratch, e));
    case CALM_FORMAT_MAPPING:
    case CALM_FORMAT_NEST: return write_nest(out, e, format);
    case CALM_FORMAT_TABLE:
    case CALM_FORMAT_LONG: (void)color; return CALM_OK;
    default: break;
  }
  return context_fail(e->context, CALM_MISUSE,
                      "an evaluation cannot be shown in this format");
}

calm_status calm_evaluation_render(char **out, const calm_evaluation *e,
                                   calm_format format, bool color) {
  text t;
  arena scratch;
  text_init(&t, e->context);
  arena_init(&scratch, e->context);
  calm_status status = render(&t, e, format, color, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
