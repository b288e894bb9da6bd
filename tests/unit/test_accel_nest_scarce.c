/* Mappings and constraints without memory: each request fails once. */
#include "nest_fixture.h"

#include "scarce.h"

static const char MAPPING[] =
    "mapping:\n"
    "- {target: DRAM, type: temporal, factors: [P=2, K=4], permutation: KP}\n"
    "- {target: GlobalBuffer, type: bypass, bypass: [Weights]}\n"
    "- {target: GlobalBuffer, type: spatial, factors: P4 C3, split: 1}\n"
    "- {target: PEBuffer, type: temporal, factors: \"K=4,3\"}\n";

static const char PRINTED[] =
    "DRAM [ Weights:9 ]\n"
    "GlobalBuffer [ ]\n"
    "| for K in [0:4)\n"
    "PEBuffer [ Inputs ]\n"
    "|   for P in [0:2)\n";

static const char RULES[] =
    "constraints:\n"
    "- {target: DRAM, type: temporal, factors: P<=2, permutation: K_P}\n"
    "- {target: GlobalBuffer, type: bypass, keep_only: [Weights]}\n"
    "- {target: PEBuffer, type: utilization, min: 0.5}\n";

static const char CONTRADICTION[] =
    "constraints:\n"
    "- {target: DRAM, type: temporal, factors: K8}\n"
    "- {target: GlobalBuffer, type: temporal, factors: K8}\n";

static calm_status use_nest(nest_fixture *f, calm_context *context,
                            const accel_nest *nest,
                            const accel_constraints *rules) {
  char *out = NULL;
  TRY(accel_nest_write(&out, nest, &f->arch, &f->layer, context));
  calm_text_free(context, out);
  TRY(accel_nest_text(&out, nest, &f->arch, &f->layer, context));
  calm_text_free(context, out);
  TRY(accel_constraints_check(&out, rules, nest, &f->arch, &f->layer, context));
  calm_text_free(context, out);
  return CALM_OK;
}

static calm_status do_all(nest_fixture *f, calm_context *context, arena *a) {
  accel_yaml *root;
  accel_nest nest;
  accel_constraints rules;
  TRY(accel_yaml_parse(&root, "m", MAPPING, strlen(MAPPING), a));
  const accel_source printed = {"p", PRINTED, strlen(PRINTED)};
  TRY(accel_nest_parse(&nest, &printed, &f->arch, &f->layer, a));
  TRY(accel_nest_read(&nest, root, &f->arch, &f->layer, a));
  TRY(accel_yaml_parse(&root, "c", CONTRADICTION, strlen(CONTRADICTION), a));
  const calm_status status =
      accel_constraints_read(&rules, root, &f->arch, &f->layer, a);
  if (status != CALM_BAD_INPUT) return status;
  TRY(accel_yaml_parse(&root, "c", RULES, strlen(RULES), a));
  TRY(accel_constraints_read(&rules, root, &f->arch, &f->layer, a));
  return use_nest(f, context, &nest, &rules);
}

static void every_allocation_fails(void **state) {
  nest_fixture *f = *state;
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 1; status != CALM_OK; granted++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    arena a;
    arena_init(&a, context);
    left = granted;
    status = do_all(f, context, &a);
    arena_free(&a);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    assert_true(granted < 10000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_allocation_fails, nest_open,
                                      nest_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
