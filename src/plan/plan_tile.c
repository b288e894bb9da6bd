/* Tiling a graph and planning what becomes of it. */
#include <string.h>

#include "base/number.h"
#include "graph/graph_window.h"
#include "plan/plan_rewrite_judge.h"
#include "plan/plan_tile_run.h"

/* Ticks for the search among tilings, and for each plan that is made on the
   way, so that a minute is enough for all of it. */
static const uint64_t SEARCH_TICKS = 2500000000, PLAN_TICKS = 30000000;

/* What is left of the time; a part of it at least, as earlier plans have taken
   no more than theirs. */
static double time_left(const tiling *t) {
  const double all = t->options.time_limit_s;
  const double left = all - (limits_clock() - t->start);
  return left > all / 8 ? left : all / 8;
}

calm_status plan_tile_plan_model(calm_plan **out, const tiling *t,
                                 calm_model *model,
                                 const calm_options *options) {
  calm_options o = *options;
  if (o.time_limit_s > 0) o.time_limit_s = time_left(t) / 2;
  return plan_make_as_is(out, model, &o);
}

/* ---- Without tiles ------------------------------------------------------- */

static calm_status plan_untiled(tiling *t) {
  if (t->request.rewrites)
    return plan_rewrite_make(&t->untiled, t->original, &t->options);
  return plan_tile_plan_model(&t->untiled, t, t->original, &t->options);
}

/* The figures of a plan of the original with less than was asked for. */
static calm_status add_step(tiling *t, const char *name, bool overlap) {
  calm_plan *plan;
  calm_options o = t->options;
  o.overlap = overlap;
  context_mute(t->context, true);
  const calm_status status = plan_tile_plan_model(&plan, t, t->original, &o);
  context_mute(t->context, false);
  TRY(status);
  plan_step_add(&t->result, plan_step_of(name, plan));
  calm_plan_free(plan);
  return CALM_OK;
}

static calm_status record_untiled(tiling *t) {
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

/* ---- What is to be tiled ------------------------------------------------- */

static void add_stage(tiling *t, plan_stage *stage) {
  t->stages[t->stage_count++] = stage;
  t->base = plan_stage_model(stage);
}

static calm_status begin_stages(tiling *t) {
  plan_stage *stage;
  t->base = (calm_model *)t->untiled->model;
  TRY(plan_stage_of_plan(&stage, t->untiled));
  if (stage) add_stage(t, stage);
  return CALM_OK;
}

/* Constants of a model, compared. */
typedef struct comparison {
  const calm_model *model;
  arena *a;
} comparison;

static bool same_bytes(void *payload, tensor_id a, tensor_id b) {
  const comparison *c = payload;
  const uint8_t *x, *y;
  uint64_t m, n;
  return model_constant(&x, &m, c->model, a, c->a) == CALM_OK &&
         model_constant(&y, &n, c->model, b, c->a) == CALM_OK && m == n &&
         memcmp(x, y, (size_t)m) == 0;
}

static calm_status fold_round(plan_round **out, uint32_t *found,
                              const tiling *t) {
  plan_round *round;
  tile_options o = plan_tile_apply_options(t->base, &t->untiled->memory);
  comparison c = {.model = t->base};
  *found = 0;
  *out = NULL;
  TRY(plan_round_new(&round, t->base));
  c.a = &round->arena;
  o.same = same_bytes;
  o.payload = &c;
  calm_status status =
      tile_fold(&round->edit, found, base_graph(t), &o, &round->arena);
  if (status == CALM_OK && *found) status = plan_round_finish(round);
  if (status == CALM_OK && *found)
    *out = round;
  else
    plan_round_free(round);
  return status;
}

static calm_status fold(tiling *t) {
  plan_round *round;
  plan_stage *stage;
  if (!t->options.fold_tiles) return CALM_OK;
  TRY(fold_round(&round, &t->result.folded, t));
  if (!round) return CALM_OK;
  TRY(plan_stage_of_round(&stage, t->untiled, round));
  add_stage(t, stage);
  return CALM_OK;
}

/* ---- Regions ------------------------------------------------------------- */

static uint64_t add_share(uint64_t macs, double share) {
  return share < 0 ? UINT64_MAX : macs + (uint64_t)((double)macs * share);
}

/* A budget is for the whole arena. */
static tile_goal goal_of(const tiling *t) {
  const calm_options *o = &t->options;
  return (tile_goal){
      .head = o->minimize == MINIMIZE_HEAD && o->budget_bytes == UINT64_MAX,
      .most_macs = add_share(t->result.macs, t->request.most_extra),
      .budget_bytes = o->budget_bytes};
}

static void begin_search(limits *l, const tiling *t) {
  pipeline_limits(l, t->context, &t->options, 0);
  l->max_ticks = number_smaller(t->request.options.tick_limit, SEARCH_TICKS);
  if (t->options.time_limit_s > 0) limits_set_time(l, 0.75 * time_left(t));
}

static calm_status find_regions(tiling *t) {
  plan_tile_judge j;
  limits l;
  plan_tiling *r = &t->result;
  begin_search(&l, t);
  TRY(plan_tile_judge_init(&j, t->base, &t->options, &r->goal, &l,
                           &t->scratch));
  j.searching = true;
  const tile_judge judge = plan_tile_judge_of(&j);
  TRY(tile_search(&r->choice, base_graph(t), &judge, &r->goal, t->options.seed,
                  &l, &t->scratch));
  context_log(t->context, CALM_LOG_DETAIL,
              "tiles: %u tilings judged, %.1f million ticks", r->choice.judged,
              (double)l.ticks * 1e-6);
  return CALM_OK;
}

/* A front of two: as it is, and with the regions that are given. */
static calm_status judge_given(tiling *t) {
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
    if (!possible) return CALM_UNSUPPORTED; /* the context has the reason */
  }
  r->choice = (tile_choice){.front = front,
                            .front_count = 2,
                            .near = front,
                            .near_count = 1,
                            .judged = 1};
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

/* Nothing is to be computed twice for a budget that holds anyway. */
static bool fits_already(const tiling *t) {
  return t->request.automatic && t->options.budget_bytes != UINT64_MAX &&
         plan_tile_needs(t, t->untiled) <= t->options.budget_bytes;
}

static calm_status prepare(tiling *t) {
  plan_tiling *r = &t->result;
  const plan_step step = plan_step_of("", t->untiled);
  TRY(begin_stages(t));
  TRY(fold(t));
  r->mode = t->request.automatic ? "auto" : "given";
  r->macs = graph_macs(base_graph(t));
  r->goal = goal_of(t);
  r->most_macs_given = t->request.most_extra >= 0;
  r->tail_counts = !r->goal.head && step.tail_bytes != UINT64_MAX;
  return CALM_OK;
}

/* The graph as it is, which is all there is. */
static calm_status rest(tiling *t) {
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

static calm_status make(calm_plan **out, tiling *t,
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
    return plan_tile_choose(out, t);
  }
  TRY(t->request.automatic ? find_regions(t) : judge_given(t));
  TRY(plan_tile_plan_best(t));
  return plan_tile_choose(out, t);
}

calm_status plan_tile_make(calm_plan **out, calm_model *model,
                           const calm_options *options) {
  tiling t = {
      .context = model->context, .original = model, .start = limits_clock()};
  arena_init(&t.scratch, model->context);
  const calm_status status = make(out, &t, options);
  calm_plan_free(t.tiled);
  for (uint32_t i = t.stage_count; i-- > 0;) plan_stage_free(t.stages[i]);
  calm_plan_free(t.untiled);
  arena_free(&t.scratch);
  return status;
}
