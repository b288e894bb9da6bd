/* calm map --arch FILE [--problem FILE] [MODEL] */
#include <string.h>

#include "cmd.h"
#include "nests.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *mapping, calm_format format,
                          bool color) {
  return calm_mapping_render(out, mapping, format, color);
}

/* ---- The worst layer ----------------------------------------------------- */

static int code_of(const calm_layer_summary *s) {
  switch (s->error) {
    case CALM_OK: break;
    case CALM_NO_MEMORY: return EXIT_LIMIT;
    case CALM_INTERNAL: return EXIT_INTERNAL;
    default: return EXIT_FILE;
  }
  if (s->outcome == CALM_INFEASIBLE) return EXIT_GOAL_MISSED;
  return s->outcome == CALM_LIMIT ? EXIT_LIMIT : EXIT_DONE;
}

static int worse_of(int a, int b) {
  static const int worst_first[] = {EXIT_USAGE,       EXIT_INTERNAL,
                                    EXIT_FILE,        EXIT_LIMIT,
                                    EXIT_INTERRUPTED, EXIT_GOAL_MISSED};
  for (size_t i = 0; i < sizeof worst_first / sizeof *worst_first; i++)
    if (a == worst_first[i] || b == worst_first[i]) return worst_first[i];
  return EXIT_DONE;
}

static const char *kind_of(const calm_layer_summary *s) {
  if (s->error) return "";
  return s->outcome == CALM_INFEASIBLE ? "no mapping fits: "
                                       : "no nest was found: ";
}

static bool is_told_alike(const calm_layer_summary *a,
                          const calm_layer_summary *b) {
  if (!code_of(a) || !a->reason || !b->reason) return false;
  return !strcmp(kind_of(a), kind_of(b)) && !strcmp(a->reason, b->reason);
}

/* What is wrong with all layers, such as a solver that is missing, is told
   once. */
static void tell_layer(const calm_mapping *mapping, uint32_t layer,
                       const calm_layer_summary *s) {
  calm_layer_summary other;
  uint32_t more = 0;
  for (uint32_t i = 0; calm_mapping_layer(&other, mapping, i); i++) {
    if (i == layer || !is_told_alike(&other, s)) continue;
    if (i < layer) return;
    more++;
  }
  const char *reason = s->reason ? s->reason : "no reason is known";
  if (more)
    story_tell("%s and %u more: %s%s", s->name, more, kind_of(s), reason);
  else
    story_tell("%s: %s%s", s->name, kind_of(s), reason);
}

/* Each layer without a nest, with the reason. */
static int judge(const calm_mapping *mapping) {
  calm_layer_summary s;
  int code = EXIT_DONE;
  bool any = false;
  for (uint32_t i = 0; calm_mapping_layer(&s, mapping, i); i++) {
    const int layer = code_of(&s);
    if (layer)
      tell_layer(mapping, i, &s);
    else
      any = true;
    code = worse_of(code, layer);
  }
  return code == EXIT_LIMIT && !any && story_interrupted() ? EXIT_INTERRUPTED
                                                           : code;
}

/* ---- The command --------------------------------------------------------- */

static calm_map_files files_of(const request *r) {
  return (calm_map_files){.arch = r->arch,
                          .arch_count = (uint32_t)r->arch_count,
                          .problems = r->problems,
                          .problem_count = (uint32_t)r->problem_count,
                          .model = r->operand_count ? r->operands[0] : NULL,
                          .journal = r->journal};
}

static int put_weights(const request *r, const char *weights) {
  if (!r->output) return output_text(weights);
  story_hold_interrupt();
  const calm_status status = calm_text_write(r->context, r->output, weights);
  story_let_interrupt();
  return status ? story_failure(r, status) : EXIT_DONE;
}

static int calibrate(const request *r) {
  char *weights;
  const calm_map_files files = files_of(r);
  const calm_status status =
      calm_calibrate(&weights, r->context, &files, r->options);
  if (status) return story_failure(r, status);
  const int code = put_weights(r, weights);
  calm_text_free(r->context, weights);
  return code;
}

/* What took hours is shown, whatever became of the files. */
int cmd_map(request *r) {
  calm_mapping *mapping;
  const calm_map_files files = files_of(r);
  if (r->calibrate) return calibrate(r);
  int code = nests_check(r);
  if (code) return code;
  const calm_status status = calm_map(&mapping, r->context, &files, r->options);
  if (status) return story_failure(r, status);
  code = worse_of(nests_write(r, mapping), output_result(r, render, mapping));
  code = worse_of(code, judge(mapping));
  calm_mapping_free(mapping);
  return code;
}
