#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "mapper/mapper_climb.h"
#include "mapper/mapper_exact.h"
#include "mapper/mapper_reason.h"

/*
 * Threshold deepening: rounds with a growing threshold, each of which adds
 * what can stay below it.  If a round finds a nest, the best one is the
 * best of all; if it finds none, nothing costs less than the least bound that
 * was pruned.  No start heuristic is needed, and a stopped search knows a
 * bound.
 *
 * A search counts parts of blocks and of cycles; what a nest costs has them
 * rounded.  If the best nest costs more than the bound for that reason, one
 * more round looks at all that might cost less when rounded.
 */

/* How often the cap of a race is raised. */
enum { MOST_RAISES = 1 };

/* Numbers of multipliers that are tried for the sake of a cycle. */
enum { MOST_SPREADS = 16 };

/* ---- Rounds -------------------------------------------------------------- */

/* Of a front, the least energy is told. */
static double best_of(const mapper_search *m) {
  if (!m->front) return m->value;
  const uint32_t count = m->front->stairs.count;
  return count ? m->front->stairs.data[count - 1].energy_pj : HUGE_VAL;
}

static void tell(const mapper_progress *p, const mapper_search *m,
                 double threshold) {
  if (p->quiet || !context_logs(m->context)) return;
  char best[64] = "-";
  const double value = best_of(m);
  if (value < HUGE_VAL && p->bound > 0)
    snprintf(best, sizeof best, "%.9g  gap %.2g %%", value,
             100 * fmax(0, 1 - p->bound / value));
  context_log(m->context, CALM_LOG_PROGRESS,
              "mapper: %s: round %" PRIu64
              " below %.9g  bound %.9g  best %s  states %" PRIu64 "  %.1f MB",
              m->space->problem->layer->name, p->rounds, threshold, p->bound,
              best, p->states, (double)mapper_search_bytes(m) * 1e-6);
}

calm_status mapper_exact_round(mapper_progress *p, mapper_search *m,
                               double threshold) {
  TRY(mapper_search_round(m, threshold));
  p->states += m->states;
  p->rounds++;
  tell(p, m, threshold);
  return CALM_OK;
}

/*
 * A round costs little more than what it adds, but for labels that are expanded
 * again.  So steps are small, lest the last one goes far beyond the optimum;
 * the further the root is from it, the larger they are.
 */
double mapper_exact_raise(double root, double pruned) {
  return fmax(fmax(1.001 * pruned, pruned + 0.07 * (pruned - root)), 1e-9);
}

/* A search that takes long shall have a nest soon; the sum of labels after
   which it looks for one, and how long. */
enum { MANY_STATES = 100000, LONG_TRIES = 10000, MORE_STARTS = 3 };

/* Of the last round, before a better nest is looked for. */
enum { FEW_LAST_TICKS = 1 << 21 };

static calm_status find_meanwhile(mapper_search *m) {
  const mapper_climbing how = {.most_cycles = m->value_cap,
                               .tries = LONG_TRIES,
                               .starts = MORE_STARTS,
                               .from = m->found ? &m->best_nest : NULL};
  mapper_result r;
  arena scratch;
  arena_init(&scratch, m->context);
  calm_status status =
      mapper_climb(&r, m->space->problem, &how, m->limits, &scratch);
  if (status == CALM_OK && r.outcome == CALM_FEASIBLE)
    status = mapper_search_adopt(m, &r.nest);
  arena_free(&scratch);
  return status;
}

/* Until a nest is found: then m->score is the least score of all; or until it
   is known that none costs less than m->value. */
static calm_status deepen(mapper_progress *p, mapper_search *m) {
  const double root = mapper_search_root(m);
  double threshold = mapper_exact_raise(root, root);
  p->bound = root;
  p->infeasible = root == HUGE_VAL;
  while (p->bound < m->value) {
    TRY(mapper_exact_round(p, m, fmin(threshold, m->value)));
    if (m->stopped) return CALM_OK;
    if (m->score < HUGE_VAL) break;
    if (m->pruned == HUGE_VAL) {
      p->infeasible = true;
      return CALM_OK;
    }
    p->bound = fmax(p->bound, m->pruned);
    threshold = mapper_exact_raise(root, m->pruned);
    if (p->states > MANY_STATES && m->value == HUGE_VAL) TRY(find_meanwhile(m));
  }
  if (m->score < HUGE_VAL) p->bound = fmin(m->score, m->value);
  if (m->objective == MAPPER_DELAY) p->bound = ceil(p->bound * (1 - 1e-11));
  return CALM_OK;
}

/* Is the proof complete, up to the last digits? */
static bool is_proved(const mapper_progress *p, const mapper_search *m) {
  return m->value <= p->bound * (1 + 1e-9);
}

/* All that may cost less than the best nest.  There may be none yet, as those
   that seemed to be as fast as asked for need a cycle more: then the threshold
   goes on rising until one is found. */
static calm_status round_up(mapper_progress *p, mapper_search *m,
                            uint64_t ticks) {
  const double root = mapper_search_root(m);
  bool last;
  m->rounded = true;
  m->most_states = MAPPER_MOST_LAST_STATES;
  m->last_ticks = ticks;
  do {
    last = m->value < HUGE_VAL;
    TRY(mapper_exact_round(
        p, m, last ? m->value : mapper_exact_raise(root, p->bound)));
    if (m->stopped) return CALM_OK;
    p->bound = last ? m->value : fmin(fmax(p->bound, m->pruned), m->value);
  } while (!last && p->bound < HUGE_VAL && !is_proved(p, m));
  return CALM_OK;
}

/* Of small layers whole blocks decide, which the search that came before does
   not know: its nest may be far from the best, and too much seems to be of use.
   If that takes long, a better nest is looked for without it. */
static calm_status finish(mapper_progress *p, mapper_search *m) {
  TRY(round_up(p, m, FEW_LAST_TICKS));
  if (!m->stopped || m->limits->reason != LIMITS_NONE) return CALM_OK;
  TRY(find_meanwhile(m));
  m->stopped = m->begun = false;
  return round_up(p, m, MAPPER_MOST_LAST_TICKS);
}

/*
 * Cycles are rounded in floating point, by steps that depend on the compute
 * cycles.  A cycle too many may not be needed with another number of them.
 */
static calm_status try_spreads(mapper_progress *p, mapper_search *m) {
  const mapper_space *s = m->space;
  double compute = HUGE_VAL;
  for (uint32_t i = 0; i < MOST_SPREADS && !m->stopped; i++) {
    compute = mapper_cycles_next(s, compute, p->bound);
    if (compute == 0 || is_proved(p, m)) break;
    m->spread = s->tables->macs / compute;
    TRY(mapper_exact_round(p, m, m->value));
  }
  return CALM_OK;
}

static calm_status solve(mapper_progress *p, mapper_search *m) {
  TRY(deepen(p, m));
  if (m->stopped || p->infeasible || m->any || is_proved(p, m)) return CALM_OK;
  if (m->objective == MAPPER_DELAY) TRY(try_spreads(p, m));
  m->spread = 0;
  return m->stopped || is_proved(p, m) ? CALM_OK : finish(p, m);
}

/* ---- The answer ---------------------------------------------------------- */

const char *mapper_exact_reason(const limits *l) {
  return l->reason != LIMITS_NONE ? limits_reason_name(l->reason)
                                  : "too many nests differ only by rounding";
}

/* A search that came to an end without a nest: what tiles and orders allow has
   counts beyond those that are exact. */
static calm_status explain_none(const char **out, const mapper_search *m,
                                arena *a) {
  *out = mapper_exact_reason(m->limits);
  if (m->limits->reason != LIMITS_NONE || m->cost.verdict.fault == COST_VALID)
    return CALM_OK;
  text t;
  text_init(&t, a->context);
  cost_verdict_text(&t, &m->cost.verdict, &m->space->cost);
  *out = t.failed ? NULL : arena_string(a, t.data, t.length);
  text_free(&t);
  return *out ? CALM_OK : context_no_memory(a->context);
}

static calm_status report(mapper_result *out, const mapper_progress *p,
                          mapper_search *m, arena *a) {
  mapper_result r = {.states = p->states, .rounds = p->rounds};
  r.bound = p->bound;
  r.outcome = CALM_LIMIT;
  r.value = m->value;
  if (m->found) {
    r.outcome = is_proved(p, m) ? CALM_OPTIMAL : CALM_FEASIBLE;
    if (r.outcome == CALM_OPTIMAL) r.bound = r.value;
    r.cost.cycles = m->best.cycles;
    TRY(accel_nest_copy(&r.nest, &m->best_nest, a));
  } else if (p->infeasible) {
    r.outcome = CALM_INFEASIBLE;
    r.bound = HUGE_VAL;
    r.reason = "no tiling fits the capacities";
  } else {
    r.outcome = CALM_LIMIT;
    TRY(explain_none(&r.reason, m, a));
  }
  *out = r;
  return CALM_OK;
}

/* Time for a nest that is found without a search, if that is short. */
static const double quick_seconds = 0.08;
enum { QUICK_TRIES = 3000 };

/* A search that was stopped before it found a nest shall have one; the same at
   each run, unless the clock stopped it. */
static calm_status find_quickly(mapper_result *r, const mapper_problem *p,
                                const mapper_given *given,
                                limits_reason stopped, arena *a) {
  const mapper_climbing how = {.most_cycles = given->most_cycles,
                               .tries = QUICK_TRIES};
  mapper_result quick;
  limits l;
  limits_init(&l, a->context);
  if (stopped == LIMITS_TIME || stopped == LIMITS_INTERRUPT)
    l.deadline = limits_clock() + quick_seconds;
  TRY(mapper_climb(&quick, p, &how, &l, a));
  if (quick.outcome != CALM_FEASIBLE) return CALM_OK;
  r->outcome = CALM_FEASIBLE;
  r->nest = quick.nest;
  r->value = quick.value;
  return CALM_OK;
}

/* No nest has fewer cycles than the first bound says. */
static void cap_by_root(mapper_search *m) {
  const mapper_objective objective = m->objective;
  m->most_states = mapper_search_root(m) > 0 ? MAPPER_MOST_RACE_STATES : 0;
  m->objective = MAPPER_DELAY;
  m->cap = m->value_cap = ceil(mapper_search_root(m) * (1 - 1e-11));
  m->objective = objective;
}

/* If there are none, the least cycles of what the cap kept out are next. */
static calm_status run_race(mapper_progress *p, mapper_search *m) {
  TRY(solve(p, m));
  for (uint32_t i = 0; i < MOST_RAISES && p->infeasible; i++) {
    if (m->capped == HUGE_VAL) break;
    m->cap = m->value_cap = ceil(m->capped * (1 - 1e-11));
    p->infeasible = false;
    TRY(solve(p, m));
  }
  return CALM_OK;
}

static calm_status search_in(mapper_result *out, const mapper_problem *p,
                             const mapper_given *given, limits *l, arena *a,
                             arena *scratch) {
  const bool energy = p->objective != MAPPER_DELAY;
  const bool delay = p->objective != MAPPER_ENERGY;
  mapper_space *space;
  mapper_search *m;
  ARENA_ARRAY(scratch, space, 1);
  ARENA_ARRAY(scratch, m, 1);
  TRY(mapper_space_init(space, p, energy, delay, l, scratch));
  if (l->reason != LIMITS_NONE) {
    *out = (mapper_result){.outcome = CALM_LIMIT,
                           .value = HUGE_VAL,
                           .reason = limits_reason_name(l->reason)};
    return CALM_OK;
  }
  TRY(mapper_search_init(m, space, given->rules, l, scratch));
  m->cap = m->value_cap = given->most_cycles;
  m->value = given->most_value;
  m->front = given->front;
  m->any = given->fastest;
  m->held = arena_bytes(scratch);
  if (given->race) cap_by_root(m);
  mapper_progress done = {0};
  calm_status status = CALM_OK;
  done.quiet = given->quiet;
  if (given->front)
    status = mapper_pareto_deepen(&done, m);
  else
    status = given->race ? run_race(&done, m) : solve(&done, m);
  mapper_search_free(m);
  TRY(status);
  TRY(report(out, &done, m, a));
  if (given->fastest && !m->found) out->bound = m->cap;
  return CALM_OK;
}

static calm_status search_once(mapper_result *out, const mapper_problem *p,
                               const mapper_given *given, limits *l, arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  const calm_status status = search_in(out, p, given, l, a, &scratch);
  arena_free(&scratch);
  return status;
}

/*
 * Nests of the least delay are many, and bounds on cycles tell little apart.
 * But nearly always some nest is as fast as the very first bound, and the one
 * of least energy among those is found sooner than any by a search for delay.
 */
static calm_status race(mapper_result *out, const mapper_problem *p,
                        const mapper_given *given, limits *l, arena *a) {
  mapper_problem problem = *p;
  mapper_given fast = *given;
  problem.objective = MAPPER_DELAY_ENERGY;
  fast.race = fast.fastest = true;
  fast.most_value = HUGE_VAL;
  return search_once(out, &problem, &fast, l, a);
}

/* Its nest is a fastest one, whatever energy it needs. */
static void win_race(mapper_result *r, double most_cycles) {
  r->value = (double)r->cost.cycles;
  r->bound = fmin(r->value, most_cycles);
  r->outcome = r->value < most_cycles ? CALM_OPTIMAL : CALM_LIMIT;
}

calm_status mapper_exact_given(mapper_result *out, const mapper_problem *p,
                               const mapper_given *given, limits *l, arena *a) {
  mapper_result fast = {.outcome = CALM_LIMIT};
  if (p->objective == MAPPER_DELAY) TRY(race(&fast, p, given, l, a));
  if (mapper_exact_found(&fast)) {
    win_race(&fast, given->most_value);
    *out = fast;
    return CALM_OK;
  }
  TRY(search_once(out, p, given, l, a));
  out->states += fast.states;
  out->rounds += fast.rounds;
  if (fast.bound > out->bound) out->bound = fast.bound;
  return out->outcome == CALM_LIMIT && l->reason != LIMITS_NONE &&
                 given->most_value == HUGE_VAL && !given->front && !given->race
             ? find_quickly(out, p, given, l->reason, a)
             : CALM_OK;
}

static bool is_fixed(const mapper_problem *p) {
  for (uint32_t l = 0; l < p->arch->level_count; l++)
    if (p->must_keep[l] != p->may_keep[l]) return false;
  return true;
}

calm_status mapper_exact_evaluate(mapper_result *r, const mapper_problem *p,
                                  arena *a) {
  const cost_options options = {.model = COST_EXACT};
  cost_problem cost;
  TRY(cost_problem_init(&cost, p->arch, p->layer, &options, a));
  TRY(cost_result_init(&r->cost, &cost, a));
  return cost_evaluate(&r->cost, &cost, &r->nest);
}

calm_status mapper_exact_any(mapper_result *out, const mapper_problem *p,
                             const mapper_given *given, limits *l, arena *a) {
  TRY(is_fixed(p) ? mapper_exact_given(out, p, given, l, a)
                  : mapper_bypass_search(out, p, given, l, a));
  return mapper_exact_found(out) ? mapper_exact_evaluate(out, p, a) : CALM_OK;
}

/* The least delay first, then the least energy within it. */
static calm_status search_twice(mapper_result *out, const mapper_problem *p,
                                const mapper_given *given, limits *l,
                                arena *a) {
  mapper_problem first = *p;
  mapper_given within = *given;
  mapper_result fastest, r;
  within.race = is_fixed(p);
  if (within.race) {
    TRY(mapper_exact_any(&r, p, &within, l, a));
    *out = r;
    if (mapper_exact_found(&r) && r.states < MAPPER_MOST_RACE_STATES)
      return CALM_OK;
    within.race = false;
  }
  first.objective = MAPPER_DELAY;
  TRY(mapper_exact_any(&fastest, &first, given, l, a));
  *out = fastest;
  if (!mapper_exact_found(&fastest)) return CALM_OK;
  within.most_cycles = (double)fastest.cost.cycles;
  within.most_value = fastest.cost.energy_pj;
  TRY(mapper_exact_any(&r, p, &within, l, a));
  if (!mapper_exact_found(&r)) {
    /* Nothing better than the nest of the first search, or stopped. */
    const bool proved = r.outcome == CALM_INFEASIBLE ||
                        r.bound * (1 + 1e-9) >= fastest.cost.energy_pj;
    r.nest = fastest.nest;
    r.cost = fastest.cost;
    r.value = fastest.cost.energy_pj;
    if (proved) r.bound = r.value;
    r.outcome = proved ? CALM_OPTIMAL : CALM_FEASIBLE;
    r.reason = NULL;
  }
  if (fastest.outcome == CALM_FEASIBLE) r.outcome = CALM_FEASIBLE;
  if (r.outcome == CALM_FEASIBLE && !r.reason)
    r.reason = mapper_exact_reason(l);
  r.states += fastest.states;
  r.rounds += fastest.rounds;
  *out = r;
  return CALM_OK;
}

calm_status mapper_exact(mapper_result *out, const mapper_problem *p,
                         const mapper_rules *rules, limits *l, arena *a) {
  const mapper_given given = {
      .rules = rules, .most_cycles = HUGE_VAL, .most_value = HUGE_VAL};
  if (p->imperfect) return mapper_imperfect(out, p, rules, l, a);
  switch (p->objective) {
    case MAPPER_PARETO: TRY(mapper_pareto(out, p, rules, l, a)); break;
    case MAPPER_DELAY_ENERGY: TRY(search_twice(out, p, &given, l, a)); break;
    default: TRY(mapper_exact_any(out, p, &given, l, a));
  }
  if (out->outcome == CALM_FEASIBLE && !out->reason)
    out->reason = mapper_exact_reason(l);
  return out->outcome == CALM_INFEASIBLE ? mapper_reason(&out->reason, p, a)
                                         : CALM_OK;
}
