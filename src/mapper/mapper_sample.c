/* Trying nests, and the best of them, for both mappers that sample. */
#include "mapper/mapper_sample_parts.h"

#include <string.h>

#include "cost/cost_frame.h"
#include "mapper/mapper_remedy.h"

/* ---- The best so far ----------------------------------------------------- */

static bool is_better(const mapper_sampler *s, double value, double cycles) {
  if (!s->found) return true;
  if (s->problem->objective == MAPPER_DELAY_ENERGY && cycles != s->cycles)
    return cycles < s->cycles;
  return value < s->value;
}

static void copy_nest(accel_nest *out, const accel_nest *n) {
  out->loop_count = n->loop_count;
  out->level_count = n->level_count;
  for (uint32_t i = 0; i < n->loop_count; i++) out->loops[i] = n->loops[i];
  for (uint32_t l = 0; l < n->level_count; l++) out->kept[l] = n->kept[l];
}

static void enter_valid(mapper_sampler *s, const accel_nest *n) {
  const double value = mapper_value_of(s->problem->objective, &s->result);
  const double cycles = (double)s->result.cycles;
  s->valid++;
  s->since++;
  if (!is_better(s, value, cycles)) return;
  copy_nest(&s->best, n);
  s->value = value;
  s->cycles = cycles;
  s->found = true;
  s->since = 0;
}

/* Of the nests that do not fit, the one that came furthest in the order of
   checks, and misses by least, tells what would help. */
static void enter_fault(mapper_sampler *s, const cost_verdict *v) {
  const double needed = (double)v->needed, available = (double)v->available;
  const double miss =
      needed > available ? needed / available : available / (needed + 1);
  if (v->fault < s->nearest.fault) return;
  if (v->fault == s->nearest.fault && miss >= s->miss) return;
  s->miss = miss;
  s->nearest = *v;
}

/* ---- Trying nests -------------------------------------------------------- */

static calm_status observes_rules(bool *out, const mapper_sampler *s,
                                  const accel_nest *n) {
  const mapper_problem *p = s->problem;
  calm_context *context = s->scratch->context;
  char *broken = NULL;
  *out = true;
  if (!p->constraints) return CALM_OK;
  TRY(accel_constraints_check(&broken, p->constraints, n, p->arch, p->layer,
                              context));
  *out = broken == NULL;
  calm_text_free(context, broken);
  return CALM_OK;
}

/* Rules come last, as few nests that are drawn break one. */
calm_status mapper_sampler_try(bool *valid, mapper_sampler *s,
                               const accel_nest *n) {
  s->samples++;
  *valid = false;
  limits_spend(s->limits, n->loop_count);
  TRY(cost_evaluate(&s->result, &s->cost, n));
  if (s->result.verdict.fault != COST_VALID) {
    enter_fault(s, &s->result.verdict);
    return CALM_OK;
  }
  TRY(observes_rules(valid, s, n));
  if (*valid) enter_valid(s, n);
  return CALM_OK;
}

calm_status mapper_sampler_draw(bool *valid, mapper_sampler *s) {
  limits_spend(s->limits, s->problem->layer->dimension_count);
  if (mapper_draw_next(&s->draw))
    return mapper_sampler_try(valid, s, &s->draw.nest);
  s->samples++;
  *valid = false;
  return CALM_OK;
}

bool mapper_sampler_is_done(mapper_sampler *s) {
  return limits_spend(s->limits, 1) || s->samples >= s->sampling->samples ||
         s->valid >= s->sampling->valid;
}

/* ---- The answer ---------------------------------------------------------- */

static calm_status explain_none(mapper_result *out, const mapper_sampler *s,
                                arena *a) {
  text t;
  text_init(&t, a->context);
  if (s->limits->reason != LIMITS_NONE)
    text_format(&t, "%s: ", limits_reason_name(s->limits->reason));
  text_format(&t, "none of the %llu nests drawn is valid",
              (unsigned long long)s->samples);
  if (s->nearest.fault != COST_VALID) {
    text_format(&t, "; the nearest: ");
    cost_verdict_text(&t, &s->nearest, &s->cost);
    if (s->nearest.fault == COST_CAPACITY)
      mapper_remedy_tell(&t, s->problem, s->nearest.level, true);
  }
  return text_keep(&t, &out->reason, a);
}

/* The best nest, in memory that stays, and evaluated again there. */
static calm_status hand_out(mapper_result *out, const mapper_sampler *s,
                            arena *a) {
  cost_problem cost;
  ARENA_ARRAY(a, out->nest.loops, s->best.loop_count);
  ARENA_ARRAY(a, out->nest.kept, s->best.level_count);
  copy_nest(&out->nest, &s->best);
  TRY(cost_problem_init(&cost, s->problem->arch, s->problem->layer,
                        &s->problem->cost, a));
  TRY(cost_result_init(&out->cost, &cost, a));
  return cost_evaluate(&out->cost, &cost, &out->nest);
}

static calm_status report(mapper_result *out, const mapper_sampler *s,
                          arena *a) {
  mapper_result r = {.samples = s->samples, .valid = s->valid};
  if (s->draw.reason) {
    r.outcome = CALM_INFEASIBLE;
    r.reason = arena_string(a, s->draw.reason, strlen(s->draw.reason));
    if (!r.reason) return context_no_memory(a->context);
  } else if (!s->found) {
    r.outcome = CALM_LIMIT;
    TRY(explain_none(&r, s, a));
  } else {
    r.outcome = CALM_FEASIBLE;
    r.value = s->value;
    if (s->limits->reason != LIMITS_NONE)
      r.reason = limits_reason_name(s->limits->reason);
    TRY(hand_out(&r, s, a));
  }
  *out = r;
  return CALM_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status check_problem(const mapper_problem *p, const char *name,
                                 calm_context *context) {
  const char *what = p->objective == MAPPER_PARETO    ? "objective pareto"
                     : p->objective == MAPPER_BALANCE ? "objective balance"
                     : p->imperfect                   ? "imperfect factors"
                                                      : NULL;
  if (!what) return CALM_OK;
  return context_fail(context, CALM_MISUSE, "the %s mapper has no %s", name,
                      what);
}

static calm_status run(mapper_result *out, mapper_sampler *s,
                       mapper_sample_method *method, arena *a) {
  const mapper_problem *p = s->problem;
  TRY(mapper_draw_init(&s->draw, p, s->sampling->seed, s->scratch));
  if (s->draw.reason) return report(out, s, a);
  TRY(cost_problem_init(&s->cost, p->arch, p->layer, &p->cost, s->scratch));
  TRY(cost_result_init(&s->result, &s->cost, s->scratch));
  ARENA_ARRAY(s->scratch, s->best.loops, COST_MOST_STEPS);
  ARENA_ARRAY(s->scratch, s->best.kept, p->arch->level_count);
  TRY(method(s));
  return report(out, s, a);
}

calm_status mapper_sample_run(mapper_result *out, const mapper_problem *p,
                              const mapper_sampling *sampling, limits *l,
                              const char *name, mapper_sample_method *method,
                              arena *a) {
  arena scratch;
  TRY(check_problem(p, name, a->context));
  arena_init(&scratch, a->context);
  mapper_sampler s = {
      .problem = p, .sampling = sampling, .limits = l, .scratch = &scratch};
  const calm_status status = run(out, &s, method, a);
  arena_free(&scratch);
  return status;
}
