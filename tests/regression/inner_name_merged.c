/*
 * A value of a body was taken for the one of that name outside:
 * microsoft/onnxruntime PR 1186.  The kinds of source in the body, each with a
 * value of the same name around it.
 */
#include "unit/onnx_builder.h"

typedef enum source { INPUT, INITIALIZER, NODE, SOURCES } source;

/* The body makes, or is given, its own `v` of 4 elements; outside it has 64. */
static message body_with(source s) {
  message g = {0};
  put_text(&g, 2, "body");
  add_input(&g, "i", INT64, "");
  add_input(&g, "more", BOOL, "");
  add_input(&g, s == INPUT ? "v" : "state", FLOAT, "4");
  if (s == INITIALIZER) add_weight(&g, weight("v", FLOAT, "4"));
  if (s == NODE) add_node(&g, "Abs", "state", "v");
  add_node(&g, "Add", s == INPUT ? "v v" : "v state", "r");
  add_output(&g, "more", BOOL, "");
  add_output(&g, "r", FLOAT, "4");
  return g;
}

static void each_graph_has_its_own(void **state) {
  (void)state;
  for (source s = 0; s < SOURCES; s++) {
    message g = {0}, n = node("Loop", "count - x", "y");
    put_text(&g, 2, "main");
    add_input(&g, "count", INT64, "");
    add_input(&g, "x", FLOAT, "4");
    add_input(&g, "v", FLOAT, "64");
    put_message(&n, 5, graph_attribute_of("body", body_with(s)));
    put_message(&g, 1, n);
    add_node(&g, "Relu", "v", "z");
    add_output(&g, "y", FLOAT, "4");
    add_output(&g, "z", FLOAT, "64");
    message m = plain_model(g);
    reading *r = reading_of_model(&m);
    if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
    const graph *entry = &r->model.graphs.data[0];
    const graph *body = &r->model.graphs.data[1];
    const op_id loop = 0, last = body->ops.count - 1;
    for (uint32_t i = 0; i < entry->ops.data[loop].input_count; i++)
      if (entry->ops.data[loop].inputs[i] != CALM_NONE)
        assert_string_not_equal(
            entry->tensors.data[entry->ops.data[loop].inputs[i]].name, "v");
    const tensor_id read = body->ops.data[last].inputs[0];
    assert_int_equal(body->tensors.data[read].bytes, 16);
    assert_int_equal(reading_end(r), 0);
    free(m.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_graph_has_its_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
