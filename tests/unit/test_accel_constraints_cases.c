/* The published constraints, and the mappings that observe them. */
#include "published_fixture.h"

static void constraint_files(void **state) {
  bench *b = *state;
#define RESNET "goldens/problems/resnet50_03.yaml"
#define GEMMINI "dosa/arch/arch.yaml"
#define OC3 ISPASS "05-mapper-conv1d+oc-3level/"
  static const file_row rows[] = {
      {"cosa/arch/simba.yaml", RESNET, "cosa/mapspace/mapspace.yaml", NULL},
      {GEMMINI, RESNET, "dosa/mapspace/mapspace_arch_baseline.yaml", NULL},
      {GEMMINI, RESNET, "dosa/mapspace/mapspace_cosa.yaml", NULL},
      {GEMMINI, RESNET, "dosa/mapspace/mapspace_exhaustive.yaml", NULL},
      {GEMMINI, RESNET, "dosa/mapspace/mapspace_random.yaml", NULL},
      {GEMMINI, RESNET, "dosa/mapspace/mapspace_real_gemmini.yaml", NULL},
      {"timeloop_repo/eyeriss-256-split-arg.yaml", RESNET,
       "dosa/mapspace/eyeriss-256-split-problem-modified.yaml", NULL},
      {"timeloop_repo/eyeriss-256-split-arg.yaml",
       "timeloop_repo/eyeriss-256-split-problem.yaml",
       "timeloop_repo/eyeriss-256-split-problem.yaml", NULL},
      {"timeloop_repo/eyeriss-256.yaml", "timeloop_repo/eyeriss-256.yaml",
       "timeloop_repo/eyeriss-256.yaml", NULL},
      {"timeloop_repo/sample.yaml", "timeloop_repo/sample.yaml",
       "timeloop_repo/sample.yaml", NULL},
      {"timeloop_repo/sample.yaml", "timeloop_repo/sample-accelergy.yaml",
       "timeloop_repo/sample-accelergy.yaml", NULL},
      {"timeloop_repo/chen-asplos2014.yaml",
       "timeloop_repo/chen-asplos2014.yaml",
       "timeloop_repo/chen-asplos2014.yaml", NULL},
      {OC3 "arch/3level.arch.yaml", OC3 "prob/conv1d+oc.prob.yaml",
       OC3 "constraints/conv1d+oc-3level-1mapping.constraints.yaml", NULL},
      {OC3 "arch/3level.arch.yaml", OC3 "prob/conv1d+oc.prob.yaml",
       OC3 "constraints/conv1d+oc-3level-freebypass.constraints.yaml", NULL},
      {OC3 "arch/3level.arch.yaml", OC3 "prob/conv1d+oc.prob.yaml",
       OC3 "constraints/null.constraints.yaml", NULL},
      {GEMMINI, RESNET, "timeloop_python/multi_list_constraints.yaml",
       "no level 'Hier_A'"},
  };
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    accel_constraints rules;
    open_machine(b, rows[i].arch, rows[i].problem);
    const calm_status status = accel_constraints_read(
        &rules, open_case(b, rows[i].file), &b->arch, &b->layer, &b->arena);
    const char *said = calm_context_message(b->context);
    if (rows[i].says ? status == CALM_OK || !strstr(said, rows[i].says)
                     : status != CALM_OK)
      fail_msg("%s: %s", rows[i].file, said);
  }
}

/* The published mappings observe the rules at the nodes of their machines. */
static void published_designs(void **state) {
  bench *b = *state;
  static const char *const names[] = {"eyeriss_like", "simba_like",
                                      "simple_output_stationary",
                                      "simple_weight_stationary"};
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char arch[128], mapping[128], *line;
    accel_constraints rules;
    snprintf(arch, sizeof arch, "example_designs/%s/arch.yaml", names[i]);
    snprintf(mapping, sizeof mapping,
             "example_designs/%s/ref_outputs/default_problem/"
             "timeloop-mapper.map.yaml",
             names[i]);
    open_machine(b, arch, "example_designs/_include/default_problem.yaml");
    if (accel_nest_read(&b->nest, open_case(b, mapping), &b->arch, &b->layer,
                        &b->arena) ||
        accel_constraints_read(&rules, NULL, &b->arch, &b->layer, &b->arena))
      fail_msg("%s", calm_context_message(b->context));
    assert_int_equal(accel_constraints_check(&line, &rules, &b->nest, &b->arch,
                                             &b->layer, b->context),
                     CALM_OK);
    if (line) fail_msg("%s: %s", names[i], line);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(constraint_files, open_bench,
                                      close_bench),
      cmocka_unit_test_setup_teardown(published_designs, open_bench,
                                      close_bench),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
