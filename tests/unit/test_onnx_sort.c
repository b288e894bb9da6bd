/* Files whose nodes do not stand in an order that could run. */
#include "onnx_builder.h"

static message outline(void) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  add_output(&g, "y", FLOAT, "4");
  return g;
}

static void unsorted_nodes_are_sorted_with_a_warning(void **state) {
  (void)state;
  message g = outline();
  add_named(&g, "last", "Neg", "b", "y");
  add_named(&g, "middle", "Abs", "a", "b");
  add_named(&g, "first", "Relu", "x", "a");
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  assert_int_equal(r->status, CALM_OK);
  assert_non_null(strstr(r->warnings,
                         "operator 'last' stands before 'middle', which must "
                         "run first"));
  const graph *built = &r->model.graphs.data[0];
  assert_false(built->file_order_valid);
  for (op_id i = 0; i < 3; i++) {
    assert_int_equal(built->ops.data[i].file_index, i);
    assert_int_equal(built->order[i], 2 - i);
  }
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* A weight that is made behind its reader, too. */
static void weights_are_sorted_as_well(void **state) {
  (void)state;
  message g = outline(), n = node("Constant", "", "w");
  add_named(&g, "reader", "Add", "x w", "y");
  put_text(&n, 3, "maker");
  put_message(&n, 5, tensor_attribute("value", integers("", "1,2,3,4")));
  put_message(&g, 1, n);
  expect_warning(plain_model(g), "operator 'reader' stands before 'maker'");
}

static void what_a_body_reads_comes_first(void **state) {
  (void)state;
  message g = outline(), n = node("If", "c", "y"), body = {0}, other = {0};
  add_input(&g, "c", BOOL, "");
  add_node(&body, "Neg", "a", "r");
  add_output(&body, "r", FLOAT, "4");
  add_output(&other, "x", FLOAT, "4");
  put_text(&n, 3, "branch");
  put_message(&n, 5, graph_attribute_of("then_branch", body));
  put_message(&n, 5, graph_attribute_of("else_branch", other));
  put_message(&g, 1, n);
  add_named(&g, "maker", "Relu", "x", "a");
  expect_warning(plain_model(g), "operator 'branch' stands before 'maker'");
}

static void cycles_are_named(void **state) {
  (void)state;
  message g = outline();
  add_named(&g, "one", "Add", "x b", "a");
  add_named(&g, "two", "Neg", "a", "b");
  add_named(&g, "three", "Neg", "b", "y");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "operators wait for each other: 'one' -> 'two' -> 'one'");
  g = outline();
  message n = node("If", "c", "y"), body = {0};
  add_input(&g, "c", BOOL, "");
  add_node(&body, "Neg", "y", "r"); /* what its own operator makes */
  add_output(&body, "r", FLOAT, "4");
  put_message(&n, 5, graph_attribute_of("then_branch", body));
  put_message(&g, 1, n);
  expect_failure(plain_model(g), "", CALM_BAD_INPUT, "'0_If' -> '0_If'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unsorted_nodes_are_sorted_with_a_warning),
      cmocka_unit_test(weights_are_sorted_as_well),
      cmocka_unit_test(what_a_body_reads_comes_first),
      cmocka_unit_test(cycles_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
