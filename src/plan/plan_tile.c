/* Tiling a graph and planning what becomes of it. */
#include "plan/plan_tile_run.h"

#include <string.h>

#include "base/number.h"
#include "graph/graph_window.h"

/* Ticks for the search among tilings, and for each plan that is made on the
   way, so that a minute is enough for all of it. */
static const uint64_t SEARCH_TICKS = 2500000000, PLAN_TICKS = 30000000;

enum { EFFORT_MAX = 1, MINIMIZE_HEAD = 2 };

static bool is_max(const plan_tile_run *t) {
  return t->request.options.effort == EFFORT_MAX;
}

/* What is left of the time; a part of it at least, as earlier plans have taken
   no more than theirs. */
static double time_left(const plan_tile_run *t) {
  const double all = t->options.time_limit_s;
  const double left = all - (limits_clock() - t->start);
  return left > all / 8 ? left : all / 8;
}

calm_status plan_tile_plan(calm_plan **out, const plan_tile_run *t,
                           calm_model *model, const calm_options *options) {
  calm_options o = *options;
  if (o.time_limit_s > 0) o.time_limit_s = time_left(t) / 2;
  return plan_make_as_is(out, model, &o);
}

/* ---- Without tiles ------------------------------------------------------- */

static calm_status plan_untiled(plan_tile_run *t) {
  if (t->request.rewrites)
    return plan_rewrite_make(&t->untiled, t->original, &t->options);
  return plan_tile_plan(&t->untiled, t, t->original, &t->options);
}

/* The figures of a plan of the original with less than was asked for. */
static calm_status add_step(plan_tile_run *t, const char *name, bool overlap) {
  calm_plan *plan;
  calm_options o = t->options;
  o.overlap = overlap;
  context_mute(t->context, true);
  const calm_status status = plan_tile_plan(&plan, t, t->original, &o);
  context_mute(t->context, false);
  TRY(status);
  plan_step_add(&t->result, plan_step_of(name, plan));
  calm_plan_free(plan);
  return CALM_OK;
}

static calm_status record_untiled(plan_tile_run *t) {
  plan_tiling *r = &t->result;
  const bool overlap = t->options.overlap;
  const bool rewritten = t->untiled->round_count > 0;
  plan_step before = plan_step_before(t->untiled);
  before.macs = graph_macs(&t->original->graphs.data[0]);
  before.op_count = t->original->graphs.data[0].ops.count;
  plan_step_add(r, before);
  if (is_max(t) && (overlap || rewritten))
    TRY(add_step(t, "order and placement", false));
  if (is_max(t) && overlap && rewritten) TRY(add_step(t, "overlap", true));
  plan_step_add(r, plan_step_of(rewritten ? "rewriting"
                                : overlap ? "overlap"
                                          : "order and placement",
                                t->untiled));
  return CALM_OK;
}

/* ---- Regions ------------------------------------------------------------- */

static uint64_t add_share(uint64_t macs, double share) {
  return share < 0 ? UINT64_MAX : macs + (uint64_t)((double)macs * share);
}

/* A budget is for the whole arena. */
static tile_goal goal_of(const plan_tile_run *t) {
  const calm_options *o = &t->options;
  return (tile_goal){
      .head = o->minimize == MINIMIZE_HEAD && o->budget_bytes == UINT64_MAX,
      .most_macs = add_share(t->result.macs, t->request.most_extra),
      .budget_bytes = o->budget_bytes};
}

static void begin_search(limits *l, const plan_tile_run *t) {
  pipeline_limits(l, t->context, &t->options, 0);
  l->max_ticks = number_smaller(t->request.options.tick_limit, SEARCH_TICKS);
  if (t->options.time_limit_s > 0)
    l->deadline = limits_clock() + 0.75 * time_left(t);
}

static calm_status find_regions(plan_tile_run *t) {
  plan_tile_judge j;
  limits l;
  plan_tiling *r = &t->result;
  begin_search(&l, t);
  TRY(plan_tile_judge_init(&j, t->base, &t->options, &r->goal, &l,
                           &t->scratch));
  j.searching = true;
  const tile_judge judge = plan_tile_judge_of(&j);
  TRY(tile_search(&r->choice, plan_tile_graph(t), &judge, &r->goal,
                  t->options.seed, &l, &t->scratch));
  context_log(t->context, CALM_LOG_DETAIL,
              "tiles: %u tilings judged, %.1f million ticks", r->choice.judged,
              (double)l.ticks * 1e-6);
  return CALM_OK;
}

/* A front of two: as it is, and with the regions that are given. */
static calm_status judge_given(plan_tile_run *t) {
  plan_tile_judge j;
  limits l;
  bool possible;
  plan_tiling *r = &t->result;
  tile_state *front;
  begin_search(&l, t);
  TRY(plan_tile_judge_init(&j, t->base, &t->options, &r->goal, &l,
                           &t->scratch));
  const tile_judge judge = plan_tile_judge_of(&j);
  ARENA_ARRAY(&t->scratch, front, 2);
  front[0].regions = t->request.regions;
  front[0].count = t->request.count;
  for (int i = 0; i < 2; i++) {
    TRY(judge.score(&front[i].score, &possible, judge.payload, front[i].regions,
                    front[i].count));
    if (!possible)
      return context_fail(t->context, CALM_UNSUPPORTED, "%s",
                          calm_context_message(t->context));
  }
  r->choice = (tile_choice){.front = front,
                            .front_count = 2,
                            .near = front,
                            .near_count = 1,
                            .judged = 1};
  return CALM_OK;
}

/* The untiled graph as it stands in the front. */
static const tile_state *untiled_state(const plan_tile_run *t) {
  const tile_choice *choice = &t->result.choice;
  for (uint32_t i = 0; i < choice->front_count; i++)
    if (choice->front[i].count == 0) return &choice->front[i];
  return &choice->front[0];
}

/* ---- Which of the two ---------------------------------------------------- */

static bool pays(const plan_tile_run *t) {
  return !t->request.automatic || plan_tile_is_better(t, t->tiled, t->untiled);
}

/* Who sets the bound, and what becomes of it. */
static calm_status explain(plan_tile_run *t, calm_plan *plan) {
  const graph *g = plan_tile_graph(t);
  const tile_score *score = &untiled_state(t)->score;
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
static void hand_over(plan_tile_run *t, calm_plan *plan) {
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

static calm_status keep(calm_plan **out, plan_tile_run *t, calm_plan *plan) {
  plan_tiling *r = &t->result;
  r->of = plan_tile_graph(t);
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
static calm_status ask_overlap(plan_tile_run *t, calm_plan *plan) {
  calm_plan *other;
  calm_options o = t->options;
  if (!is_max(t) || o.overlap || !plan_is_for(plan, "tflm") || !o.offline_plan)
    return CALM_OK;
  o.overlap = 1;
  o.kernels = "reference";
  context_mute(t->context, true);
  const calm_status status =
      plan_tile_plan(&other, t, (calm_model *)plan->model, &o);
  context_mute(t->context, false);
  if (status == CALM_UNSUPPORTED || status == CALM_MISUSE) return CALM_OK;
  TRY(status);
  t->result.with_overlap = plan_step_of("overlap", other);
  calm_plan_free(other);
  return CALM_OK;
}

static calm_status choose(calm_plan **out, plan_tile_run *t) {
  calm_plan *plan = t->tiled && pays(t) ? t->tiled : t->untiled;
  if (plan == t->tiled) plan_step_add(&t->result, plan_step_of("tiles", plan));
  TRY(ask_overlap(t, plan));
  return keep(out, t, plan);
}

/* ---- All of it ----------------------------------------------------------- */

/* Nothing is to be computed twice for a budget that holds anyway. */
static bool fits_already(const plan_tile_run *t) {
  return t->request.automatic && t->options.budget_bytes != UINT64_MAX &&
         plan_tile_needs(t, t->untiled) <= t->options.budget_bytes;
}

static calm_status prepare(plan_tile_run *t) {
  plan_tiling *r = &t->result;
  const plan_step step = plan_step_of("", t->untiled);
  TRY(plan_tile_begin(t));
  TRY(plan_tile_unfold(t));
  r->mode = t->request.automatic ? "auto" : "given";
  r->macs = graph_macs(plan_tile_graph(t));
  r->goal = goal_of(t);
  r->most_macs_given = t->request.most_extra >= 0;
  r->tail_counts = !r->goal.head && step.tail_bytes != UINT64_MAX;
  return CALM_OK;
}

/* The graph as it is, which is all there is. */
static calm_status rest(plan_tile_run *t) {
  plan_tiling *r = &t->result;
  const plan_step s = plan_step_of("", t->untiled);
  ARENA_ARRAY(&t->scratch, r->choice.front, 1);
  r->choice.front_count = 1;
  r->choice.front[0].score =
      (tile_score){.head_bytes = s.head_bytes,
                   .tail_bytes = s.tail_bytes == UINT64_MAX ? 0 : s.tail_bytes,
                   .macs = s.macs,
                   .op_count = s.op_count};
  r->reason = "the budget holds without tiles";
  return CALM_OK;
}

static calm_status make(calm_plan **out, plan_tile_run *t,
                        const calm_options *options) {
  TRY(plan_tile_read(&t->request, t->original, options, &t->scratch));
  t->options = t->request.options;
  t->options.tick_limit =
      number_smaller(t->request.options.tick_limit, PLAN_TICKS);
  TRY(plan_untiled(t));
  TRY(record_untiled(t));
  TRY(prepare(t));
  if (fits_already(t)) {
    TRY(rest(t));
    return choose(out, t);
  }
  TRY(t->request.automatic ? find_regions(t) : judge_given(t));
  TRY(plan_tile_finish(t));
  return choose(out, t);
}

calm_status plan_tile_make(calm_plan **out, calm_model *model,
                           const calm_options *options) {
  plan_tile_run t = {
      .context = model->context, .original = model, .start = limits_clock()};
  arena_init(&t.scratch, model->context);
  const calm_status status = make(out, &t, options);
  calm_plan_free(t.tiled);
  for (uint32_t i = t.stage_count; i-- > 0;) plan_stage_free(t.stages[i]);
  calm_plan_free(t.untiled);
  arena_free(&t.scratch);
  return status;
}
