/* calm plan MODEL */
#include <inttypes.h>

#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *plan, calm_format format,
                          bool color) {
  return calm_plan_render(out, plan, format, color);
}

static bool is_proved(const calm_plan_summary *s) {
  return s->order_outcome == CALM_OPTIMAL && s->layout_outcome == CALM_OPTIMAL;
}

static int show(const request *r, const calm_plan *plan) {
  const calm_plan_summary *s = calm_plan_summary_of(plan);
  if (story_interrupted() && !is_proved(s) && !r->quiet)
    story_tell("%s: interrupted; this is the best so far", r->operands[0]);
  const int code = output_result(r, render, plan);
  if (code || s->within_budget) return code;
  story_tell("%s: the arena of %" PRIu64
             " bytes%s does not fit into the budget "
             "of %" PRIu64,
             r->operands[0], s->needed_bytes,
             s->needed_bytes > s->arena_bytes ? " (head and tail)" : "",
             s->budget_bytes);
  return EXIT_GOAL_MISSED;
}

static int write_model(const request *r, const calm_plan *plan) {
  const char *path = r->in_place ? r->operands[0] : r->output;
  if (!path) return EXIT_DONE;
  story_hold_interrupt();
  calm_status status = calm_plan_write(plan, path);
  story_let_interrupt();
  return status ? story_failure(r, status) : EXIT_DONE;
}

static int plan_model(const request *r, calm_model *model) {
  calm_plan *plan;
  calm_status status = calm_plan_make(&plan, model, r->options);
  if (status) return story_failure(r, status);
  int code = write_model(r, plan);
  if (code == EXIT_DONE) code = show(r, plan);
  calm_plan_free(plan);
  return code;
}

int cmd_plan(request *r) {
  calm_model *model;
  calm_status status =
      calm_model_open(&model, r->context, r->operands[0], r->options);
  if (status) return story_failure(r, status);
  int code = output_check_format(r, calm_model_format(model));
  if (code == EXIT_DONE) code = plan_model(r, model);
  calm_model_free(model);
  return code;
}
