/*
 * When a level is told to keep more than anybody asked for, and when that is no
 * remedy.
 */
#include "cost_case.h"
#include "mapper/mapper_remedy.h"

enum { LEVELS = 3, ALL = 7 };

typedef struct machine {
  accel_tensor tensors[3];
  accel_level levels[LEVELS];
  accel_level_rules rules[LEVELS];
  uint32_t must[LEVELS], may[LEVELS];
  accel_layer layer;
  accel_arch arch;
  accel_constraints constraints;
  mapper_problem problem;
} machine;

/* Every level keeps all, and nothing asks for it. */
static void build(machine *m) {
  static const char *const tensors[] = {"W", "I", "O"};
  static const char *const levels[] = {"Register", "Buffer", "Memory"};
  *m = (machine){.must = {ALL, ALL, ALL}, .may = {ALL, ALL, ALL}};
  for (uint32_t i = 0; i < 3; i++) {
    m->tensors[i].name = tensors[i];
    m->levels[i].name = levels[i];
  }
  m->layer = (accel_layer){.tensors = m->tensors, .tensor_count = 3};
  m->arch = (accel_arch){.levels = m->levels, .level_count = LEVELS};
  m->constraints =
      (accel_constraints){.levels = m->rules, .level_count = LEVELS};
  m->problem = (mapper_problem){.arch = &m->arch,
                                .layer = &m->layer,
                                .constraints = &m->constraints,
                                .must_keep = m->must,
                                .may_keep = m->may};
}

static void expect(const machine *m, uint32_t level, bool searches,
                   const char *words) {
  calm_context *context = calm_context_new(NULL);
  text t;
  text_init(&t, context);
  text_format(&t, ".");
  mapper_remedy_tell(&t, &m->problem, level, searches);
  assert_string_equal(t.data + 1, words);
  text_free(&t);
  calm_context_free(context);
}

static void what_nobody_asked_for_is_named(void **state) {
  (void)state;
  machine m;
  build(&m);
  expect(&m, 0, true,
         "; no constraint asks Register to keep W, I and O: say what bypasses "
         "it (--constraints), or let --bypass search find out");
  expect(&m, 1, false,
         "; no constraint asks Buffer to keep W, I and O: say what bypasses it "
         "(--constraints)");
  m.rules[0].keep = 1;
  expect(&m, 0, false,
         "; no constraint asks Register to keep I and O: say what bypasses it "
         "(--constraints)");
  m.problem.constraints = NULL;
  m.may[0] = 1;
  expect(&m, 0, false,
         "; no constraint asks Register to keep W: say what bypasses it "
         "(--constraints)");
}

static void what_cannot_be_helped_has_no_remedy(void **state) {
  (void)state;
  machine m;
  build(&m);
  expect(&m, 2, true, "");         /* nowhere else to be */
  expect(&m, CALM_NONE, true, ""); /* the multipliers */
  m.rules[0].keep = ALL;
  expect(&m, 0, true, ""); /* asked for */
  m.must[1] = 0;
  expect(&m, 1, true, ""); /* searched already */
  m.may[2] = 0;
  expect(&m, 1, false, ""); /* a virtual level further out keeps nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_nobody_asked_for_is_named),
      cmocka_unit_test(what_cannot_be_helped_has_no_remedy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
