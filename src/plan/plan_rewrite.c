/* Rewriting a graph and planning what becomes of it. */
#include "plan/plan_rewrite_judge.h"

#include <string.h>

#include "base/number.h"

/* Ticks for the search among sites and for what is said of each afterwards; and
   how much more effort the order deserves in which sums are written. */
enum { SEARCH_TICKS = 250000000, WORTH_TICKS = 20000000, CHAIN_PATIENCE = 5 };

typedef struct rewriting {
  calm_context *context;
  const calm_options *options;
  calm_model *original;
  const char *mode;
  plan_target target;
  plan_words words;
  double start;
  calm_plan *as_is; /* of the original */
  plan_round *rounds[PLAN_MOST_ROUNDS];
  uint32_t round_count;
  struct {
    rewrite_sites sites;
    bool *taken;                    /* per site */
  } harmless[PLAN_MOST_ROUNDS - 1]; /* of the rounds but the last */
  rewrite_sites sites;              /* of the graph as it is by now */
  bool *taken;                      /* per site of these */
  rewrite_choice choice;
  limits l;
  arena scratch;
} rewriting;

static bool is_mode(const rewriting *r, const char *mode) {
  return !strcmp(r->mode, mode);
}

static calm_status read_mode(rewriting *r) {
  static const char *const modes[] = {"auto", "all", "paper"};
  const char *given = r->options->rewrite;
  r->mode = "sites";
  for (int i = 0; i < 3; i++)
    if (!strcmp(given, modes[i])) r->mode = modes[i];
  if (!is_mode(r, "sites")) return CALM_OK;
  return plan_split_words(&r->words, given, &r->scratch);
}

/* What is left of the time, of which the pipeline's stages take their shares;
   the plan of the original had its own. */
static double time_left(const rewriting *r) {
  const double all = r->options->time_limit_s;
  const double left = all - (limits_clock() - r->start);
  return left > all / 4 ? left : all / 4;
}

static void begin_effort(rewriting *r, uint64_t ticks) {
  pipeline_limits(&r->l, r->context, r->options, 0);
  if (r->options->time_limit_s > 0) limits_set_time(&r->l, 0.5 * time_left(r));
  r->l.max_ticks = number_smaller(r->l.max_ticks, ticks);
}

/* ---- The first rounds: what never costs memory ---------------------------
 *
 * No-ops go first, and then what they stood between is folded, so that nothing
 * is folded twice.
 */

static bool any_of(const bool *taken, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (taken[i]) return true;
  return false;
}

static calm_model *current(const rewriting *r) {
  return r->round_count ? &r->rounds[r->round_count - 1]->model : r->original;
}

static bool is_harmless(const rewriting *r, const rewrite_site *site,
                        bool noops) {
  return site->harmless && !site->refusal &&
         (site->rule == REWRITE_noops) == noops &&
         !(r->target.chained && site->rule == REWRITE_sums);
}

static calm_status take_harmless(bool **out, rewriting *r, bool noops) {
  bool *taken, *named;
  const uint32_t count = r->sites.count;
  ARENA_ARRAY(&r->scratch, taken, count);
  ARENA_ARRAY(&r->scratch, named, count);
  TRY(plan_take_named(named, &r->words, &r->sites));
  for (uint32_t i = 0; i < count; i++) {
    const bool wanted = is_mode(r, "sites") ? named[i] : !is_mode(r, "paper");
    taken[i] = wanted && is_harmless(r, &r->sites.sites[i], noops);
  }
  *out = taken;
  return CALM_OK;
}

static calm_status rewrite_harmless(rewriting *r, bool noops) {
  plan_round *round;
  bool *taken;
  TRY(take_harmless(&taken, r, noops));
  if (!any_of(taken, r->sites.count)) return CALM_OK;
  r->harmless[r->round_count].sites = r->sites;
  r->harmless[r->round_count].taken = taken;
  TRY(plan_round_new(&round, current(r)));
  r->rounds[r->round_count++] = round;
  TRY(rewrite_apply(&round->edit, &r->sites, taken, &round->arena));
  TRY(plan_round_finish(round));
  TRY(rewrite_check(&round->edit, r->context));
  return rewrite_find_sites(&r->sites, &round->model.graphs.data[0],
                            &r->target.options, &r->scratch);
}

/* A word may name what is a site only now. */
static calm_status check_words(rewriting *r) {
  bool *named;
  if (!is_mode(r, "sites")) return CALM_OK;
  ARENA_ARRAY(&r->scratch, named, r->sites.count);
  TRY(plan_take_named(named, &r->words, &r->sites));
  return plan_check_words(&r->words, &r->sites, &r->scratch);
}

static calm_status rewrite_first(rewriting *r) {
  TRY(rewrite_find_sites(&r->sites, &r->original->graphs.data[0],
                         &r->target.options, &r->scratch));
  TRY(rewrite_harmless(r, true));
  TRY(rewrite_harmless(r, false));
  return check_words(r);
}

/* ---- The last round: what has to be chosen ------------------------------- */

static void choose_all(rewriting *r) {
  for (uint32_t i = 0; i < r->sites.count; i++)
    r->taken[i] = !r->sites.sites[i].refusal;
}

static calm_status choose_best(rewriting *r, plan_judge *j) {
  rewrite_judge judge = plan_judge_of(j);
  begin_effort(r, SEARCH_TICKS);
  TRY(plan_judge_floor(&judge.floor_bytes, j));
  TRY(rewrite_search(&r->choice, &r->sites, &judge, &r->l, &r->scratch));
  context_log(r->context, CALM_LOG_DETAIL,
              "rewrite: %u sets of sites planned, %.1f million ticks",
              r->choice.judged, (double)r->l.ticks * 1e-6);
  for (uint32_t i = 0; i < r->sites.count; i++)
    r->taken[i] = r->choice.taken[i];
  return CALM_OK;
}

static calm_status choose(rewriting *r, plan_judge *j) {
  ARENA_ARRAY(&r->scratch, r->taken, r->sites.count);
  if (is_mode(r, "auto"))
    TRY(choose_best(r, j));
  else if (is_mode(r, "sites"))
    TRY(plan_take_named(r->taken, &r->words, &r->sites));
  else if (is_mode(r, "paper"))
    rewrite_take_paper(r->taken, &r->sites);
  else
    choose_all(r);
  return rewrite_leave_effective(r->taken, &r->sites, &r->scratch);
}

static calm_status rewrite_last(rewriting *r, plan_judge *j) {
  TRY(choose(r, j));
  if (!any_of(r->taken, r->sites.count)) return CALM_OK;
  begin_effort(r, UINT64_MAX);
  TRY(plan_judge_round(&r->rounds[r->round_count], j, r->taken,
                       CHAIN_PATIENCE));
  r->round_count++;
  return rewrite_check(&r->rounds[r->round_count - 1]->edit, r->context);
}

/* ---- The plan ------------------------------------------------------------ */

/* Less bytes, or as many and fewer operators. */
static bool is_better(const rewrite_score *a, const rewrite_score *b) {
  if (a->arena_bytes != b->arena_bytes) return a->arena_bytes < b->arena_bytes;
  if (a->peak_bytes != b->peak_bytes) return a->peak_bytes < b->peak_bytes;
  return a->op_count < b->op_count;
}

static uint64_t plan_spills(const calm_plan *plan) {
  return plan->traffic.least.wanted ? plan->traffic.least.spill_bytes : 0;
}

/* What counts is what the order was chosen for, and then the arena. */
static bool pays(const calm_plan *plan, const calm_plan *as_is) {
  const rewrite_score now = plan_score_of(plan);
  const rewrite_score before = plan_score_of(as_is);
  if (plan_spills(plan) != plan_spills(as_is))
    return plan_spills(plan) < plan_spills(as_is);
  return is_better(&now, &before);
}

calm_status plan_keep_baseline(calm_plan *plan, const calm_plan *as_is) {
  plan->summary.baseline_peak_bytes = as_is->summary.baseline_peak_bytes;
  plan->summary.baseline_arena_bytes = as_is->summary.baseline_arena_bytes;
  plan->runtime.default_head_bytes = as_is->runtime.default_head_bytes;
  plan->runtime.default_tail = as_is->runtime.default_tail;
  plan->runtime.carried_head_bytes = as_is->runtime.carried_head_bytes;
  plan->runtime.carried_holds = as_is->runtime.carried_holds;
  plan->runtime.file_peaks = as_is->runtime.file_peaks;
  return plan_copy_baseline(plan, &as_is->baseline);
}

/* What the file moves is what the original does in the order of the file. */
static void keep_traffic(calm_plan *plan, rewriting *r) {
  const plan_traffics *from = &r->as_is->traffic;
  if (!from->count) return;
  for (uint32_t i = 0; i < plan->traffic.count; i += plan->traffic.orders)
    plan->traffic.rows[i] = from->rows[i];
  plan->before = r->as_is;
  r->as_is = NULL;
}

static calm_status plan_rewritten(calm_plan **out, rewriting *r) {
  calm_plan *plan;
  calm_options options = *r->options;
  if (options.time_limit_s > 0) options.time_limit_s = time_left(r);
  context_mute(r->context, false);
  TRY(plan_make_as_is(&plan, current(r), &options));
  const calm_status status = plan_keep_baseline(plan, r->as_is);
  if (status) {
    calm_plan_free(plan);
    return status;
  }
  plan->original = r->original;
  plan->round_count = r->round_count;
  memcpy(plan->rounds, r->rounds, sizeof plan->rounds);
  r->round_count = 0;
  *out = plan;
  return CALM_OK;
}

/* The judge still speaks of its rounds. */
static void drop_plan(calm_plan *plan, rewriting *r) {
  r->round_count = plan->round_count;
  plan->round_count = 0;
  calm_plan_free(plan);
}

/* The plan of what was rewritten, or that of the original where rewriting does
   not pay and was not asked for by name. */
static calm_status choose_plan(calm_plan **out, rewriting *r) {
  calm_plan *plan = NULL;
  if (r->round_count) TRY(plan_rewritten(&plan, r));
  if (plan && is_mode(r, "auto") && !pays(plan, r->as_is)) {
    drop_plan(plan, r);
    plan = NULL;
  }
  if (plan) {
    keep_traffic(plan, r);
    *out = plan;
    return CALM_OK;
  }
  *out = r->as_is;
  r->as_is = NULL;
  memset(r->taken, 0, r->sites.count * sizeof *r->taken);
  return CALM_OK;
}

static calm_status record(calm_plan *plan, rewriting *r, plan_judge *j) {
  plan_rewriting *w = &plan->rewriting;
  w->mode = r->mode;
  w->partials = r->target.partials;
  w->judged = r->choice.judged;
  TRY(pipeline_choice(&w->accumulator, "accumulator", r->options->accumulator,
                      &plan->arena));
  if (r->choice.proved &&
      plan->summary.peak_bytes == plan->summary.peak_bound_bytes &&
      plan->summary.peak_bytes <= r->choice.score.peak_bytes)
    w->proof = r->choice.proof;
  for (uint32_t i = 0; i < PLAN_MOST_ROUNDS - 1; i++)
    if (r->harmless[i].taken)
      TRY(plan_record_harmless(plan, &r->harmless[i].sites,
                               r->harmless[i].taken));
  begin_effort(r, WORTH_TICKS);
  return plan_record_sites(plan, j, r->taken);
}

static calm_status make(calm_plan **out, rewriting *r) {
  plan_judge j;
  calm_plan *plan;
  TRY(read_mode(r));
  TRY(plan_rewrite_target(&r->target, r->original, r->options, &r->scratch));
  TRY(rewrite_first(r));
  TRY(plan_make_as_is(&r->as_is, r->original, r->options));
  TRY(plan_judge_init(&j, current(r), &r->sites, &r->target, r->options, &r->l,
                      &r->scratch));
  TRY(rewrite_last(r, &j));
  TRY(choose_plan(&plan, r));
  calm_status status = record(plan, r, &j);
  if (status == CALM_OK)
    *out = plan;
  else
    calm_plan_free(plan);
  return status;
}

calm_status plan_rewrite_make(calm_plan **out, calm_model *model,
                              const calm_options *options) {
  rewriting r = {.context = model->context,
                 .options = options,
                 .original = model,
                 .start = limits_clock()};
  arena_init(&r.scratch, model->context);
  calm_status status = make(out, &r);
  for (uint32_t i = 0; i < r.round_count; i++) plan_round_free(r.rounds[i]);
  if (r.as_is) calm_plan_free(r.as_is);
  arena_free(&r.scratch);
  return status;
}
