/*
 * The table of offsets in a model was read wrongly: the first subgraph's part
 * for the whole (tensorflow/tflite-micro PR 1195); metadata with an empty name
 * for the table (tensorflow/tflite-micro #1358); and tensors were placed over
 * variables, which keep their bytes from run to run (tensorflow/tflite-micro
 * PR 1676).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "plan.h"
#include "unit/tflite_builder.h"

static const char TABLE_NAME[] = "OfflineMemoryAllocation";

/* x -> h -> y, each of 16 bytes, the first step with a state, and a body with
   two tensors of its own. */
static build_file *file_with(const char *name, const int32_t *words,
                             uint32_t count) {
  static const int32_t ids[] = {0, 1, 2, 3}, first[] = {0, 1}, shape[] = {16};
  static const build_code codes[] = {{0, NULL}};
  static const build_tensor tensors[] = {
      {.name = "x", .shape = {shape, 1}, .type = 9},
      {.name = "state", .shape = {shape, 1}, .type = 9, .variable = true},
      {.name = "h", .shape = {shape, 1}, .type = 9},
      {.name = "y", .shape = {shape, 1}, .type = 9}};
  static const build_op ops[] = {
      {.inputs = {first, 2}, .outputs = {ids + 2, 1}},
      {.inputs = {ids + 2, 1}, .outputs = {ids + 3, 1}}};
  static const build_op body[] = {
      {.inputs = {ids, 1}, .outputs = {ids + 1, 1}}};
  static const build_tensor body_tensors[] = {
      {.name = "x", .shape = {shape, 1}, .type = 9},
      {.name = "y", .shape = {shape, 1}, .type = 9}};
  static const build_subgraph subgraphs[] = {
      {"main", tensors, 4, ops, 2, {ids, 1}, {ids + 3, 1}},
      {"body", body_tensors, 2, body, 1, {ids, 1}, {ids + 1, 1}}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {words, 4 * count, 0, 0}};
  const build_metadata metadata[] = {{name, 1}};
  const build_model model = {.codes = codes,
                             .code_count = 1,
                             .subgraphs = subgraphs,
                             .subgraph_count = 2,
                             .buffers = buffers,
                             .buffer_count = 2,
                             .metadata = metadata,
                             .metadata_count = 1};
  return build_tflite(&model, false);
}

/* The kinds of all faults, in one line; "none" without a plan. */
static void assert_verdict(const char *name, const int32_t *words,
                           uint32_t count, const char *expected) {
  char kinds[256] = "";
  calm_model *model = NULL;
  calm_verdict *v = NULL;
  build_file *f = file_with(name, words, count);
  calm_context *context = calm_context_new(NULL);
  if (calm_model_parse(&model, context, f->bytes, f->length, "built", NULL) ||
      calm_check(&v, model, NULL, NULL))
    fail_msg("%s", calm_context_message(context));
  if (!v->source) strcat(kinds, "none ");
  for (uint32_t i = 0; i < v->verdict.faults.count; i++) {
    strcat(kinds, v->verdict.faults.data[i].kind);
    strcat(kinds, " ");
  }
  assert_string_equal(kinds, expected);
  calm_verdict_free(v);
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  free(f);
}

#define ASSERT_VERDICT(expected, name, ...)            \
  assert_verdict(name, (const int32_t[]){__VA_ARGS__}, \
                 sizeof((const int32_t[]){__VA_ARGS__}) / 4, expected)

/* Three words, then the offsets of x, state, h, y and of the body's x, y. */
static void the_table_is_that_of_all_subgraphs(void **state) {
  (void)state;
  ASSERT_VERDICT("", TABLE_NAME, 0, 2, 6, 0, -1, 16, 0, -1, -1);
  ASSERT_VERDICT("overlap ", TABLE_NAME, 0, 2, 6, 0, -1, 16, 16, -1, -1);
  ASSERT_VERDICT("count short ", TABLE_NAME, 0, 2, 4, 0, -1, 16, 0);
  ASSERT_VERDICT("short ", TABLE_NAME, 0, 2, 6, 0, -1, 16, 0);
  ASSERT_VERDICT("short ", TABLE_NAME, 0, 2, 6, 0, -1, 16, 0, -1);
  ASSERT_VERDICT("count ", TABLE_NAME, 0, 2, 4, 0, -1, 16, 0, -1, -1);
  ASSERT_VERDICT("count ", TABLE_NAME, 0, 2, -1, 0, -1, 16, 0, -1, -1);
  ASSERT_VERDICT("negative ", TABLE_NAME, 0, 2, 6, 0, -1, 16, 0, -1, -2);
}

static void only_the_whole_name_is_its_name(void **state) {
  (void)state;
  static const char *const others[] = {"", "O", "OfflineMemoryAllocatio",
                                       "OfflineMemoryAllocations"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    ASSERT_VERDICT("none ", others[i], 0, 2, 6, 0, -1, 0, 0, -1, -1);
}

static void nothing_lies_over_a_planned_variable(void **state) {
  (void)state;
  ASSERT_VERDICT("", TABLE_NAME, 0, 2, 6, 0, 32, 16, 0, -1, -1);
  ASSERT_VERDICT("overlap ", TABLE_NAME, 0, 2, 6, 0, 8, 32, 48, -1, -1);
  ASSERT_VERDICT("overlap ", TABLE_NAME, 0, 2, 6, 0, 16, 16, 32, -1, -1);
  /* alive after its last reader, too */
  ASSERT_VERDICT("overlap ", TABLE_NAME, 0, 2, 6, 0, 32, 16, 32, -1, -1);
  ASSERT_VERDICT("overlap ", TABLE_NAME, 0, 2, 6, 0, 32, 16, 40, -1, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_that_of_all_subgraphs),
      cmocka_unit_test(only_the_whole_name_is_its_name),
      cmocka_unit_test(nothing_lies_over_a_planned_variable)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
