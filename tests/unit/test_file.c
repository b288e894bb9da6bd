/* Files that the program lends from memory are read like any other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

static void expect_bytes(calm_context *context, const char *name,
                         const char *bytes) {
  file_map map;
  assert_int_equal(file_map_open(&map, context, name), CALM_OK);
  assert_int_equal(map.length, strlen(bytes));
  assert_memory_equal(map.bytes, bytes, map.length);
  file_map_close(&map);
}

static void a_lent_file_is_read_until_it_is_taken_back(void **state) {
  (void)state;
  file_map map;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(calm_context_lend(context, "<a>", "one", 3), CALM_OK);
  assert_int_equal(calm_context_lend(context, "<b>", "two", 3), CALM_OK);
  assert_int_equal(calm_context_lend(context, "<c>", "", 0), CALM_OK);
  expect_bytes(context, "<a>", "one");
  expect_bytes(context, "<b>", "two");
  expect_bytes(context, "<c>", "");
  assert_int_equal(calm_context_lend(context, "<a>", "three", 5), CALM_OK);
  expect_bytes(context, "<a>", "three");
  assert_int_equal(calm_context_lend(context, "<a>", NULL, 0), CALM_OK);
  assert_int_equal(file_map_open(&map, context, "<a>"), CALM_IO);
  expect_bytes(context, "<b>", "two");
  assert_int_equal(calm_context_lend(context, "<b>", NULL, 0), CALM_OK);
  assert_int_equal(calm_context_lend(context, "<b>", NULL, 0), CALM_OK);
  assert_int_equal(calm_context_lend(context, "<c>", NULL, 0), CALM_OK);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void a_context_may_go_while_files_are_lent(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(calm_context_lend(context, "<a>", "x", 1), CALM_OK);
  assert_int_equal(calm_context_lend(context, "", "x", 1), CALM_MISUSE);
  calm_context_free(context);
}

static void whoever_reads_a_lent_file_may_write_to_its_copy(void **state) {
  (void)state;
  file_map map;
  char bytes[] = "word";
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(calm_context_lend(context, "<a>", bytes, 4), CALM_OK);
  assert_int_equal(file_map_open(&map, context, "<a>"), CALM_OK);
  assert_int_equal(file_map_detach(&map, context, "<a>"), CALM_OK);
  *(char *)(uintptr_t)map.bytes = 'f';
  assert_string_equal(bytes, "word");
  file_map_close(&map);
  calm_context_free(context);
}

static void a_model_comes_from_a_lent_file(void **state) {
  (void)state;
  static const char graph[] =
      "calm-graph 1\ngraph g\ntensor x 8 input\ntensor y 8 output\n"
      "op a relu ( x ) -> ( y )\n";
  calm_model *model;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(
      calm_context_lend(context, "mine.cg", graph, sizeof graph - 1), CALM_OK);
  assert_int_equal(calm_model_open(&model, context, "mine.cg", NULL), CALM_OK);
  assert_int_equal(calm_model_op_count(model), 1);
  calm_model_free(model);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lent_file_is_read_until_it_is_taken_back),
      cmocka_unit_test(a_context_may_go_while_files_are_lent),
      cmocka_unit_test(whoever_reads_a_lent_file_may_write_to_its_copy),
      cmocka_unit_test(a_model_comes_from_a_lent_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
