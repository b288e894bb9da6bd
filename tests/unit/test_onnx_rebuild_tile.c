/* Tiles in rebuilt .onnx files: slices, padded windows, joins. */
#include "edited.h"
#include "hand_tiled.h"
#include "onnx_builder.h"

typedef struct tiling {
  message file;
  reading *r, *again;
  graph_edit edit;
  arena a;
} tiling;

/* y = conv(x, w, b), padded by `padding`. */
static message net(message padding, int64_t opset) {
  message graph = {0}, conv = node("Conv", "x w b", "c");
  put_text(&graph, 2, "main");
  put_message(&conv, 5, ints_attribute("kernel_shape", "3,3"));
  put_message(&conv, 5, padding);
  put_message(&conv, 5, ints_attribute("strides", "1,1"));
  put_message(&graph, 1, conv);
  add_node(&graph, "Relu", "c", "y");
  add_weight(&graph, weight("w", FLOAT, "4,2,3,3"));
  add_weight(&graph, weight("b", FLOAT, "4"));
  add_input(&graph, "x", FLOAT, "1,2,7,5");
  add_output(&graph, "y", FLOAT, "1,4,7,5");
  return model_of(graph, 8, opset);
}

static message same_upper(void) {
  message a = attribute("auto_pad");
  put_text(&a, 4, "SAME_UPPER");
  put_number(&a, 20, 3);
  return a;
}

static void begin(tiling *t, message file) {
  *t = (tiling){.file = file};
  t->r = reading_of_model(&t->file);
  if (t->r->status) fail_msg("%s", reading_message(t->r));
  arena_init(&t->a, t->r->context);
  graph_edit_init(&t->edit, &t->r->model.graphs.data[0], &t->a);
}

static void end(tiling *t) {
  graph_edit_free(&t->edit);
  arena_free(&t->a);
  if (t->again) assert_int_equal(reading_end(t->again), 0);
  assert_int_equal(reading_end(t->r), 0);
  free(t->file.bytes);
}

static calm_status rebuild(tiling *t, const uint8_t **bytes, size_t *length) {
  return model_rebuild(bytes, length, &t->r->model, &t->edit, &t->a);
}

/* What a slice takes, its reader does not say. */
static void forget_parts(graph *g) {
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == OP_slice) g->ops.data[u].attribute_count = 0;
}

static const graph *rebuilt(tiling *t) {
  char buffer[256];
  const uint8_t *bytes;
  size_t length;
  if (rebuild(t, &bytes, &length)) fail_msg("%s", reading_message(t->r));
  t->again = reading_of_bytes(bytes, length);
  if (t->again->status) fail_msg("%s", reading_message(t->again));
  graph *g = &t->again->model.graphs.data[0];
  forget_parts(&t->edit.after);
  const char *difference =
      edited_compare(buffer, sizeof buffer, &t->edit.after, g);
  if (difference) fail_msg("%s", difference);
  return g;
}

static const graph_op *find_op(const graph *g, op_kind kind, uint32_t nth) {
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == kind && nth-- == 0) return &g->ops.data[u];
  fail_msg("there is no such operator");
  return NULL;
}

/* The shapes that are read are inferred from starts, ends and pads. */
static void a_convolution_becomes_two_strips(void **state) {
  (void)state;
  for (int rule = 0; rule < 2; rule++) {
    tiling t;
    begin(&t, net(rule ? same_upper() : ints_attribute("pads", "1,1,1,1"), 13));
    assert_int_equal(hand_tiled(&t.edit, 0, true, false, &t.a), CALM_OK);
    const graph *g = rebuilt(&t);
    assert_string_equal(graph_op_attribute(find_op(g, OP_conv2d, 0), "pads"),
                        "1,1,0,1");
    assert_string_equal(graph_op_attribute(find_op(g, OP_conv2d, 1), "pads"),
                        "0,1,1,1");
    assert_null(graph_op_attribute(find_op(g, OP_conv2d, 1), "pad"));
    const graph_tensor *strip =
        &g->tensors.data[find_op(g, OP_slice, 1)->outputs[0]];
    assert_int_equal(strip->dimensions[2], 5);
    assert_int_equal(find_op(g, OP_slice, 0)->input_count, 4);
    end(&t);
  }
}

static void slices_of_old_files_have_attributes(void **state) {
  (void)state;
  tiling t;
  begin(&t, net(ints_attribute("pads", "1,1,1,1"), 9));
  assert_int_equal(hand_tiled(&t.edit, 0, true, true, &t.a), CALM_OK);
  const graph *g = rebuilt(&t);
  assert_int_equal(find_op(g, OP_slice, 0)->input_count, 1);
  assert_int_equal(
      g->tensors.data[find_op(g, OP_slice, 1)->outputs[0]].dimensions[2], 5);
  end(&t);
}

static void slices_must_suit_the_opset(void **state) {
  (void)state;
  for (int bare = 0; bare < 2; bare++) {
    const uint8_t *bytes;
    size_t length;
    tiling t;
    begin(&t, net(ints_attribute("pads", "1,1,1,1"), bare ? 10 : 9));
    assert_int_equal(hand_tiled(&t.edit, 0, true, bare, &t.a), CALM_OK);
    assert_int_equal(rebuild(&t, &bytes, &length), CALM_UNSUPPORTED);
    if (!strstr(reading_message(t.r), "opset 10"))
      fail_msg("%s", reading_message(t.r));
    end(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution_becomes_two_strips),
      cmocka_unit_test(slices_of_old_files_have_attributes),
      cmocka_unit_test(slices_must_suit_the_opset)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
