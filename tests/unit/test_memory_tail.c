/*
 * When the tail of TensorFlow Lite Micro's arena is exact, a lower bound, or
 * not known, and what follows for a budget.  That exact ones are exact is shown
 * by tests/tflm_tails.csv (test_plan_tflm.c) and by the runtime itself; those
 * of 32-bit targets by tests/tflm_tails_32bit.csv.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cases.h"
#include "plan.h"
#include "tflite_builder.h"

enum { ADD = 0, TOPK = 48, CUSTOM = 32, HEAD_BYTES = 32, TAIL_BYTES = 832 };

typedef struct trial {
  calm_context *context;
  calm_model *model;
  calm_plan *plan;
} trial;

/* y = OPERATOR(x, x), both of four floats. */
static build_file *build_one(build_code code, build_list inputs,
                             const build_metadata *metadata) {
  const build_tensor tensors[] = {{.name = "x", .shape = LIST(1, 4)},
                                  {.name = "y", .shape = LIST(1, 4)}};
  const build_op ops[] = {{.inputs = LIST(0, 0), .outputs = LIST(1)}};
  const build_subgraph graph = {.tensors = tensors,
                                .tensor_count = 2,
                                .ops = ops,
                                .op_count = 1,
                                .inputs = inputs,
                                .outputs = LIST(1)};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}};
  const build_model model = {.codes = &code,
                             .code_count = 1,
                             .subgraphs = &graph,
                             .subgraph_count = 1,
                             .buffers = buffers,
                             .buffer_count = 1,
                             .metadata = metadata,
                             .metadata_count = metadata ? 1 : 0};
  return build_tflite(&model, false);
}

static trial plan_file(build_file *file, const char *option,
                       const char *value) {
  trial t = {.context = calm_context_new(NULL)};
  calm_options *options;
  assert_int_equal(calm_options_new(&options, t.context), CALM_OK);
  if (option)
    assert_int_equal(calm_options_set(options, option, value), CALM_OK);
  if (calm_model_parse(&t.model, t.context, file->bytes, file->length, "built",
                       NULL) ||
      calm_plan_make(&t.plan, t.model, options))
    fail_msg("%s", calm_context_message(t.context));
  calm_options_free(options);
  free(file);
  return t;
}

static void end(trial *t) {
  calm_plan_free(t->plan);
  calm_model_free(t->model);
  assert_int_equal(calm_context_bytes(t->context), 0);
  calm_context_free(t->context);
}

static build_file *add(void) {
  return build_one((build_code){ADD, NULL}, LIST(0), NULL);
}

static const tflm_tail *tail_of(const trial *t) {
  return &t->plan->runtime.tail;
}

static void expect_at_least(trial t, uint64_t bytes, const char *reason) {
  assert_false(tail_of(&t)->exact);
  assert_int_equal(tail_of(&t)->bytes, bytes);
  assert_string_equal(tail_of(&t)->reason, reason);
  end(&t);
}

static void expect_unknown(trial t) {
  assert_false(tail_of(&t)->exact);
  assert_true(tail_of(&t)->bytes == UINT64_MAX);
  assert_int_equal(plan_needed_bytes(t.plan), t.plan->summary.arena_bytes);
  end(&t);
}

/* Counted by hand: 464 of objects, 24, 2 x 24, 64 and 8 for graph, tensors,
   operator and options; 64 from there on for the kernel, rounded; twice 16 and
   64 for input and output. */
static void one_operator(void **state) {
  (void)state;
  trial t = plan_file(add(), NULL, NULL);
  assert_true(tail_of(&t)->exact);
  assert_int_equal(tail_of(&t)->bytes, TAIL_BYTES);
  assert_int_equal(t.plan->runtime.default_tail.bytes, TAIL_BYTES);
  assert_int_equal(plan_needed_bytes(t.plan), HEAD_BYTES + TAIL_BYTES);
  end(&t);
}

/* Not even options or a kernel of such an operator are counted. */
static void what_is_not_told(void **state) {
  (void)state;
  enum { WITHOUT = TAIL_BYTES - 80 };
  expect_at_least(
      plan_file(build_one((build_code){TOPK, NULL}, LIST(0), NULL), NULL, NULL),
      WITHOUT, "topk_v2");
  expect_at_least(
      plan_file(build_one((build_code){CUSTOM, "Own"}, LIST(0), NULL), NULL,
                NULL),
      WITHOUT, "Own");
  expect_at_least(
      plan_file(build_one((build_code){ADD, NULL}, LIST(0, 0), NULL), NULL,
                NULL),
      TAIL_BYTES, "the list of inputs or outputs");
}

static void other_builds(void **state) {
  (void)state;
  static const build_metadata compressed[] = {{"COMPRESSION_METADATA", 0}};
  trial t = plan_file(add(), "kernels", "reference");
  assert_true(tail_of(&t)->exact);
  end(&t);
  expect_unknown(plan_file(add(), "kernels", "cmsis-nn-c"));
  expect_unknown(plan_file(
      build_one((build_code){ADD, NULL}, LIST(0), compressed), NULL, NULL));
}

/* There is one arena for head and tail. */
static void budgets(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    bool within;
  } cases[] = {{"32", false}, {"863", false}, {"864", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    trial t = plan_file(add(), "budget", cases[i].bytes);
    assert_int_equal(t.plan->summary.within_budget, cases[i].within);
    end(&t);
  }
}

/* ---- 32-bit targets ------------------------------------------------------ */

static void compare_model(const char *name, const char *path, uint64_t bytes) {
  calm_context *context = calm_context_new(NULL);
  calm_options *options;
  calm_model *model;
  calm_inspection *i = NULL;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  calm_options_set(options, "target", "32bit");
  if (calm_model_open(&model, context, path, NULL) ||
      calm_inspect(&i, model, options))
    fail_msg("%s: %s", name, calm_context_message(context));
  assert_int_equal(i->tail.target, TARGET_32BIT);
  if (!i->tail.exact || i->tail.bytes != bytes)
    fail_msg("%s: a tail of %" PRIu64 ", measured %" PRIu64, name,
             i->tail.bytes, bytes);
  calm_inspection_free(i);
  calm_model_free(model);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* Rows of operators are those of tests/runtime/test_tails.py. */
static void as_measured_on_arm(void **state) {
  (void)state;
  CASES_OR_SKIP();
  FILE *table = fopen(CALM_SOURCE_DIR "/tests/tflm_tails_32bit.csv", "r");
  char line[256], name[128], file[256], path[1024];
  int models = 0, absent = 0;
  assert_non_null(table);
  assert_non_null(fgets(line, sizeof line, table)); /* the names of columns */
  while (fgets(line, sizeof line, table)) {
    uint64_t bytes;
    assert_int_equal(sscanf(line, "%127[^,],%" SCNu64, name, &bytes), 2);
    if (!strncmp(name, "operator_", 9)) continue;
    snprintf(file, sizeof file, "models/%s.tflite", name);
    if (cases_path(path, sizeof path, file)) {
      compare_model(name, path, bytes);
      models++;
    } else {
      absent++;
    }
  }
  fclose(table);
  print_message("%d models compared, %d absent\n", models, absent);
}

/* As many pieces as on x86-64, each with its own size: 124 of objects, 8, 2 x
   12, 32 and 2 for graph, tensors, operator and options; 64 from there on for
   the kernel; twice 4 and 32 for input and output, at 16 the lists. */
static void one_operator_on_arm(void **state) {
  (void)state;
  enum { TAIL_BYTES_32 = 352 };
  trial t = plan_file(add(), "target", "32bit");
  assert_true(tail_of(&t)->exact);
  assert_int_equal(tail_of(&t)->bytes, TAIL_BYTES_32);
  assert_int_equal(t.plan->runtime.default_tail.bytes, TAIL_BYTES_32);
  assert_int_equal(plan_needed_bytes(t.plan), HEAD_BYTES + TAIL_BYTES_32);
  end(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_operator),
                                     cmocka_unit_test(what_is_not_told),
                                     cmocka_unit_test(other_builds),
                                     cmocka_unit_test(budgets),
                                     cmocka_unit_test(one_operator_on_arm),
                                     cmocka_unit_test(as_measured_on_arm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
