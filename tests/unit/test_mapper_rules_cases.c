/*
 * The exact mapper under the published constraints: its nests observe them, and
 * none is worse than the mapping that was published with them.  With
 * MAPPER_TIMES in the environment, each search is printed.
 */
#include "published_fixture.h"

#include <math.h>
#include <time.h>

#include "mapper/mapper.h"

typedef struct run {
  const char *arch, *ert, *problem;
  const char *constraints; /* NULL: only those of the machine */
  const char *mapping;     /* NULL: none was published */
  bool breaks_order;       /* that mapping does */
  const char *says;        /* why there is no nest */
} run;

#define RESNET "goldens/problems/resnet50_03.yaml"
#define GEMMINI "dosa/arch/arch.yaml"
#define EYERISS "timeloop_repo/eyeriss-256-split-arg.yaml"
#define SAMPLE "timeloop_repo/sample.yaml"
#define OC3 ISPASS "05-mapper-conv1d+oc-3level/"
#define VGG ISPASS "06-mapper-convlayer-eyeriss/"
#define OC3_RUN(name, constraints, breaks)                               \
  {                                                                      \
    OC3 "arch/3level.arch.yaml",                                         \
        OC3 "ref-output/" name "/timeloop-mapper.ERT.yaml",              \
        OC3 "prob/conv1d+oc.prob.yaml", OC3 "constraints/" constraints,  \
        OC3 "ref-output/" name "/timeloop-mapper.map.yaml", breaks, NULL \
  }
#define DESIGN_RUN(name)                                                 \
  {                                                                      \
    "example_designs/" name "/arch.yaml",                                \
        "example_designs/" name                                          \
        "/ref_outputs/default_problem/timeloop-mapper.ERT_summary.yaml", \
        "example_designs/_include/default_problem.yaml", NULL,           \
        "example_designs/" name                                          \
        "/ref_outputs/default_problem/timeloop-mapper.map.yaml",         \
        false                                                            \
  }
#define SELF_RUN(name) \
  { name, NULL, name, name, NULL, false, NULL }

static const run runs[] = {
    OC3_RUN("baked", "conv1d+oc-3level-1mapping.constraints.yaml", true),
    OC3_RUN("freebypass", "conv1d+oc-3level-freebypass.constraints.yaml", true),
    OC3_RUN("null", "null.constraints.yaml", false),
    {VGG "arch/eyeriss_like.yaml", VGG "ref-output/timeloop-mapper.ERT.yaml",
     VGG "prob/VGG02_layer5.yaml", NULL,
     VGG "ref-output/timeloop-mapper.map.yaml", false, NULL},
    DESIGN_RUN("eyeriss_like"),
    DESIGN_RUN("simba_like"),
    DESIGN_RUN("simple_output_stationary"),
    DESIGN_RUN("simple_weight_stationary"),
    {"cosa/arch/simba.yaml", NULL, RESNET, "cosa/mapspace/mapspace.yaml", NULL,
     false},
    {GEMMINI, NULL, RESNET, "dosa/mapspace/mapspace_arch_baseline.yaml", NULL,
     false},
    {GEMMINI, NULL, RESNET, "dosa/mapspace/mapspace_cosa.yaml", NULL, false,
     NULL},
    {GEMMINI, NULL, RESNET, "dosa/mapspace/mapspace_random.yaml", NULL, false,
     NULL},
    {GEMMINI, NULL, RESNET, "dosa/mapspace/mapspace_real_gemmini.yaml", NULL,
     false},
    {EYERISS, NULL, RESNET,
     "dosa/mapspace/eyeriss-256-split-problem-modified.yaml", NULL, false,
     NULL},
    {EYERISS, NULL, "timeloop_repo/eyeriss-256-split-problem.yaml",
     "timeloop_repo/eyeriss-256-split-problem.yaml", NULL, false, NULL},
    SELF_RUN("timeloop_repo/eyeriss-256.yaml"),
    {SAMPLE, NULL, SAMPLE, SAMPLE, NULL, false,
     "Registers keeps Weights, Inputs and Outputs: their smallest tiles have "
     "1 + 1 + 1 = 3 words, capacity 1; it needs 3; no constraint asks "
     "Registers to keep Weights, Inputs and Outputs: say what bypasses it "
     "(--constraints), or let --bypass search find out"},
    SELF_RUN("timeloop_repo/chen-asplos2014.yaml"),
};

static void check_ok(const bench *b, calm_status status, const char *what) {
  if (status != CALM_OK)
    fail_msg("%s: %s", what, calm_context_message(b->context));
}

static void open_run(bench *b, const run *r, accel_constraints *rules) {
  open_machine(b, r->arch, r->problem);
  const accel_yaml *ert = r->ert ? open_case(b, r->ert) : NULL;
  check_ok(
      b, accel_arch_read(&b->arch, open_case(b, r->arch), ert, true, &b->arena),
      r->arch);
  check_ok(b,
           accel_constraints_read(
               rules, r->constraints ? open_case(b, r->constraints) : NULL,
               &b->arch, &b->layer, &b->arena),
           r->arch);
  if (r->mapping)
    check_ok(b,
             accel_nest_read(&b->nest, open_case(b, r->mapping), &b->arch,
                             &b->layer, &b->arena),
             r->mapping);
}

/* What the mapping keeps; without one, all that may be kept. */
static uint32_t *keep_sets(bench *b, const run *r,
                           const accel_constraints *rules) {
  if (r->mapping) return b->nest.kept;
  uint32_t *kept = arena_calloc(&b->arena, b->arch.level_count, sizeof *kept);
  for (uint32_t l = 0; l < b->arch.level_count; l++)
    if (!b->arch.levels[l].virtual_level)
      kept[l] = (1u << b->layer.tensor_count) - 1 - rules->levels[l].bypass;
  return kept;
}

static double value_of(mapper_objective o, const cost_result *r) {
  return o == MAPPER_ENERGY  ? r->energy_pj
         : o == MAPPER_DELAY ? (double)r->cycles
                             : r->edp;
}

/* The published mapping under model `exact`; HUGE_VAL without one, or if it is
   the one that breaks a rule: Timeloop did not mind the order in which R and K
   were to stand (NVlabs/timeloop issue 255). */
static double published_value(bench *b, const run *r,
                              const accel_constraints *rules,
                              mapper_objective o) {
  const cost_options options = {.model = COST_EXACT};
  cost_problem problem;
  cost_result result;
  char *line;
  if (!r->mapping) return HUGE_VAL;
  check_ok(b,
           accel_constraints_check(&line, rules, &b->nest, &b->arch, &b->layer,
                                   b->context),
           r->mapping);
  if (r->breaks_order) {
    assert_non_null(strstr(line,
                           "the loop over K at RegisterFile stands where "
                           "R belongs"));
    calm_text_free(b->context, line);
    return HUGE_VAL;
  }
  if (line) fail_msg("%s: %s", r->mapping, line);
  check_ok(
      b, cost_problem_init(&problem, &b->arch, &b->layer, &options, &b->arena),
      r->arch);
  check_ok(b, cost_result_init(&result, &problem, &b->arena), r->arch);
  check_ok(b, cost_evaluate(&result, &problem, &b->nest), r->mapping);
  assert_int_equal(result.verdict.fault, COST_VALID);
  return value_of(o, &result);
}

static void print_run(const run *r, mapper_objective o,
                      const mapper_result *result, double published,
                      clock_t start) {
  print_message(
      "%d %s %s: %s %.9g bound %.9g published %.9g, %.0f ms, %llu states %s\n",
      o, r->arch, r->constraints ? r->constraints : "",
      calm_outcome_name(result->outcome), result->value, result->bound,
      published, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC,
      (unsigned long long)result->states, result->reason ? result->reason : "");
}

static void check_nest(bench *b, const run *r, const accel_constraints *rules,
                       const mapper_result *result) {
  char *line;
  check_ok(b,
           accel_constraints_check(&line, rules, &result->nest, &b->arch,
                                   &b->layer, b->context),
           r->arch);
  if (line) fail_msg("%s: %s", r->arch, line);
}

/* A proved nest that is no worse than the published one. */
static void check_run(bench *b, const run *r, mapper_objective o) {
  accel_constraints rules;
  mapper_result result;
  limits l;
  open_run(b, r, &rules);
  const uint32_t *kept = keep_sets(b, r, &rules);
  const mapper_rules all = {0};
  const mapper_problem p = {.arch = &b->arch,
                            .layer = &b->layer,
                            .constraints = &rules,
                            .must_keep = kept,
                            .may_keep = kept,
                            .objective = o};
  limits_init(&l, b->context);
  const clock_t start = clock();
  check_ok(b, mapper_exact(&result, &p, &all, &l, &b->arena), r->arch);
  const double published = published_value(b, r, &rules, o);
  if (getenv("MAPPER_TIMES")) print_run(r, o, &result, published, start);
  if (r->says) {
    assert_int_equal(result.outcome, CALM_INFEASIBLE);
    assert_string_equal(result.reason, r->says);
    return;
  }
  assert_int_equal(result.outcome, CALM_OPTIMAL);
  assert_true(result.value <= published * (1 + 1e-12));
  check_nest(b, r, &rules, &result);
}

static void test_published(void **state) {
  bench *b = *state;
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
    for (mapper_objective o = MAPPER_ENERGY; o <= MAPPER_EDP; o++)
      check_run(b, &runs[i], o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_published, open_bench, close_bench)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
