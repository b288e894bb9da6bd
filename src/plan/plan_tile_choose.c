/* With tiles or without, and why. */
#include <string.h>

#include "base/number.h"
#include "graph/graph_window.h"
#include "plan/plan_tile_run.h"

/* ---- Which of the two ---------------------------------------------------- */

static bool pays(const tiling *t) {
  return !t->request.automatic || plan_tile_is_better(t, t->tiled, t->untiled);
}

/* Who sets the bound, and what becomes of it. */
static calm_status explain(tiling *t, calm_plan *plan) {
  const graph *g = base_graph(t);
  const tile_score *score = &plan_tile_untiled(t)->score;
  text words;
  char *line;
  uint32_t rows, columns;
  if (g->ops.count == 0) return CALM_OK;
  const char *name = g->ops.data[g->order[score->critical]].name;
  const char *refused =
      tile_refuse(g, score->critical, score->critical, &rows, &columns);
  text_init(&words, t->context);
  text_format(&words, "%s sets the bound, and ", name);
  if (refused)
    text_format(&words, "it cannot be cut: %s", refused);
  else
    text_format(&words, "none of %u tilings around it needs less",
                t->result.choice.judged);
  TRY(text_finish(&words, &line));
  plan->tiling.reason = arena_string(&plan->arena, line, strlen(line));
  calm_text_free(t->context, line);
  return plan->tiling.reason ? CALM_OK : context_no_memory(t->context);
}

/* The front outlives the search. */
static calm_status copy_front(calm_plan *plan, const tile_choice *from) {
  tile_choice *to = &plan->tiling.choice;
  ARENA_ARRAY(&plan->arena, to->front, from->front_count);
  for (uint32_t i = 0; i < from->front_count; i++) {
    tile_region *regions;
    to->front[i] = from->front[i];
    ARENA_ARRAY(&plan->arena, regions, from->front[i].count);
    if (from->front[i].count)
      memcpy(regions, from->front[i].regions,
             from->front[i].count * sizeof *regions);
    to->front[i].regions = regions;
  }
  return CALM_OK;
}

static calm_status copy_reason(calm_plan *plan, const char *reason) {
  plan->tiling.reason = arena_string(&plan->arena, reason, strlen(reason));
  return plan->tiling.reason ? CALM_OK : context_no_memory(plan->context);
}

/* The stages, and the plan that they begin from, belong to the plan. */
static void hand_over(tiling *t, calm_plan *plan) {
  memcpy(plan->stages, t->stages, sizeof plan->stages);
  plan->stage_count = t->stage_count;
  t->stage_count = 0;
  if (plan == t->untiled) {
    t->untiled = NULL;
    return;
  }
  plan->rewriting = t->untiled->rewriting;
  plan->earlier = t->untiled;
  t->untiled = t->tiled = NULL;
}

static calm_status keep(calm_plan **out, tiling *t, calm_plan *plan) {
  plan_tiling *r = &t->result;
  r->of = base_graph(t);
  r->plan_macs = graph_macs(plan->graph);
  plan->tiling = *r;
  TRY(copy_front(plan, &r->choice));
  plan->tiling.reason = NULL;
  if (plan == t->untiled && r->reason) TRY(copy_reason(plan, r->reason));
  if (plan == t->untiled) {
    for (uint32_t i = 0; i < r->choice.front_count; i++)
      if (r->choice.front[i].count == 0) plan->tiling.choice.chosen = i;
    if (!plan->tiling.reason) TRY(explain(t, plan));
  }
  *out = plan;
  hand_over(t, plan);
  return CALM_OK;
}

/* What the plan would come to if a library were named. */
static calm_status ask_overlap(tiling *t, calm_plan *plan) {
  calm_plan *other;
  calm_options o = t->options;
  if (!is_max(t) || o.overlap || !plan_is_for(plan, "tflm") || !o.offline_plan)
    return CALM_OK;
  o.overlap = 1;
  o.kernels = "reference";
  context_mute(t->context, true);
  const calm_status status =
      plan_tile_plan_model(&other, t, (calm_model *)plan->model, &o);
  context_mute(t->context, false);
  if (status == CALM_UNSUPPORTED || status == CALM_MISUSE) return CALM_OK;
  TRY(status);
  t->result.with_overlap = plan_step_of("overlap", other);
  calm_plan_free(other);
  return CALM_OK;
}

calm_status plan_tile_choose(calm_plan **out, tiling *t) {
  calm_plan *plan = t->tiled && pays(t) ? t->tiled : t->untiled;
  if (plan == t->tiled) plan_step_add(&t->result, plan_step_of("tiles", plan));
  TRY(ask_overlap(t, plan));
  return keep(out, t, plan);
}
