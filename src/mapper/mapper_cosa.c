#include "mapper/mapper_cosa.h"

#include "base/text.h"
#include "mapper/mapper_cosa_measure.h"
#include "mapper/mapper_cosa_nest.h"
#include "mapper/mapper_cosa_reason.h"
#include "mapper/mapper_highs.h"
#include "mapper/mapper_remedy.h"

/*
 * One run: pad, build the program, solve it, make a nest of the solution, see
 * whether it runs, and cost it.  What the caller gets is in `a`, all else in
 * `scratch`.
 */
typedef struct run {
  const mapper_problem *problem;
  const mapper_cosa_options *options;
  const accel_layer *layer; /* padded, if it has to be */
  mapper_cosa_program program;
  mapper_cosa_model model;
  mapper_highs_answer answer;
  mapper_cosa_tiling tiling;
  accel_nest nest;
  uint32_t moves; /* of factors, to make it fit */
  char *refusal;  /* why it does not; NULL: it does */
  limits *limits;
  arena *a, *scratch;
} run;

/* ---- From the solution to a result --------------------------------------- */

/* Why there is no proof: CoSA proves something else. */
static calm_status tell_reason(const char **out, const run *r) {
  const bool solved = r->answer.outcome == CALM_OPTIMAL;
  text t;
  text_init(&t, r->a->context);
  if (solved)
    text_format(&t, "CoSA's optimum is of its own objective, not of the cost");
  else
    text_format(&t, "%s before CoSA's program was solved to the end",
                limits_reason_name(r->limits->reason));
  if (r->moves > 0)
    text_format(&t, "; %u prime factor%s moved outwards to make the tiles fit",
                r->moves, r->moves == 1 ? "" : "s");
  return text_keep(&t, out, r->a);
}

static calm_status refuse_verdict(run *r, const cost_verdict *v,
                                  const cost_problem *cost) {
  text t;
  text_init(&t, r->a->context);
  cost_verdict_text(&t, v, cost);
  if (v->fault == COST_CAPACITY)
    mapper_remedy_tell(&t, r->problem, v->level, false);
  return text_finish(&t, &r->refusal);
}

/* Does the nest run, and observe the constraints? */
static calm_status make_nest(run *r, const cost_problem *cost) {
  const mapper_cosa_program *p = &r->program;
  const accel_constraints *c = r->problem->constraints;
  cost_verdict verdict;
  TRY(mapper_cosa_tiling_init(&r->tiling, p, r->scratch));
  TRY(mapper_cosa_nest_init(&r->nest, p, r->scratch));
  mapper_cosa_tiling_read(&r->tiling, &r->model, r->answer.values);
  mapper_cosa_repair(&r->tiling, &r->nest, &verdict, &r->moves, p, cost);
  if (verdict.fault != COST_VALID) return refuse_verdict(r, &verdict, cost);
  if (!c) return CALM_OK;
  return accel_constraints_check(&r->refusal, c, &r->nest, p->arch, p->layer,
                                 r->a->context);
}

/* A nest that is counted beyond what calm can count has no figures. */
static calm_status finish(mapper_result *out, mapper_cosa_terms *terms, run *r,
                          const cost_problem *cost) {
  mapper_result result = {.outcome = CALM_FEASIBLE};
  mapper_cosa_terms t;
  TRY(cost_result_init(&result.cost, cost, r->a));
  TRY(cost_evaluate(&result.cost, cost, &r->nest));
  if (result.cost.verdict.fault != COST_VALID)
    return refuse_verdict(r, &result.cost.verdict, cost);
  TRY(mapper_cosa_measure_program(&t, &r->program, &r->nest, r->scratch));
  TRY(accel_nest_copy(&result.nest, &r->nest, r->a));
  TRY(tell_reason(&result.reason, r));
  t.bound = r->answer.bound;
  result.value = mapper_value_of(r->problem->objective, &result.cost);
  if (r->problem->objective == MAPPER_BALANCE) {
    result.value = t.objective;
    result.bound = t.bound;
  }
  if (r->layer != r->problem->layer) result.padded = r->layer;
  *out = result;
  *terms = t;
  return CALM_OK;
}

static calm_status tell_refusal(mapper_result *out, const run *r) {
  text t;
  text_init(&t, r->a->context);
  text_format(&t, "CoSA's nest cannot run, and cannot be repaired: %s",
              r->refusal);
  *out = (mapper_result){.outcome = CALM_INFEASIBLE};
  return text_keep(&t, &out->reason, r->a);
}

static calm_status use_solution(mapper_result *out, mapper_cosa_terms *terms,
                                run *r) {
  cost_problem cost;
  TRY(cost_problem_init(&cost, r->problem->arch, r->layer, &r->problem->cost,
                        r->a));
  TRY(make_nest(r, &cost));
  if (!r->refusal) TRY(finish(out, terms, r, &cost));
  return r->refusal ? tell_refusal(out, r) : CALM_OK;
}

/* ---- Solving ------------------------------------------------------------- */

static calm_status check_request(const mapper_problem *p, arena *a) {
  if (p->objective == MAPPER_PARETO)
    return context_fail(a->context, CALM_MISUSE,
                        "cosa: only the exact mapper finds all nests that "
                        "nothing beats in both energy and cycles");
  if (p->imperfect)
    return context_fail(a->context, CALM_MISUSE,
                        "cosa: its factors are prime, and so divide their "
                        "bounds; only the exact mapper tries others");
  return CALM_OK;
}

static calm_status solve(mapper_result *out, mapper_cosa_terms *terms, run *r) {
  TRY(mapper_cosa_model_build(&r->model, &r->program, r->scratch));
  if (r->options->dump) TRY(mapper_mip_write(&r->model.mip, r->options->dump));
  TRY(mapper_highs_solve(&r->answer, &r->model.mip, r->limits, r->scratch));
  switch (r->answer.outcome) {
    case CALM_INFEASIBLE:
      *out = (mapper_result){.outcome = CALM_INFEASIBLE};
      return mapper_cosa_tell_infeasible(&out->reason, &r->model, r->limits,
                                         r->a);
    case CALM_LIMIT:
      *out = (mapper_result){.outcome = CALM_LIMIT,
                             .reason = limits_reason_name(r->limits->reason)};
      return CALM_OK;
    default: return use_solution(out, terms, r);
  }
}

static calm_status start(mapper_result *out, mapper_cosa_terms *terms, run *r) {
  TRY(check_request(r->problem, r->a));
  TRY(mapper_cosa_pad(&r->layer, r->problem->layer, r->options->pad, r->a));
  TRY(mapper_cosa_program_init(&r->program, r->problem, r->options, r->layer,
                               r->scratch));
  mapper_mip_init(&r->model.mip, r->a->context);
  const calm_status status = solve(out, terms, r);
  mapper_cosa_model_free(&r->model);
  calm_text_free(r->a->context, r->refusal);
  return status;
}

calm_status mapper_cosa(mapper_result *out, mapper_cosa_terms *terms,
                        const mapper_problem *p, const mapper_cosa_options *o,
                        limits *l, arena *a) {
  arena scratch;
  arena_init(&scratch, a->context);
  run r = {
      .problem = p, .options = o, .limits = l, .a = a, .scratch = &scratch};
  mapper_result result = {.outcome = CALM_LIMIT};
  mapper_cosa_terms found = {0};
  const calm_status status = start(&result, &found, &r);
  arena_free(&scratch);
  TRY(status);
  *out = result;
  *terms = found;
  return CALM_OK;
}
