/* Weights wherever they come from. */
#include "onnx_builder.h"

static message outline(void) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "2,2");
  add_output(&g, "y", FLOAT, "2,2");
  return g;
}

static const char add_text[] =
    "calm-graph 1\n"
    "graph net layout=nchw\n"
    "tensor x f32[2,2] input\n"
    "tensor w f32[2,2] const\n"
    "tensor y f32[2,2] output\n"
    "op %s add ( x w ) -> ( y )\n";

/* The model is an Add of x and w, which stands as node `index`. */
static void expect_add(message g, int64_t ir, int index) {
  char text[256], name[16];
  snprintf(name, sizeof name, "%d_Add", index);
  snprintf(text, sizeof text, add_text, name);
  add_node(&g, "Add", "x w", "y");
  expect_text(model_of(g, ir, 17), "", text);
}

static message constant(const char *output) {
  message n = node("Constant", "", output);
  put_message(&n, 5, tensor_attribute("value", weight("", FLOAT, "2,2")));
  return n;
}

static void every_source_of_weights_is_seen(void **state) {
  (void)state;
  message g = outline();
  add_weight(&g, weight("w", FLOAT, "2,2"));
  expect_add(g, 8, 0);
  g = outline(); /* an initializer that is an input as well, as up to IR 3 */
  add_input(&g, "w", FLOAT, "2,2");
  add_weight(&g, weight("w", FLOAT, "2,2"));
  expect_add(g, 3, 0);
  g = outline(); /* and later, when it is a default */
  add_input(&g, "w", FLOAT, "2,2");
  add_weight(&g, weight("w", FLOAT, "2,2"));
  expect_add(g, 8, 0);
  g = outline();
  put_message(&g, 1, constant("w"));
  expect_add(g, 8, 1);
  g = outline();
  add_weight(&g, integers("shape", "2,2"));
  add_node(&g, "ConstantOfShape", "shape", "w");
  expect_add(g, 8, 1);
  g = outline();
  put_message(&g, 1, constant("c"));
  add_node(&g, "Identity", "c", "i");
  add_node(&g, "Transpose", "i", "w");
  expect_add(g, 8, 3);
  g = outline();
  add_weight(&g, weight("q", INT8, "2,2"));
  add_weight(&g, weight("scale", FLOAT, ""));
  add_node(&g, "DequantizeLinear", "q scale", "w");
  expect_add(g, 8, 1);
}

static void sparse_weights_count_dense(void **state) {
  (void)state;
  message g = outline(), sparse = {0};
  put_message(&sparse, 1, weight("w", FLOAT, "1"));
  put_message(&sparse, 2, integers("", "3"));
  put_number(&sparse, 3, 2);
  put_number(&sparse, 3, 2);
  put_message(&g, 15, sparse);
  expect_add(g, 8, 0);
}

/* What depends on an input, on chance, or on a default is no weight. */
static void what_can_change_is_no_weight(void **state) {
  (void)state;
  static const char *const makers[] = {"RandomNormalLike", "Identity"};
  for (int i = 0; i < 2; i++) {
    message g = outline();
    add_input(&g, "d", FLOAT, "2,2");
    add_weight(&g, weight("d", FLOAT, "2,2"));
    add_node(&g, makers[i], "d", "w");
    add_node(&g, "Add", "x w", "y");
    message m = plain_model(g);
    reading *r = reading_of_model(&m);
    if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
    assert_int_equal(r->model.graphs.data[0].ops.count, 2);
    assert_int_equal(graph_op_stateful(&r->model.graphs.data[0].ops.data[0]),
                     i == 0);
    assert_int_equal(reading_end(r), 0);
    free(m.bytes);
  }
}

static void an_output_may_be_a_weight(void **state) {
  (void)state;
  message g = {0};
  put_text(&g, 2, "net");
  put_message(&g, 1, constant("w"));
  add_output(&g, "w", FLOAT, "2,2");
  expect_text(
      plain_model(g), "",
      "calm-graph 1\ngraph net layout=nchw\ntensor w f32[2,2] output const\n");
}

static void weights_count_once_and_packed(void **state) {
  (void)state;
  message g = outline();
  add_weight(&g, weight("w", FLOAT, "2,2"));
  add_weight(&g, weight("odd", INT4, "3,3"));
  add_weight(&g, weight("words", STRING, "5"));
  add_node(&g, "Add", "x w", "y");
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  assert_int_equal(r->model.weight_bytes, 16 + 5);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_source_of_weights_is_seen),
      cmocka_unit_test(sparse_weights_count_dense),
      cmocka_unit_test(what_can_change_is_no_weight),
      cmocka_unit_test(an_output_may_be_a_weight),
      cmocka_unit_test(weights_count_once_and_packed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
