/* Which reader a file gets, and what is said to those that have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "tflite_builder.h"

static reading *read_text(const char *text) {
  return reading_of_bytes((const uint8_t *)text, strlen(text));
}

static void content_decides(void **state) {
  (void)state;
  reading *r = read_text("# a text\ncalm-graph 1\ngraph g\ntensor x 4 input\n");
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->model.format, MODEL_CG);
  assert_true(r->model.finished);
  assert_int_equal(reading_end(r), 0);
  const build_subgraph empty = {.name = "main"};
  const build_model model = {.subgraphs = &empty, .subgraph_count = 1};
  build_file *f = build_tflite(&model, false);
  r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->model.format, MODEL_TFLITE);
  assert_int_equal(reading_end(r), 0);
  free(f);
}

static void other_files_are_told_what_would_be_right(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t length;
    calm_status status;
    const char *what;
  } cases[] = {
      {"", 0, CALM_BAD_INPUT, "the file is empty"},
      {"TFL3", 4, CALM_BAD_INPUT, "neither a .tflite file"},
      {"\x1c\0\0\0TFL", 7, CALM_BAD_INPUT, "neither a .tflite file"},
      {"\x1c\0\0\0TFL2....", 12, CALM_BAD_INPUT, "identifier \"TFL2\""},
      {"\x08\x08\x12\x07pytorch", 11, CALM_BAD_INPUT, "without a graph"},
      {"hello\n", 6, CALM_BAD_INPUT, "neither a .tflite file"},
      {"PK\x03\x04........", 12, CALM_BAD_INPUT, "neither a .tflite file"},
      {"calm-graph 2\n", 13, CALM_UNSUPPORTED, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reading *r =
        reading_of_bytes((const uint8_t *)cases[i].bytes, cases[i].length);
    assert_int_equal(r->status, cases[i].status);
    if (!strstr(reading_message(r), cases[i].what))
      fail_msg("%s", reading_message(r));
    assert_int_equal(strncmp(reading_message(r), "built:", 6), 0);
    assert_int_equal(reading_end(r), 0);
  }
}

static void a_built_model_is_finished_once(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  calm_model model;
  graph g;
  model_init(&model, context, "built");
  graph_init(&g, &model.arena, "g");
  model.graphs.data = context_reallocate(context, NULL, 0, sizeof g);
  model.graphs.count = model.graphs.capacity = 1;
  model.graphs.data[0] = g;
  assert_false(model.finished);
  assert_int_equal(model_finish(&model), CALM_OK);
  const uint32_t *readers = model.graphs.data[0].reader_begin;
  assert_true(model.finished);
  assert_int_equal(model_finish(&model), CALM_OK);
  assert_ptr_equal(model.graphs.data[0].reader_begin, readers);
  model_clear(&model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(content_decides),
      cmocka_unit_test(other_files_are_told_what_would_be_right),
      cmocka_unit_test(a_built_model_is_finished_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
