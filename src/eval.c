/* What loop nests cost: files -> machine, layer, nests -> counts and energy. */
#include "eval.h"

#include <string.h>

#include "accel/accel_energy.h"
#include "base/number.h"
#include "pipeline.h"
#include "pipeline_accel.h"

/* What the files hold before anybody asks what it means. */
typedef struct sources {
  pipeline_machine machine;
  accel_yaml *problem;
} sources;

static calm_status open_sources(sources *out,
                                const calm_evaluation_files *files,
                                const calm_options *options, arena *a) {
  TRY(pipeline_machine_open(&out->machine, files->arch, files->arch_count,
                            options, a));
  return pipeline_open_or_find(&out->problem, files->problem, "problem",
                               out->machine.arch, a);
}

/* ---- Links --------------------------------------------------------------- */

/* "GlobalBuffer" of "GlobalBuffer=1"; a lone rate is of all levels. */
static bool names_level(const char *item, const char *rate,
                        const accel_level *level) {
  const size_t length = (size_t)(rate - item);
  return rate == item || (strlen(level->name) == length - 1 &&
                          !memcmp(level->name, item, length - 1));
}

static calm_status read_rate(calm_evaluation *e, const char *item) {
  const char *equals = strrchr(item, '=');
  const char *rate = equals ? equals + 1 : item;
  double words;
  bool found = false;
  if (!number_parse_decimal(&words, rate) || words <= 0)
    return context_fail(e->context, CALM_MISUSE,
                        "--links: '%s' has no number of words above 0, as in "
                        "1 or %s=0.5",
                        item, e->arch.levels[0].name);
  for (uint32_t i = 0; i < e->arch.level_count; i++) {
    if (!names_level(item, rate, &e->arch.levels[i])) continue;
    e->link_rates[i] = words;
    found = true;
  }
  if (found) return CALM_OK;
  return context_fail(e->context, CALM_MISUSE,
                      "--links: %s has no level '%.*s'", e->arch.name,
                      (int)(rate - item - 1), item);
}

/* Later ones hold. */
static calm_status read_rates(calm_evaluation *e, option_LIST links) {
  if (!links) return CALM_OK;
  ARENA_ARRAY(&e->arena, e->link_rates, e->arch.level_count);
  for (; links; links = links->next) TRY(read_rate(e, links->text));
  return CALM_OK;
}

static calm_status count_links(eval_nest *n, calm_evaluation *e) {
  if (n->reason || !e->link_rates) return CALM_OK;
  ARENA_ARRAY(&e->arena, n->link_words, e->arch.level_count);
  TRY(cost_links_count(n->link_words, &e->problem, &n->nest, &n->result));
  n->links =
      cost_links_bound(n->link_words, e->link_rates, e->arch.level_count);
  return CALM_OK;
}

/* ---- One nest ------------------------------------------------------------ */

/* The first constraint that a nest breaks, if it breaks one. */
static calm_status check_constraints(eval_nest *n, const calm_evaluation *e,
                                     const accel_constraints *constraints,
                                     arena *a) {
  if (n->reason) return CALM_OK;
  TRY(pipeline_broken_rule(&n->reason, constraints, &n->nest, &e->problem, a));
  n->breaks_rule = n->reason != NULL;
  return CALM_OK;
}

static calm_evaluation_summary summarise(const cost_result *r, bool energy) {
  return (calm_evaluation_summary){.valid = true,
                                   .computes = r->computes,
                                   .cycles = r->cycles,
                                   .energy_pj = energy ? r->energy_pj : 0,
                                   .edp = energy ? r->edp : 0,
                                   .utilization = r->utilization};
}

/* A file of its own may also be what Timeloop prints for people. */
static calm_status read_nest(eval_nest *n, calm_evaluation *e, const char *path,
                             accel_yaml *parts) {
  accel_yaml *mapping;
  arena *a = &e->arena;
  if (path) return accel_nest_open(&n->nest, path, &e->arch, &e->layer, a);
  TRY(pipeline_open_or_find(&mapping, NULL, "mapping", parts, a));
  return accel_nest_read(&n->nest, mapping, &e->arch, &e->layer, a);
}

static calm_status evaluate_nest(eval_nest *n, calm_evaluation *e,
                                 const accel_constraints *constraints) {
  arena *a = &e->arena;
  if (e->energy)
    TRY(accel_energy_check(&e->arch, &e->layer, n->nest.kept, e->context));
  TRY(cost_result_init(&n->result, &e->problem, a));
  TRY(cost_evaluate(&n->result, &e->problem, &n->nest));
  if (n->result.verdict.fault != COST_VALID)
    TRY(pipeline_verdict(&n->reason, &n->result.verdict, &e->problem, a));
  TRY(check_constraints(n, e, constraints, a));
  TRY(count_links(n, e));
  if (!n->reason) n->summary = summarise(&n->result, e->energy);
  return CALM_OK;
}

/* ---- The pipeline -------------------------------------------------------- */

static calm_status read_machine(calm_evaluation *e, accel_constraints *rules,
                                const sources *s, const calm_options *options) {
  const cost_options cost = pipeline_cost_options(options);
  arena *a = &e->arena;
  TRY(accel_arch_read(&e->arch, s->machine.arch, s->machine.ert,
                      options->energy, a));
  TRY(accel_layer_read(&e->layer, s->problem,
                       (accel_dilation_zero)options->dilation_zero, a));
  TRY(accel_arch_check_tensors(&e->arch, &e->layer, a->context));
  TRY(accel_constraints_read_files(rules, &s->machine.constraints, &e->arch,
                                   &e->layer, a));
  e->energy = options->energy;
  TRY(read_rates(e, options->links));
  return cost_problem_init(&e->problem, &e->arch, &e->layer, &cost, a);
}

typedef struct job {
  calm_evaluation *evaluation;
  const calm_evaluation_files *files;
} job;

static calm_status evaluate(void *result, const calm_options *options) {
  const job *j = result;
  const calm_evaluation_files *files = j->files;
  calm_evaluation *e = j->evaluation;
  sources s = {0};
  accel_constraints rules;
  if (files->mapping_count > EVAL_MOST_NESTS)
    return context_fail(e->context, CALM_MISUSE,
                        "--mapping: one nest, or two to be compared");
  TRY(options_changed_find(&e->changed, options, "eval", &e->arena));
  TRY(open_sources(&s, files, options, &e->arena));
  TRY(read_machine(e, &rules, &s, options));
  e->nest_count = files->mapping_count ? files->mapping_count : 1;
  for (uint32_t i = 0; i < e->nest_count; i++) {
    const char *path = files->mapping_count ? files->mappings[i] : NULL;
    TRY(pipeline_keep_text(&e->nests[i].path, path ? path : files->arch[0],
                           &e->arena));
    TRY(read_nest(&e->nests[i], e, path, s.machine.arch));
    TRY(evaluate_nest(&e->nests[i], e, &rules));
  }
  return CALM_OK;
}

calm_status calm_evaluate(calm_evaluation **out, calm_context *context,
                          const calm_evaluation_files *files,
                          const calm_options *options) {
  calm_evaluation *e = pipeline_allocate(context, sizeof *e);
  if (!e) return CALM_NO_MEMORY;
  e->context = context;
  arena_init(&e->arena, context);
  job j = {e, files};
  calm_status status = pipeline_run(context, options, evaluate, &j);
  if (status == CALM_OK)
    *out = e;
  else
    calm_evaluation_free(e);
  return status;
}

void calm_evaluation_free(calm_evaluation *e) {
  if (!e) return;
  calm_context *context = e->context;
  arena_free(&e->arena);
  context_reallocate(context, e, sizeof *e, 0);
}

/* ---- What came of it ----------------------------------------------------- */

const calm_evaluation_summary *calm_evaluation_summary_of(
    const calm_evaluation *e, uint32_t mapping) {
  return mapping < e->nest_count ? &e->nests[mapping].summary : NULL;
}

const char *calm_evaluation_reason(const calm_evaluation *e, uint32_t mapping) {
  return mapping < e->nest_count ? e->nests[mapping].reason : NULL;
}

bool calm_evaluation_limited(const calm_evaluation *e, uint32_t mapping) {
  return mapping < e->nest_count && eval_nest_limited(&e->nests[mapping]);
}

bool calm_evaluation_valid(const calm_evaluation *e) {
  for (uint32_t i = 0; i < e->nest_count; i++)
    if (e->nests[i].reason) return false;
  return true;
}
