/*
 * A convolution in groups was taken for a dense one: microsoft/onnxjs #41
 * (8 to 64 channels in 8 groups).  Every division of the channels.
 */
#include "unit/onnx_builder.h"

static message convolution(int channels, int group, int per_group) {
  char shape[32], weights[32];
  message g = {0}, n = node("Conv", "x w", "y");
  snprintf(shape, sizeof shape, "1,%d,9,9", channels);
  snprintf(weights, sizeof weights, "%d,%d,3,3", group * per_group,
           channels / group);
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, shape);
  add_weight(&g, weight("w", FLOAT, weights));
  put_message(&n, 5, int_attribute("group", group));
  put_message(&n, 5, ints_attribute("strides", "2,2"));
  put_message(&n, 5, ints_attribute("pads", "1,1,1,1"));
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

static const char *value_of(const graph_op *op, const char *key) {
  for (uint32_t i = 0; i < op->attribute_count; i++)
    if (!strcmp(op->attributes[i].key, key)) return op->attributes[i].value;
  return NULL;
}

static void every_division(void **state) {
  (void)state;
  for (int group = 1; group <= 8; group *= 2)
    for (int per_group = 1; per_group <= 8; per_group *= 2) {
      message m = convolution(8, group, per_group);
      reading *r = reading_of_model(&m);
      if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
      const graph *g = &r->model.graphs.data[0];
      const graph_op *op = &g->ops.data[0];
      const char *written = value_of(op, "group");
      const int64_t outputs = (int64_t)group * per_group;
      assert_int_equal(op->kind, group == 8 ? OP_depthwise_conv2d : OP_conv2d);
      assert_int_equal(written ? strtol(written, NULL, 10) : 1, group);
      assert_int_equal(g->tensors.data[op->outputs[0]].bytes, outputs * 25 * 4);
      assert_int_equal(r->model.weight_bytes, outputs * (8 / group) * 9 * 4);
      assert_int_equal(reading_end(r), 0);
      free(m.bytes);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_division)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
