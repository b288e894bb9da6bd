/* Reordered files: every byte but the order of the nodes. */
#include "onnx_builder.h"

/* What a model is written as, under the orders of its graphs. */
static message write_model(reading *r, const op_id *const *sequences,
                           const char *note) {
  message out = {0};
  file_pieces pieces = {0};
  model_patch patch = {sequences, NULL, MODEL_PLAN_KEEP, note};
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_pieces(&pieces, &r->model, &patch, &a), CALM_OK);
  for (uint32_t i = 0; i < pieces.count; i++)
    put(&out, pieces.data[i].bytes, pieces.data[i].length);
  VECTOR_FREE(r->context, &pieces);
  arena_free(&a);
  return out;
}

static void expect_same(message a, message b) {
  assert_int_equal(a.length, b.length);
  assert_memory_equal(a.bytes, b.bytes, a.length);
  free(a.bytes);
  free(b.bytes);
}

/* Fields between the nodes stay where they are. */
static message fan(const int order[3]) {
  message g = {0};
  static const char *const names[] = {"a", "longer", "c"};
  add_output(&g, "y", FLOAT, "4");
  for (int i = 0; i < 3; i++) {
    add_node(&g, "Relu", "x", names[order[i]]);
    put_number(&g, 50, i);
  }
  add_node(&g, "Sum", "a longer c", "y");
  add_input(&g, "x", FLOAT, "4");
  put_text(&g, 2, "net");
  message m = plain_model(g);
  put_text(&m, 99, "behind the graph");
  return m;
}

static void places_stay_and_nodes_move(void **state) {
  (void)state;
  static const int before[] = {0, 1, 2}, after[] = {2, 0, 1};
  static const op_id moved[] = {2, 0, 1, 3}, same[] = {0, 1, 2, 3};
  const op_id *sequences[] = {moved};
  message m = fan(before);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  expect_same(write_model(r, sequences, NULL), fan(after));
  sequences[0] = same;
  expect_same(write_model(r, sequences, NULL), fan(before));
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static message body(const char *first, const char *second) {
  message g = {0};
  put_text(&g, 2, "body");
  add_node(&g, "Neg", "x", first);
  add_node(&g, "Abs", "x", second);
  add_node(&g, "Add", "p q", "r");
  add_output(&g, "r", FLOAT, "4");
  return g;
}

static message branches(bool moved) {
  message g = {0}, n = node("If", "c", "y");
  const char *first = moved ? "Abs" : "Neg", *second = moved ? "Neg" : "Abs";
  put_text(&g, 2, "main");
  add_input(&g, "c", BOOL, "");
  add_input(&g, "x", FLOAT, "4");
  add_output(&g, "y", FLOAT, "4");
  add_output(&g, "z", FLOAT, "4");
  if (moved) add_node(&g, "Relu", "x", "z");
  message inner = {0};
  put_text(&inner, 2, "body");
  add_node(&inner, first, "x", moved ? "q" : "p");
  add_node(&inner, second, "x", moved ? "p" : "q");
  add_node(&inner, "Add", "p q", "r");
  add_output(&inner, "r", FLOAT, "4");
  put_message(&n, 5, graph_attribute_of("then_branch", inner));
  put_message(&n, 5, graph_attribute_of("else_branch", body("p", "q")));
  put_message(&g, 1, n);
  if (!moved) add_node(&g, "Relu", "x", "z");
  return plain_model(g);
}

static void bodies_move_with_their_operator(void **state) {
  (void)state;
  static const op_id entry[] = {1, 0}, first[] = {1, 0, 2},
                     second[] = {0, 1, 2};
  const op_id *sequences[] = {entry, first, second};
  message m = branches(false);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  expect_same(write_model(r, sequences, NULL), branches(true));
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* w1 is needed first now, so it comes along; w0 keeps its place in front. */
static void add_constant(message *g, const char *name) {
  message n = node("Constant", "", name);
  put_message(&n, 5, tensor_attribute("value", weight("", FLOAT, "4")));
  put_message(g, 1, n);
}

static message with_weights(bool moved) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  add_output(&g, "a", FLOAT, "4");
  add_output(&g, "b", FLOAT, "4");
  add_constant(&g, "w0");
  if (moved) {
    add_constant(&g, "w1");
    add_node(&g, "Identity", "w1", "w2");
    add_node(&g, "Mul", "x w2", "b");
    add_node(&g, "Add", "x w0", "a");
  } else {
    add_node(&g, "Add", "x w0", "a");
    add_constant(&g, "w1");
    add_node(&g, "Identity", "w1", "w2");
    add_node(&g, "Mul", "x w2", "b");
  }
  return plain_model(g);
}

static void weights_stand_before_their_readers(void **state) {
  (void)state;
  static const op_id swapped[] = {1, 0}, same[] = {0, 1};
  const op_id *sequences[] = {swapped};
  message m = with_weights(false);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  assert_int_equal(r->model.graphs.data[0].ops.count, 2);
  expect_same(write_model(r, sequences, NULL), with_weights(true));
  sequences[0] = same;
  expect_same(write_model(r, sequences, NULL), with_weights(false));
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void add_note(message *m, const char *key, const char *value) {
  message entry = {0};
  put_text(&entry, 1, key);
  put_text(&entry, 2, value);
  put_message(m, 14, entry);
}

static void a_note_replaces_the_old_one(void **state) {
  (void)state;
  static const int order[] = {0, 1, 2};
  static const op_id same[] = {0, 1, 2, 3};
  const op_id *sequences[] = {same};
  message m = fan(order), expected = fan(order);
  add_note(&m, "author", "someone");
  add_note(&m, "calm", "an old note");
  add_note(&expected, "author", "someone");
  add_note(&expected, "calm", "new");
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  expect_same(write_model(r, sequences, "new"), expected);
  message unchanged = write_model(r, sequences, NULL);
  assert_int_equal(unchanged.length, m.length);
  assert_memory_equal(unchanged.bytes, m.bytes, m.length);
  free(unchanged.bytes);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_stay_and_nodes_move),
      cmocka_unit_test(bodies_move_with_their_operator),
      cmocka_unit_test(weights_stand_before_their_readers),
      cmocka_unit_test(a_note_replaces_the_old_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
