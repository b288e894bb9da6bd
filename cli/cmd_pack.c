/* calm pack BUFFERS.csv */
#include <inttypes.h>

#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *packing, calm_format format,
                          bool color) {
  return calm_packing_render(out, packing, format, color);
}

/* Without any placement there is nothing that a budget could hold for. */
static int judge(const request *r, const calm_packing *packing) {
  const char *path = r->operands[0];
  switch (calm_packing_outcome(packing)) {
    case CALM_INFEASIBLE:
      story_tell("%s: there is no such placement", path);
      return EXIT_GOAL_MISSED;
    case CALM_LIMIT:
      story_tell("%s: nothing was found within the limits", path);
      return story_interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
    default: break;
  }
  if (calm_packing_within_budget(packing)) return EXIT_DONE;
  const calm_packing_summary *s = calm_packing_summary_of(packing);
  story_tell("%s: the arena of %" PRIu64
             " bytes does not fit into the budget of %" PRIu64,
             path, s->arena_bytes, s->budget_bytes);
  return EXIT_GOAL_MISSED;
}

static int show(const request *r, const calm_packing *packing) {
  if (story_interrupted() && !r->quiet &&
      calm_packing_outcome(packing) == CALM_FEASIBLE)
    story_tell("%s: interrupted; this is the best so far", r->operands[0]);
  const int code = output_result(r, render, packing);
  return code ? code : judge(r, packing);
}

int cmd_pack(request *r) {
  calm_packing *packing;
  calm_status status =
      calm_pack(&packing, r->context, r->operands[0], r->options);
  if (status) return story_failure(r, status);
  const int code = show(r, packing);
  calm_packing_free(packing);
  return code;
}
