/* calm map --arch FILE [--problem FILE] [MODEL] */
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
  static const int worst_first[] = {EXIT_INTERNAL, EXIT_FILE, EXIT_LIMIT,
                                    EXIT_GOAL_MISSED};
  for (size_t i = 0; i < sizeof worst_first / sizeof *worst_first; i++)
    if (a == worst_first[i] || b == worst_first[i]) return worst_first[i];
  return EXIT_DONE;
}

static void tell_layer(const calm_layer_summary *s) {
  if (s->error)
    story_tell("%s: %s", s->name, s->reason);
  else if (s->outcome == CALM_INFEASIBLE)
    story_tell("%s: no mapping fits%s%s", s->name, s->reason ? ": " : "",
               s->reason ? s->reason : "");
  else
    story_tell("%s: no nest was found%s%s", s->name, s->reason ? ": " : "",
               s->reason ? s->reason : "");
}

/* Each layer without a nest, with the reason. */
static int judge(const calm_mapping *mapping) {
  calm_layer_summary s;
  int code = EXIT_DONE;
  bool any = false;
  for (uint32_t i = 0; calm_mapping_layer(&s, mapping, i); i++) {
    const int layer = code_of(&s);
    if (layer)
      tell_layer(&s);
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

int cmd_map(request *r) {
  calm_mapping *mapping;
  const calm_map_files files = files_of(r);
  int code = nests_check(r);
  if (code) return code;
  const calm_status status = calm_map(&mapping, r->context, &files, r->options);
  if (status) return story_failure(r, status);
  code = nests_write(r, mapping);
  if (code == EXIT_DONE) code = output_result(r, render, mapping);
  if (code == EXIT_DONE) code = judge(mapping);
  calm_mapping_free(mapping);
  return code;
}
