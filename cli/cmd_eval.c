/* calm eval --arch FILE --problem FILE --mapping FILE */
#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *evaluation,
                          calm_format format, bool color) {
  return calm_evaluation_render(out, evaluation, format, color);
}

static const char *path_of(const request *r, int mapping) {
  return r->mapping_count ? r->mappings[mapping] : r->arch[0];
}

/* Each nest without figures, with the reason. */
static int judge(const request *r, const calm_evaluation *evaluation) {
  const int count = r->mapping_count ? r->mapping_count : 1;
  int code = EXIT_DONE;
  for (int i = 0; i < count; i++) {
    const char *reason = calm_evaluation_reason(evaluation, (uint32_t)i);
    if (!reason) continue;
    const bool limited = calm_evaluation_limited(evaluation, (uint32_t)i);
    story_tell("%s: %s: %s", path_of(r, i),
               limited ? "not counted" : "not valid", reason);
    if (limited || code == EXIT_DONE)
      code = limited ? EXIT_LIMIT : EXIT_GOAL_MISSED;
  }
  return code;
}

/* Files are of one nest, but for a page. */
static int check_emissions(const request *r) {
  for (int i = 0; i < r->emission_count && r->mapping_count > 1; i++) {
    if (r->emissions[i].page) continue;
    story_tell("%s: which of the two mappings?  Give one --mapping to write it",
               r->emissions[i].path);
    return EXIT_USAGE;
  }
  return EXIT_DONE;
}

int cmd_eval(request *r) {
  calm_evaluation *evaluation;
  const calm_evaluation_files files = {
      .arch = r->arch,
      .arch_count = (uint32_t)r->arch_count,
      .problem = r->problem_count ? r->problems[0] : NULL,
      .mappings = r->mappings,
      .mapping_count = (uint32_t)r->mapping_count};
  int code = check_emissions(r);
  if (code) return code;
  calm_status status =
      calm_evaluate(&evaluation, r->context, &files, r->options);
  if (status) return story_failure(r, status);
  code = output_result(r, render, evaluation);
  if (code == EXIT_DONE) code = judge(r, evaluation);
  calm_evaluation_free(evaluation);
  return code;
}
