/*
 * The best tilings planned to the end, as any model is, and the front with the
 * figures of these plans.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "graph/graph_window.h"
#include "plan/plan_tile_run.h"

/* Of all tilings together that are planned to the end. */
enum { MOST_OPERATORS = 1600 };

/* Of the time limit; after that no further tiling is planned. */
static const double LATE_SHARE = 0.85;

/* Is it time to end with what there is? */
static bool is_late(const tiling *t) {
  const double all = t->options.time_limit_s;
  return context_interrupted(t->context) ||
         (all > 0 && limits_clock() - t->start > LATE_SHARE * all);
}

/* ---- What plans come to -------------------------------------------------- */

uint64_t plan_tile_needs(const tiling *t, const calm_plan *plan) {
  const plan_step s = plan_step_of("", plan);
  return s.head_bytes +
         (t->result.goal.head || s.tail_bytes == UINT64_MAX ? 0 : s.tail_bytes);
}

bool plan_tile_is_better(const tiling *t, const calm_plan *a,
                         const calm_plan *b) {
  const uint64_t budget = t->options.budget_bytes;
  const uint64_t x = plan_tile_needs(t, a), y = plan_tile_needs(t, b);
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
  TRY(plan_tile_plan_model(&c->plan, t, model, &o));
  if (o.order != ORDER_EXACT) return CALM_OK;
  o.order = ORDER_FILE;
  context_mute(t->context, true);
  const calm_status status = plan_tile_plan_model(&other, t, model, &o);
  context_mute(t->context, false);
  TRY(status);
  if (plan_tile_is_better(t, other, c->plan)) {
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
              plan_tile_needs(t, plan),
              plan_tiling_bytes(&t->result, &state->score),
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
  if (best->plan && !plan_tile_is_better(t, c.plan, best->plan)) {
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

calm_status plan_tile_plan_best(tiling *t) {
  candidate best = {NULL, NULL};
  const calm_status status = plan_best(&best, t);
  if (status != CALM_OK) {
    drop(&best);
    return status;
  }
  if (!best.plan) return CALM_OK;
  if (best.stage) t->stages[t->stage_count++] = best.stage;
  t->tiled = best.plan;
  t->tiled->original = t->original;
  TRY(plan_keep_baseline(t->tiled, t->untiled));
  return renew_front(t);
}
