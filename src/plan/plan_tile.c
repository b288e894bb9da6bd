/* Tiling a graph and planning what becomes of it. */
#include "plan/plan_tile.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph_window.h"
#include "plan/plan_rewrite_judge.h"

/* Ticks for the search among tilings, and for each plan that is made on the
   way, so that a minute is enough for all of it. */
static const uint64_t SEARCH_TICKS = 2500000000, PLAN_TICKS = 30000000;

/* Of all tilings together that are planned to the end. */
enum { MOST_OPERATORS = 1600 };

/* Of the time limit; after that no further tiling is planned. */
static const double LATE_SHARE = 0.85;

enum { EFFORT_MAX = 1, MINIMIZE_HEAD = 2 };

typedef struct tiling {
  calm_context *context;
  plan_tile_request request;
  calm_options options; /* of the plans */
  calm_model *original;
  double start;
  calm_plan *untiled; /* of the original, rewritten if that is asked for */
  calm_plan *tiled;
  plan_stage *stages[PLAN_MOST_STAGES];
  uint32_t stage_count;
  calm_model *base;              /* that is to be tiled */
  tile_state planned[TILE_NEAR]; /* with the figures of their plans */
  uint32_t planned_count, best;
  plan_tiling result;
  arena scratch;
} tiling;

static const graph *base_graph(const tiling *t) {
  return &t->base->graphs.data[0];
}

static bool is_max(const tiling *t) {
  return t->request.options.effort == EFFORT_MAX;
}

/* What is left of the time; a part of it at least, as earlier plans have taken
   no more than theirs. */
static double time_left(const tiling *t) {
  const double all = t->options.time_limit_s;
  const double left = all - (limits_clock() - t->start);
  return left > all / 8 ? left : all / 8;
}

/* Is it time to end with what there is? */
static bool is_late(const tiling *t) {
  const double all = t->options.time_limit_s;
  return context_interrupted(t->context) ||
         (all > 0 && limits_clock() - t->start > LATE_SHARE * all);
}

static calm_status plan_model(calm_plan **out, const tiling *t,
                              calm_model *model, const calm_options *options) {
  calm_options o = *options;
  if (o.time_limit_s > 0) o.time_limit_s = time_left(t) / 2;
  return plan_make_as_is(out, model, &o);
}

/* ---- Without tiles ------------------------------------------------------- */

static calm_status plan_untiled(tiling *t) {
  if (t->request.rewrites)
    return plan_rewrite_make(&t->untiled, t->original, &t->options);
  return plan_model(&t->untiled, t, t->original, &t->options);
}

/* The figures of a plan of the original with less than was asked for. */
static calm_status add_step(tiling *t, const char *name, bool overlap) {
  calm_plan *plan;
  calm_options o = t->options;
  o.overlap = overlap;
  context_mute(t->context, true);
  const calm_status status = plan_model(&plan, t, t->original, &o);
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
  if (t->options.time_limit_s > 0)
    l->deadline = limits_clock() + 0.75 * time_left(t);
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

static const tile_state *state_at(const tiling *t, uint32_t i) {
  return &t->result.choice.front[i];
}

static const tile_state *untiled_state(const tiling *t) {
  for (uint32_t i = 0; i < t->result.choice.front_count; i++)
    if (state_at(t, i)->count == 0) return state_at(t, i);
  return state_at(t, 0);
}

/* ---- What plans come to -------------------------------------------------- */

static uint64_t needs(const tiling *t, const calm_plan *plan) {
  const plan_step s = plan_step_of("", plan);
  return s.head_bytes +
         (t->result.goal.head || s.tail_bytes == UINT64_MAX ? 0 : s.tail_bytes);
}

/* Is `a` what the goal asks for rather than `b`? */
static bool is_better(const tiling *t, const calm_plan *a, const calm_plan *b) {
  const uint64_t budget = t->options.budget_bytes;
  const uint64_t x = needs(t, a), y = needs(t, b);
  const uint64_t p = graph_macs(a->graph), q = graph_macs(b->graph);
  if (budget != UINT64_MAX && (x <= budget) != (y <= budget))
    return x <= budget;
  if (budget != UINT64_MAX && x <= budget && p != q) return p < q;
  return x != y ? x < y : p < q;
}

/* ---- With tiles ---------------------------------------------------------- */

/* A plan of tiles, with the stage that makes its model. */
typedef struct candidate {
  plan_stage *stage; /* NULL: no tiles */
  calm_plan *plan;
} candidate;

static void drop(candidate *c) {
  calm_plan_free(c->plan);
  plan_stage_free(c->stage);
  *c = (candidate){NULL, NULL};
}

/* The judge saw the operators in the order of the file, which a search for an
   order of the least peak may not lead back to. */
static calm_status plan_candidate_model(candidate *c, const tiling *t,
                                        calm_model *model) {
  calm_plan *other;
  calm_options o = t->options;
  TRY(plan_model(&c->plan, t, model, &o));
  if (o.order != ORDER_EXACT) return CALM_OK;
  o.order = ORDER_FILE;
  context_mute(t->context, true);
  const calm_status status = plan_model(&other, t, model, &o);
  context_mute(t->context, false);
  TRY(status);
  if (is_better(t, other, c->plan)) {
    calm_plan *worse = c->plan;
    c->plan = other;
    other = worse;
  }
  calm_plan_free(other);
  return CALM_OK;
}

static calm_status make_stage(plan_stage **out, const tiling *t,
                              const tile_state *state) {
  plan_round *round;
  const tile_options o = plan_tile_apply_options(t->base, &t->untiled->memory);
  TRY(plan_tile_round(&round, t->base, state->regions, state->count, &o));
  const calm_status status = tile_check(&round->edit, t->context);
  if (status != CALM_OK) {
    plan_round_free(round);
    return status;
  }
  return plan_stage_of_round(out, t->untiled, round);
}

/* The state as a plan; without regions it is that of the base. */
static calm_status fill_candidate(candidate *c, const tiling *t,
                                  const tile_state *state) {
  if (state->count) TRY(make_stage(&c->stage, t, state));
  return plan_candidate_model(c, t,
                              c->stage ? plan_stage_model(c->stage) : t->base);
}

/* A tiling whose plan does not stand up to its judges is no candidate; that is
   a fault of calm, and said, but there are others. */
static calm_status leave_out(const tiling *t, const tile_state *state) {
  text words;
  char *line;
  text_init(&words, t->context);
  text_format(&words, "%s", calm_context_message(t->context));
  text_format(&words, "; left out are the tiles ");
  plan_tiling_words(&words, state);
  TRY(text_finish(&words, &line));
  context_log(t->context, CALM_LOG_WARNING, "%s", line);
  calm_text_free(t->context, line);
  return CALM_OK;
}

/* What the judge said of a tiling, and what its plan needs. */
static calm_status tell(const tiling *t, const tile_state *state,
                        const calm_plan *plan) {
  text words;
  char *line;
  if (!context_logs(t->context)) return CALM_OK;
  text_init(&words, t->context);
  plan_tiling_words(&words, state);
  TRY(text_finish(&words, &line));
  context_log(t->context, CALM_LOG_DETAIL,
              "tiles: planned %" PRIu64 " bytes, judged %" PRIu64
              ", %.1f million ticks: %s",
              needs(t, plan), plan_tiling_bytes(&t->result, &state->score),
              (double)(plan->order.ticks + plan->layout.ticks) * 1e-6, line);
  calm_text_free(t->context, line);
  return CALM_OK;
}

/* With the figures of the plan in place of the judge's. */
static void record_planned(tiling *t, const tile_state *state,
                           const calm_plan *plan) {
  const plan_step step = plan_step_of("", plan);
  tile_state *planned = &t->planned[t->planned_count++];
  *planned = *state;
  planned->score.head_bytes = step.head_bytes;
  planned->score.tail_bytes =
      step.tail_bytes == UINT64_MAX ? 0 : step.tail_bytes;
}

static calm_status try_state(candidate *best, tiling *t,
                             const tile_state *state) {
  candidate c = {NULL, NULL};
  const calm_status status = fill_candidate(&c, t, state);
  if (status != CALM_OK) {
    drop(&c);
    context_mute(t->context, false);
    return status == CALM_INTERNAL && t->request.automatic ? leave_out(t, state)
                                                           : status;
  }
  TRY(tell(t, state, c.plan));
  record_planned(t, state, c.plan);
  if (best->plan && !is_better(t, c.plan, best->plan)) {
    drop(&c);
    return CALM_OK;
  }
  drop(best);
  *best = c;
  t->best = t->planned_count - 1;
  return CALM_OK;
}

/* A file that cannot have such operators has none of the others either. */
static calm_status keep_reason(tiling *t) {
  const char *why = calm_context_message(t->context);
  t->result.reason = arena_string(&t->scratch, why, strlen(why));
  return t->result.reason ? CALM_OK : context_no_memory(t->context);
}

/* The judge's words are rough: what is about as good as the best is planned as
   well. */
static calm_status plan_best(candidate *best, tiling *t) {
  const tile_choice *choice = &t->result.choice;
  uint64_t operators = 0;
  for (uint32_t i = 0; i < choice->near_count; i++) {
    const tile_state *state = &choice->near[i];
    if (state->count == 0 && !t->result.folded) continue;
    operators += state->score.op_count;
    if (best->plan && (operators > MOST_OPERATORS || is_late(t))) break;
    const calm_status status = try_state(best, t, state);
    if (status == CALM_UNSUPPORTED && t->request.automatic)
      return keep_reason(t);
    TRY(status);
  }
  return CALM_OK;
}

/* ---- The front with the figures of plans --------------------------------- */

static bool covers(const tiling *t, const tile_score *a, const tile_score *b) {
  return plan_tiling_bytes(&t->result, a) <= plan_tiling_bytes(&t->result, b) &&
         a->macs <= b->macs && a->op_count <= b->op_count;
}

static bool was_planned(const tiling *t, const tile_state *state) {
  for (uint32_t i = 0; i < t->planned_count; i++)
    if (t->planned[i].regions == state->regions) return true;
  return false;
}

static bool is_covered(const tiling *t, const tile_state *all, uint32_t count,
                       uint32_t i) {
  for (uint32_t k = 0; k < count; k++)
    if (k != i && covers(t, &all[k].score, &all[i].score) &&
        (k < i || !covers(t, &all[i].score, &all[k].score)))
      return true;
  return false;
}

static void insert(tile_choice *out, const tiling *t, const tile_state *state) {
  const uint64_t bytes = plan_tiling_bytes(&t->result, &state->score);
  uint32_t at = out->front_count++;
  for (; at && plan_tiling_bytes(&t->result, &out->front[at - 1].score) > bytes;
       at--)
    out->front[at] = out->front[at - 1];
  out->front[at] = *state;
}

/* The plan's own point, and the untiled graph's, always stay. */
static calm_status renew_front(tiling *t) {
  const tile_choice old = t->result.choice;
  tile_choice *out = &t->result.choice;
  const tile_region *chosen = t->planned[t->best].regions;
  tile_state *all;
  uint32_t count = 0;
  if (t->planned_count == 0) return CALM_OK;
  ARENA_ARRAY(&t->scratch, all, old.front_count + t->planned_count);
  for (uint32_t i = 0; i < t->planned_count; i++) all[count++] = t->planned[i];
  for (uint32_t i = 0; i < old.front_count; i++)
    if (!was_planned(t, &old.front[i])) all[count++] = old.front[i];
  ARENA_ARRAY(&t->scratch, out->front, count);
  out->front_count = 0;
  for (uint32_t i = 0; i < count; i++)
    if (all[i].count == 0 || all[i].regions == chosen ||
        !is_covered(t, all, count, i))
      insert(out, t, &all[i]);
  for (uint32_t i = 0; i < out->front_count; i++)
    if (out->front[i].regions == chosen) out->chosen = i;
  return CALM_OK;
}

static calm_status plan_tiled(tiling *t) {
  candidate best = {NULL, NULL};
  const calm_status status = plan_best(&best, t);
  if (status != CALM_OK) {
    drop(&best);
    return status;
  }
  if (!best.plan) return CALM_OK;
  TRY(renew_front(t));
  if (best.stage) t->stages[t->stage_count++] = best.stage;
  t->tiled = best.plan;
  t->tiled->original = t->original;
  plan_keep_baseline(t->tiled, t->untiled);
  return CALM_OK;
}

/* ---- Which of the two ---------------------------------------------------- */

static bool pays(const tiling *t) {
  return !t->request.automatic || is_better(t, t->tiled, t->untiled);
}

/* Who sets the bound, and what becomes of it. */
static calm_status explain(tiling *t, calm_plan *plan) {
  const graph *g = base_graph(t);
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
      plan_model(&other, t, (calm_model *)plan->model, &o);
  context_mute(t->context, false);
  if (status == CALM_UNSUPPORTED || status == CALM_MISUSE) return CALM_OK;
  TRY(status);
  t->result.with_overlap = plan_step_of("overlap", other);
  calm_plan_free(other);
  return CALM_OK;
}

static calm_status choose(calm_plan **out, tiling *t) {
  calm_plan *plan = t->tiled && pays(t) ? t->tiled : t->untiled;
  if (plan == t->tiled) plan_step_add(&t->result, plan_step_of("tiles", plan));
  TRY(ask_overlap(t, plan));
  return keep(out, t, plan);
}

/* ---- All of it ----------------------------------------------------------- */

/* Nothing is to be computed twice for a budget that holds anyway. */
static bool fits_already(const tiling *t) {
  return t->request.automatic && t->options.budget_bytes != UINT64_MAX &&
         needs(t, t->untiled) <= t->options.budget_bytes;
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
    return choose(out, t);
  }
  TRY(t->request.automatic ? find_regions(t) : judge_given(t));
  TRY(plan_tiled(t));
  return choose(out, t);
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
