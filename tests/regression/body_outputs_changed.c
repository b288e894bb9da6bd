/*
 * The outputs of a body were reordered, or one that is constant was taken out,
 * although they are matched by position: onnx/onnx PR 2876,
 * microsoft/onnxruntime #8825.
 */
#include "unit/onnx_builder.h"

/* more = a constant, then two states that change places. */
static message loop_model(bool nodes_swapped) {
  message g = {0}, body = {0}, n = node("Loop", "count - a b", "p q");
  message c = node("Constant", "", "go"), one = integers("", "1");
  put_message(&c, 5, tensor_attribute("value", one));
  put_text(&body, 2, "body");
  add_input(&body, "i", INT64, "");
  add_input(&body, "more", BOOL, "");
  add_input(&body, "s", FLOAT, "4");
  add_input(&body, "t", FLOAT, "4");
  add_output(&body, "go", INT64, "1");
  add_output(&body, "u", FLOAT, "4");
  add_output(&body, "v", FLOAT, "4");
  put_message(&body, 1, c);
  add_named(&body, nodes_swapped ? "two" : "one", nodes_swapped ? "Abs" : "Neg",
            nodes_swapped ? "s" : "t", nodes_swapped ? "v" : "u");
  add_named(&body, nodes_swapped ? "one" : "two", nodes_swapped ? "Neg" : "Abs",
            nodes_swapped ? "t" : "s", nodes_swapped ? "u" : "v");
  put_text(&g, 2, "main");
  add_input(&g, "count", INT64, "");
  add_input(&g, "a", FLOAT, "4");
  add_input(&g, "b", FLOAT, "4");
  put_message(&n, 5, graph_attribute_of("body", body));
  put_message(&g, 1, n);
  add_output(&g, "p", FLOAT, "4");
  add_output(&g, "q", FLOAT, "4");
  return plain_model(g);
}

static void outputs_keep_place_and_number(void **state) {
  (void)state;
  static const op_id entry[] = {0}, body[] = {1, 0};
  const op_id *sequences[] = {entry, body};
  message m = loop_model(false), expected = loop_model(true), written = {0};
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  uint32_t outputs = 0;
  const graph *g = &r->model.graphs.data[1];
  for (tensor_id t = 0; t < g->tensors.count; t++)
    outputs += (g->tensors.data[t].flags & CALM_TENSOR_OUTPUT) > 0;
  assert_int_equal(outputs, 3); /* the constant one, too */
  model_patch patch = {sequences, NULL, MODEL_PLAN_KEEP, NULL};
  file_pieces pieces = {0};
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_pieces(&pieces, &r->model, &patch, &a), CALM_OK);
  for (uint32_t i = 0; i < pieces.count; i++)
    put(&written, pieces.data[i].bytes, pieces.data[i].length);
  VECTOR_FREE(r->context, &pieces);
  arena_free(&a);
  assert_int_equal(written.length, expected.length);
  assert_memory_equal(written.bytes, expected.bytes, written.length);
  assert_int_equal(reading_end(r), 0);
  free(written.bytes);
  free(expected.bytes);
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_keep_place_and_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
