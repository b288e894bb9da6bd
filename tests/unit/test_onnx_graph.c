/* Names of nodes, absent operands, and what is stated of values. */
#include "onnx_builder.h"

static message outline(void) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  add_output(&g, "y", FLOAT, "4");
  return g;
}

static void expect_names(message m, const char *const *names) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  for (op_id u = 0; names[u]; u++)
    assert_string_equal(r->model.graphs.data[0].ops.data[u].name, names[u]);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* A name of one node only is its own; the others are numbered, past names that
   look like numbers. */
static void operators_have_names_that_differ(void **state) {
  (void)state;
  static const char *const names[] = {"0_Abs",   "1_Abs", "2_Abs",
                                      "3_Neg#3", "3_Neg", NULL};
  message g = outline();
  add_named(&g, "same", "Abs", "x", "a");
  add_named(&g, "same", "Abs", "a", "b");
  add_node(&g, "Abs", "b", "c");
  add_node(&g, "Neg", "c", "d");
  add_named(&g, "3_Neg", "Neg", "d", "y");
  expect_names(plain_model(g), names);
}

/* An absent operand keeps its slot. */
static void empty_names_are_absent(void **state) {
  (void)state;
  message g = outline(), n = node("Clip", "x - high", "y");
  add_input(&g, "high", FLOAT, "");
  put_message(&g, 1, n);
  expect_text(plain_model(g), "",
              "calm-graph 1\ngraph net layout=nchw\n"
              "tensor x f32[4] input\ntensor high f32[] input\n"
              "tensor y f32[4] output\n"
              "op 0_Clip clip ( x - high ) -> ( y )\n");
}

static void broken_entries_are_refused(void **state) {
  (void)state;
  message g = outline(), n = {0};
  put_text(&n, 1, "x");
  put_text(&n, 2, "y");
  put_message(&g, 1, n);
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "a node without an operator (in graph 'net')");
  g = outline();
  add_input(&g, "", FLOAT, "4");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT, "an input without a name");
  g = outline();
  add_output(&g, "", FLOAT, "4");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "an output without a name");
  g = outline();
  add_weight(&g, weight("", FLOAT, "4"));
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "an initializer without a name");
  g = outline();
  put_bytes(&g, 2, "a\0b", 3);
  expect_failure(plain_model(g), "", CALM_BAD_INPUT, "a NUL inside a name");
}

static void the_last_of_equal_weights_counts(void **state) {
  (void)state;
  message g = outline();
  add_weight(&g, weight("w", FLOAT, "2"));
  add_weight(&g, weight("w", FLOAT, "4"));
  add_node(&g, "Add", "x w", "y");
  expect_warning(plain_model(g), "several initializers 'w'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_have_names_that_differ),
      cmocka_unit_test(empty_names_are_absent),
      cmocka_unit_test(broken_entries_are_refused),
      cmocka_unit_test(the_last_of_equal_weights_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
