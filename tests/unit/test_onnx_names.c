/* Names across graphs: who reads what, and what bodies take from outside. */
#include "onnx_builder.h"

/* A body that reads `from_outside` and writes `result`. */
static message body_of(const char *name, const char *type,
                       const char *from_outside, const char *result) {
  message g = {0};
  put_text(&g, 2, name);
  add_node(&g, type, from_outside, result);
  add_output(&g, result, FLOAT, "8");
  return g;
}

static void add_if(message *g, message then_body, message else_body) {
  message n = node("If", "c", "y");
  put_message(&n, 5, graph_attribute_of("then_branch", then_body));
  put_message(&n, 5, graph_attribute_of("else_branch", else_body));
  put_message(g, 1, n);
}

static message entry(void) {
  message g = {0};
  put_text(&g, 2, "main");
  add_input(&g, "c", BOOL, "");
  add_input(&g, "x", FLOAT, "8");
  add_output(&g, "y", FLOAT, "8");
  add_node(&g, "Relu", "x", "a");
  return g;
}

/* The operator reads what its bodies read, each once; inside it is a constant,
   which costs nothing there. */
static void bodies_read_through_their_operator(void **state) {
  (void)state;
  message g = entry();
  add_weight(&g, weight("w", FLOAT, "8"));
  add_if(&g, body_of("body", "Neg", "a", "r"),
         body_of("body", "Add", "a w", "r"));
  expect_text(plain_model(g), "",
              "calm-graph 1\n"
              "graph main layout=nchw\n"
              "tensor c bool[] input\n"
              "tensor x f32[8] input\n"
              "tensor a f32[8]\n"
              "tensor y f32[8] output\n"
              "op 0_Relu relu ( x ) -> ( a )\n"
              "op 1_If if ( c a ) -> ( y ) body=body body=\"body#2\"\n"
              "graph body layout=nchw\n"
              "tensor r f32[8] output\n"
              "tensor a f32[8] const\n"
              "op 0_Neg neg ( a ) -> ( r )\n"
              "graph \"body#2\" layout=nchw\n"
              "tensor r f32[8] output\n"
              "tensor a f32[8] const\n"
              "tensor w f32[8] const\n"
              "op 0_Add add ( a w ) -> ( r )\n");
}

/* An If whose branches give [8] and [3,4], and what follows it. */
static message unequal_branches(const char *follower, const char *operands) {
  message g = {0}, branch[2] = {{0}, {0}}, n = node("If", "c", "t");
  put_text(&g, 2, "main");
  add_input(&g, "c", BOOL, "");
  add_input(&g, "a", FLOAT, "8");
  add_input(&g, "b", FLOAT, "3,4");
  add_output(&g, "y", FLOAT, "n");
  for (int i = 0; i < 2; i++) {
    put_text(&branch[i], 2, i ? "second" : "first");
    add_node(&branch[i], "Neg", i ? "b" : "a", "r");
    add_output(&branch[i], "r", FLOAT, i ? "3,4" : "8");
    put_message(
        &n, 5,
        graph_attribute_of(i ? "else_branch" : "then_branch", branch[i]));
  }
  put_message(&g, 1, n);
  add_node(&g, follower, operands, "y");
  return g;
}

/* The larger branch bounds the smaller one; what is computed from the shape
   stays unknown. */
static void the_larger_branch_is_counted(void **state) {
  (void)state;
  expect_text(plain_model(unequal_branches("Relu", "t")), "",
              "calm-graph 1\n"
              "graph main layout=nchw\n"
              "tensor c bool[] input\n"
              "tensor a f32[8] input\n"
              "tensor b f32[3,4] input\n"
              "tensor t f32[3,4]\n"
              "tensor y f32[3,4] output\n"
              "op 0_If if ( c a b ) -> ( t ) body=first body=second\n"
              "op 1_Relu relu ( t ) -> ( y )\n"
              "graph first layout=nchw\n"
              "tensor r f32[8] output\n"
              "tensor a f32[8] const\n"
              "op 0_Neg neg ( a ) -> ( r )\n"
              "graph second layout=nchw\n"
              "tensor r f32[3,4] output\n"
              "tensor b f32[3,4] const\n"
              "op 0_Neg neg ( b ) -> ( r )\n");
  expect_warning(plain_model(unequal_branches("Relu", "t")),
                 "the size of 't' depends on the branch of an If; the larger "
                 "one is counted; others likewise");
  expect_failure(plain_model(unequal_branches("Add", "t t")), "",
                 CALM_UNSUPPORTED, "of unknown size");
}

/* Two levels down: the body in between hands the value in. */
static void values_pass_through_bodies_in_between(void **state) {
  (void)state;
  message g = entry(), outer = {0}, inner = node("If", "c", "r");
  put_message(
      &inner, 5,
      graph_attribute_of("then_branch", body_of("deep", "Neg", "a", "q")));
  put_message(
      &inner, 5,
      graph_attribute_of("else_branch", body_of("deep", "Neg", "a", "q")));
  put_text(&outer, 2, "middle");
  put_message(&outer, 1, inner);
  add_output(&outer, "r", FLOAT, "8");
  add_if(&g, outer, body_of("other", "Neg", "x", "r"));
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *main_graph = &r->model.graphs.data[0];
  const graph *middle = &r->model.graphs.data[1];
  assert_int_equal(r->model.graphs.count, 5);
  assert_string_equal(middle->name, "middle");
  assert_int_equal(main_graph->ops.data[1].input_count, 3); /* c, a and x */
  assert_int_equal(middle->ops.data[0].input_count, 2);     /* c and a */
  assert_int_equal(middle->ops.data[0].body_count, 2);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* onnxruntime PR 1186: the body has a value of its own of that name. */
static void an_inner_name_hides_an_outer_one(void **state) {
  (void)state;
  message g = entry(), inner = {0};
  put_text(&inner, 2, "hides");
  add_node(&inner, "Neg", "x", "a"); /* its own a */
  add_node(&inner, "Neg", "a", "r");
  add_output(&inner, "r", FLOAT, "8");
  add_if(&g, inner, body_of("other", "Neg", "x", "r"));
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *main_graph = &r->model.graphs.data[0];
  const graph *body = &r->model.graphs.data[1];
  assert_int_equal(main_graph->ops.data[1].input_count, 2); /* c and x */
  assert_int_equal(body->ops.data[1].inputs[0], body->ops.data[0].outputs[0]);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* A body may give out what it takes from outside. */
static void a_body_may_hand_back_an_outer_value(void **state) {
  (void)state;
  message g = entry(), same = {0};
  put_text(&same, 2, "same");
  add_output(&same, "a", FLOAT, "8");
  add_if(&g, same, body_of("other", "Neg", "a", "r"));
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  assert_int_equal(r->model.graphs.data[0].ops.data[1].input_count, 2);
  assert_int_equal(r->model.graphs.data[1].tensors.count, 1);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void names_that_nobody_gives_are_refused(void **state) {
  (void)state;
  message g = entry();
  add_node(&g, "Add", "a nothing", "y");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "node '1_Add' reads 'nothing'");
  g = entry();
  expect_failure(plain_model(g), "", CALM_BAD_INPUT, "output 'y' is no input");
  g = entry();
  add_node(&g, "Neg", "a", "y");
  add_node(&g, "Abs", "a", "y");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "'y' is written by node 1 (Neg) and by node 2 (Abs '')");
  g = entry();
  add_node(&g, "Neg", "a", "x");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "node 1 (Neg '') writes 'x', which is an input");
  g = entry();
  add_input(&g, "x", FLOAT, "8");
  expect_failure(plain_model(g), "", CALM_BAD_INPUT, "an input twice");
}

static void bodies_nest_only_so_deep(void **state) {
  (void)state;
  message inner = body_of("deepest", "Neg", "x", "r");
  for (int depth = 0; depth < 40; depth++) {
    message n = node("If", "c", "r"), outer = {0};
    put_message(&n, 5, graph_attribute_of("then_branch", inner));
    put_message(&outer, 1, n);
    add_output(&outer, "r", FLOAT, "8");
    inner = outer;
  }
  message g = entry(), n = node("If", "c", "y");
  put_message(&n, 5, graph_attribute_of("then_branch", inner));
  put_message(&g, 1, n);
  expect_failure(plain_model(g), "", CALM_BAD_INPUT,
                 "bodies more than 32 deep");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_read_through_their_operator),
      cmocka_unit_test(the_larger_branch_is_counted),
      cmocka_unit_test(values_pass_through_bodies_in_between),
      cmocka_unit_test(an_inner_name_hides_an_outer_one),
      cmocka_unit_test(a_body_may_hand_back_an_outer_value),
      cmocka_unit_test(names_that_nobody_gives_are_refused),
      cmocka_unit_test(bodies_nest_only_so_deep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
