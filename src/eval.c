/* What loop nests cost: files -> machine, layer, nests -> counts and energy. */
#include "eval.h"

#include <string.h>

#include "accel/accel_energy.h"
#include "accel/accel_sections.h"
#include "pipeline.h"

/* ---- Files --------------------------------------------------------------- */

/* What the files hold before anybody asks what it means. */
typedef struct sources {
  accel_yaml *arch; /* all parts of it */
  accel_yaml *problem;
  accel_yaml *ert; /* NULL: none given */
  accel_rule_files constraints;
} sources;

/* A file of sections, of which no other misses one that is misspelt. */
static calm_status open_sections(accel_yaml **out, const char *path, arena *a) {
  TRY(accel_yaml_open(out, path, a));
  return accel_sections_check(*out, a->context);
}

static calm_status open_parts(accel_yaml **out,
                              const calm_evaluation_files *files, arena *a) {
  accel_yaml **parts;
  if (files->arch_count == 0)
    return context_fail(a->context, CALM_MISUSE,
                        "no architecture is given (--arch FILE)");
  ARENA_ARRAY(a, parts, files->arch_count);
  for (uint32_t i = 0; i < files->arch_count; i++)
    TRY(open_sections(&parts[i], files->arch[i], a));
  return accel_yaml_join(out, parts, files->arch_count, a);
}

/* Whatever has no file of its own may stand among the parts. */
static calm_status open_or_find(accel_yaml **out, const char *path,
                                const char *section, accel_yaml *parts,
                                arena *a) {
  if (path) return accel_yaml_open(out, path, a);
  if (!accel_yaml_get(parts, section))
    return context_fail(a->context, CALM_MISUSE,
                        "no %s is given (--%s FILE), and no architecture file "
                        "has a section '%s'",
                        section, section, section);
  *out = parts;
  return CALM_OK;
}

static calm_status open_rules(const accel_yaml **out, const char *path,
                              arena *a) {
  accel_yaml *root;
  TRY(open_sections(&root, path, a));
  if (!accel_constraints_present(root))
    return accel_place_fail(a->context, CALM_BAD_INPUT, root->place,
                            "no section of constraints, such as "
                            "mapspace_constraints");
  *out = root;
  return CALM_OK;
}

/* Sections of constraints among the parts of the architecture hold as well, and
   so do those at its nodes, which need no file. */
static calm_status open_constraints(sources *s, option_LIST list, arena *a) {
  const accel_yaml **roots;
  uint32_t most = 1, count = 0;
  for (option_LIST item = list; item; item = item->next) most++;
  ARENA_ARRAY(a, roots, most);
  if (accel_constraints_present(s->arch)) roots[count++] = s->arch;
  for (option_LIST item = list; item; item = item->next)
    TRY(open_rules(&roots[count++], item->text, a));
  s->constraints = (accel_rule_files){roots, count};
  return CALM_OK;
}

static calm_status open_sources(sources *out,
                                const calm_evaluation_files *files,
                                const calm_options *options, arena *a) {
  TRY(open_parts(&out->arch, files, a));
  TRY(open_or_find(&out->problem, files->problem, "problem", out->arch, a));
  if (options->ert) TRY(accel_yaml_open(&out->ert, options->ert, a));
  return open_constraints(out, options->constraints, a);
}

/* ---- One nest ------------------------------------------------------------ */

static calm_status keep_text(const char **out, const char *words, arena *a) {
  *out = arena_string(a, words, strlen(words));
  return *out ? CALM_OK : context_no_memory(a->context);
}

static calm_status tell_verdict(eval_nest *n, const cost_problem *p, arena *a) {
  text words;
  char *line;
  text_init(&words, a->context);
  cost_verdict_text(&words, &n->result.verdict, p);
  TRY(text_finish(&words, &line));
  calm_status status = keep_text(&n->reason, line, a);
  calm_text_free(a->context, line);
  return status;
}

/* The first constraint that a nest breaks, if it breaks one. */
static calm_status check_constraints(eval_nest *n, const calm_evaluation *e,
                                     const accel_constraints *constraints,
                                     arena *a) {
  char *line = NULL;
  if (n->reason) return CALM_OK;
  TRY(accel_constraints_check(&line, constraints, &n->nest, &e->arch, &e->layer,
                              a->context));
  if (!line) return CALM_OK;
  calm_status status = keep_text(&n->reason, line, a);
  calm_text_free(a->context, line);
  n->breaks_rule = true;
  return status;
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
  TRY(open_or_find(&mapping, NULL, "mapping", parts, a));
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
    TRY(tell_verdict(n, &e->problem, a));
  TRY(check_constraints(n, e, constraints, a));
  if (!n->reason) n->summary = summarise(&n->result, e->energy);
  return CALM_OK;
}

/* ---- The pipeline -------------------------------------------------------- */

static cost_fanout_rule fanout_of(const calm_options *options) {
  if (options->fanout != EVAL_FANOUT_AUTO)
    return (cost_fanout_rule)(options->fanout - EVAL_FANOUT_RULES);
  return options->cost == COST_EXACT ? COST_FANOUT_LEVEL
                                     : COST_FANOUT_CUMULATIVE;
}

static cost_options cost_options_of(const calm_options *options) {
  return (cost_options){.model = (cost_model)options->cost,
                        .fanout = fanout_of(options),
                        .networks = true};
}

static calm_status read_machine(calm_evaluation *e, accel_constraints *rules,
                                const sources *s, const calm_options *options) {
  const cost_options cost = cost_options_of(options);
  arena *a = &e->arena;
  TRY(accel_arch_read(&e->arch, s->arch, s->ert, options->energy, a));
  TRY(accel_layer_read(&e->layer, s->problem,
                       (accel_dilation_zero)options->dilation_zero, a));
  TRY(accel_arch_check_tensors(&e->arch, &e->layer, a->context));
  TRY(accel_constraints_read_files(rules, &s->constraints, &e->arch, &e->layer,
                                   a));
  e->energy = options->energy;
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
  TRY(open_sources(&s, files, options, &e->arena));
  TRY(read_machine(e, &rules, &s, options));
  e->nest_count = files->mapping_count ? files->mapping_count : 1;
  for (uint32_t i = 0; i < e->nest_count; i++) {
    const char *path = files->mapping_count ? files->mappings[i] : NULL;
    TRY(keep_text(&e->nests[i].path, path ? path : files->arch[0], &e->arena));
    TRY(read_nest(&e->nests[i], e, path, s.arch));
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
