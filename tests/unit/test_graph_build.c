/* Graphs built by calls: what graph_add_* copies and what graph_finish
   refuses. */
#include "graph_fixture.h"

#include "base/number.h"

static graph_tensor abstract(const char *name, uint64_t bytes, unsigned flags) {
  return (graph_tensor){
      .name = name, .type = ELEMENT_ABSTRACT, .bytes = bytes, .flags = flags};
}

static tensor_id must_add_tensor(graph *g, graph_tensor tensor) {
  tensor_id id = CALM_NONE;
  assert_int_equal(graph_add_tensor(&id, g, &tensor), CALM_OK);
  return id;
}

static op_id must_add_op(graph *g, const char *name, tensor_id input,
                         tensor_id output) {
  op_id id = CALM_NONE;
  graph_op op = {.name = name,
                 .kind = OP_OPAQUE,
                 .kind_name = "thing",
                 .inputs = &input,
                 .input_count = 1,
                 .outputs = &output,
                 .output_count = 1};
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
  return id;
}

static void expect_refusal(fixture *f, graph *g, const char *message) {
  assert_int_equal(graph_finish(g, "net"), CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f->context), message);
}

typedef void (*scene)(fixture *f, graph *g);

static void play(scene scene) {
  fixture f;
  graph g;
  fixture_open(&f, NULL);
  graph_init(&g, &f.arena, "g");
  scene(&f, &g);
  graph_free(&g);
  fixture_close(&f);
}

static void copy_scene(fixture *f, graph *g) {
  char name[] = "x", kind[] = "conv", key[] = "k", value[] = "v";
  int64_t dimensions[] = {2, 3};
  graph_tensor tensor = {
      .name = name, .type = ELEMENT_i16, .dimensions = dimensions, .rank = 2};
  tensor_id x = must_add_tensor(g, tensor);
  graph_attribute attribute = {key, value};
  graph_op op = {.name = name,
                 .kind = OP_OPAQUE,
                 .kind_name = kind,
                 .attributes = &attribute,
                 .attribute_count = 1,
                 .workspace_bytes = 9};
  op_id u;
  assert_int_equal(graph_add_op(&u, g, &op), CALM_OK);
  *name = *kind = *key = *value = '?';
  dimensions[0] = 99;
  assert_string_equal(g->tensors.data[x].name, "x");
  assert_int_equal(g->tensors.data[x].dimensions[0], 2);
  assert_int_equal(g->tensors.data[x].bytes, 12);
  assert_string_equal(g->ops.data[u].kind_name, "conv");
  assert_string_equal(g->ops.data[u].attributes[0].key, "k");
  assert_string_equal(g->ops.data[u].attributes[0].value, "v");
  assert_int_equal(graph_finish(g, "net"), CALM_OK);
  (void)f;
}

static void everything_is_copied(void **state) {
  (void)state;
  play(copy_scene);
}

static void expect_bad_tensor(fixture *f, graph *g, graph_tensor tensor,
                              const char *message) {
  tensor_id id = 77;
  assert_int_equal(graph_add_tensor(&id, g, &tensor), CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f->context), message);
  assert_int_equal(id, 77);
  assert_int_equal(g->tensors.count, 0);
}

static void bad_tensor_scene(fixture *f, graph *g) {
  static const int64_t ones[GRAPH_MAX_RANK + 1];
  static const int64_t negative[] = {1, -5}, huge[] = {INT64_MAX, 2};
  graph_tensor t = {.name = "x", .type = ELEMENT_f32, .rank = 2};
  t.dimensions = negative;
  expect_bad_tensor(f, g, t,
                    "tensor 'x': dimension 1 is -5, it must not be negative");
  t.dimensions = huge;
  expect_bad_tensor(f, g, t,
                    "tensor 'x': its shape needs more than 2^62 bytes");
  t.dimensions = ones;
  t.rank = GRAPH_MAX_RANK + 1;
  expect_bad_tensor(f, g, t, "tensor 'x': 65 dimensions, at most 64 work");
  expect_bad_tensor(f, g, abstract("x", NUMBER_MAX_BYTES + 1, 0),
                    "tensor 'x': more than 2^62 bytes");
}

static void impossible_tensors_are_refused(void **state) {
  (void)state;
  play(bad_tensor_scene);
}

static void bad_workspace_scene(fixture *f, graph *g) {
  graph_op op = {
      .name = "u", .kind = OP_add, .workspace_bytes = NUMBER_MAX_BYTES + 1};
  op_id id = 77;
  assert_int_equal(graph_add_op(&id, g, &op), CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f->context),
                      "operator 'u': a workspace of more than 2^62 bytes");
  assert_int_equal(id, 77);
}

static void impossible_operators_are_refused(void **state) {
  (void)state;
  play(bad_workspace_scene);
}

static void twin_tensors(fixture *f, graph *g) {
  must_add_tensor(g, abstract("x", 1, 0));
  must_add_tensor(g, abstract("y", 1, 0));
  must_add_tensor(g, abstract("x", 2, 0));
  expect_refusal(f, g,
                 "net: tensors 0 and 2 are both named 'x'; names must differ");
}

static void twin_operators(fixture *f, graph *g) {
  must_add_op(g, "u", CALM_NONE, CALM_NONE);
  must_add_op(g, "u", CALM_NONE, CALM_NONE);
  expect_refusal(
      f, g, "net: operators 0 and 1 are both named 'u'; names must differ");
}

static void input_out_of_range(fixture *f, graph *g) {
  must_add_tensor(g, abstract("x", 1, CALM_TENSOR_INPUT));
  must_add_op(g, "u", 1, CALM_NONE);
  expect_refusal(f, g,
                 "net: operator 'u': its input 0 is number 1, but there are "
                 "only 1");
}

static void output_out_of_range(fixture *f, graph *g) {
  must_add_op(g, "u", CALM_NONE, 4000000000);
  expect_refusal(f, g,
                 "net: operator 'u': its output 0 is number 4000000000, but "
                 "there are only 0");
}

static void after_out_of_range(fixture *f, graph *g) {
  op_id after = 3, id;
  graph_op op = {.name = "u", .kind = OP_add, .after = &after};
  op.after_count = 1;
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
  expect_refusal(f, g,
                 "net: operator 'u': its predecessor 0 is number 3, but there "
                 "are only 1");
}

static void two_producers(fixture *f, graph *g) {
  tensor_id x = must_add_tensor(g, abstract("x", 1, 0));
  must_add_op(g, "u", CALM_NONE, x);
  must_add_op(g, "v", CALM_NONE, x);
  expect_refusal(f, g,
                 "net: tensor 'x' is written by the operators 'u' and 'v'; a "
                 "tensor has one producer");
}

static void written_twice(fixture *f, graph *g) {
  tensor_id x = must_add_tensor(g, abstract("x", 1, 0));
  tensor_id both[] = {x, x};
  graph_op op = {
      .name = "u", .kind = OP_split, .outputs = both, .output_count = 2};
  op_id id;
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
  expect_refusal(f, g, "net: operator 'u' writes tensor 'x' twice");
}

static void written_input(fixture *f, graph *g) {
  tensor_id x = must_add_tensor(g, abstract("x", 1, CALM_TENSOR_INPUT));
  must_add_op(g, "u", CALM_NONE, x);
  expect_refusal(f, g,
                 "net: operator 'u' writes tensor 'x', which is a graph input; "
                 "only other tensors can be outputs of an operator");
}

static void written_constant(fixture *f, graph *g) {
  tensor_id x = must_add_tensor(g, abstract("x", 1, CALM_TENSOR_CONST));
  must_add_op(g, "u", CALM_NONE, x);
  expect_refusal(f, g,
                 "net: operator 'u' writes tensor 'x', which is a constant; "
                 "only other tensors can be outputs of an operator");
}

static void too_much_together(fixture *f, graph *g) {
  must_add_tensor(g, abstract("x", NUMBER_MAX_BYTES, 0));
  assert_int_equal(graph_finish(g, "net"), CALM_OK);
  must_add_tensor(g, abstract("y", 1, 0));
  expect_refusal(f, g,
                 "net: the tensors of graph 'g' need more than 2^62 bytes");
}

static void faulty_graphs_are_refused(void **state) {
  (void)state;
  static const scene scenes[] = {twin_tensors,       twin_operators,
                                 input_out_of_range, output_out_of_range,
                                 after_out_of_range, two_producers,
                                 written_twice,      written_input,
                                 written_constant,   too_much_together};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) play(scenes[i]);
}

/* Sums beyond 32 bits, tensors that nobody touches, absent operands. */
static void odd_scene(fixture *f, graph *g) {
  must_add_tensor(g, abstract("orphan", UINT64_C(497000000000), 0));
  tensor_id x = must_add_tensor(g, abstract("x", UINT64_C(5500000000), 0));
  must_add_op(g, "u", CALM_NONE, x);
  must_add_op(g, "v", x, CALM_NONE);
  assert_int_equal(graph_finish(g, "net"), CALM_OK);
  assert_int_equal(g->producer[0], CALM_NONE);
  assert_int_equal(g->reader_begin[1], 0);
  assert_true(g->tensors.data[x].bytes == UINT64_C(5500000000));
  (void)f;
}

static void odd_graphs_are_accepted(void **state) {
  (void)state;
  play(odd_scene);
}

static void empty_scene(fixture *f, graph *g) {
  assert_int_equal(graph_finish(g, "net"), CALM_OK);
  assert_true(g->file_order_valid);
  assert_int_equal(g->pred_begin[0], 0);
  (void)f;
}

static void an_empty_graph_is_a_graph(void **state) {
  (void)state;
  play(empty_scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_copied),
      cmocka_unit_test(impossible_tensors_are_refused),
      cmocka_unit_test(impossible_operators_are_refused),
      cmocka_unit_test(faulty_graphs_are_refused),
      cmocka_unit_test(odd_graphs_are_accepted),
      cmocka_unit_test(an_empty_graph_is_a_graph)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
