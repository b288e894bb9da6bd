/* Kinds and attributes of operators. */
#include "onnx_builder.h"

/* The rows are looked up by halving, so they must be sorted. */
static void rows_are_sorted(void **state) {
  (void)state;
  static const char *const types[] = {
#define ONNX_OP(type, kind, needed) #type,
#include "model/onnx_ops.def"
#undef ONNX_OP
  };
  for (size_t i = 1; i < sizeof types / sizeof *types; i++)
    assert_true(strcmp(types[i - 1], types[i]) < 0);
}

static message convolution(const char *shape, const char *weights,
                           int64_t group) {
  message g = {0}, n = node("Conv", "x w", "y");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, shape);
  add_weight(&g, weight("w", FLOAT, weights));
  put_message(&n, 5, int_attribute("group", group));
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

static void expect_kind(message m, const char *kind) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  assert_string_equal(r->model.graphs.data[0].ops.data[0].kind_name, kind);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void convolutions_by_rank_and_group(void **state) {
  (void)state;
  expect_kind(convolution("1,4,8", "6,4,3", 1), "conv1d");
  expect_kind(convolution("1,4,8,8", "6,4,3,3", 1), "conv2d");
  expect_kind(convolution("1,4,8,8", "6,2,3,3", 2), "conv2d");
  expect_kind(convolution("1,4,8,8", "8,1,3,3", 4), "depthwise_conv2d");
  expect_kind(convolution("1,1,8,8", "8,1,3,3", 1), "conv2d");
  expect_kind(convolution("1,4,8,8,8", "6,4,3,3,3", 1), "conv3d");
}

static void attributes_are_written(void **state) {
  (void)state;
  message g = {0}, n = node("Conv", "x w", "y"),
          attributes[] = {ints_attribute("kernel_shape", "3,3"),
                          ints_attribute("strides", "2,1"),
                          ints_attribute("pads", "1,0,1,0"),
                          ints_attribute("dilations", "1,1"),
                          int_attribute("group", 2),
                          int_attribute("unheard", 3),
                          int_attribute("group", 2)};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "1,4,5,5");
  add_weight(&g, weight("w", FLOAT, "6,2,3,3"));
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    put_message(&n, 5, attributes[i]);
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, "1,6,3,3");
  expect_text(plain_model(g), "",
              "calm-graph 1\ngraph net layout=nchw\n"
              "tensor x f32[1,4,5,5] input\n"
              "tensor w f32[6,2,3,3] const\n"
              "tensor y f32[1,6,3,3] output\n"
              "op 0_Conv conv2d ( x w ) -> ( y ) layout=channels_first "
              "filter=3,3 stride=2,1 pads=1,0,1,0 group=2\n");
}

static message float_attribute(const char *name, float value) {
  message a = attribute(name);
  put_varint(&a, 2 << 3 | 5);
  put(&a, &value, sizeof value);
  put_number(&a, 20, 1);
  return a;
}

static message text_attribute(const char *name, const char *value) {
  message a = attribute(name);
  put_text(&a, 4, value);
  put_number(&a, 20, 3);
  return a;
}

static message floats_attribute(const char *name, const float *values,
                                size_t count) {
  message a = attribute(name);
  put_bytes(&a, 7, values, count * sizeof *values);
  put_number(&a, 20, 6);
  return a;
}

static void expect_attribute(message n, int64_t opset, const char *kind,
                             const char *key, const char *value) {
  message g = {0};
  add_input(&g, "x", FLOAT, "1,4,5,5");
  add_input(&g, "z", FLOAT, "1,4,5,5");
  add_weight(&g, weight("w", FLOAT, "4,1,1,1"));
  add_weight(&g, weight("c", FLOAT, "4"));
  add_weight(&g, integers("axes", "2,-1"));
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, NULL);
  message m = model_of(g, 8, opset);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph_op *op = &r->model.graphs.data[0].ops.data[0];
  assert_string_equal(op->kind_name, kind);
  const char *found = graph_op_attribute(op, key);
  assert_string_equal(found ? found : "none", value);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static message fused(const char *activation, const float *parameters,
                     size_t count) {
  message n = node("FusedConv", "x w - z", "y");
  put_text(&n, 7, "com.microsoft");
  put_message(&n, 5, int_attribute("group", 4));
  if (activation) put_message(&n, 5, text_attribute("activation", activation));
  if (count)
    put_message(&n, 5,
                floats_attribute("activation_params", parameters, count));
  return n;
}

static void a_fused_convolution_has_an_activation(void **state) {
  (void)state;
  const float parameters[] = {0, 6, 0.1F};
  expect_attribute(fused(NULL, NULL, 0), 17, "fused_conv", "activation",
                   "none");
  expect_attribute(fused("Relu", NULL, 0), 17, "fused_conv", "activation",
                   "relu");
  expect_attribute(fused("Clip", parameters, 2), 17, "fused_conv", "activation",
                   "relu6");
  expect_attribute(fused("Clip", parameters + 1, 2), 17, "fused_conv",
                   "activation", "clip,6,0.1");
  expect_attribute(fused("Novel", NULL, 0), 17, "fused_conv", "activation",
                   "Novel");
  expect_attribute(fused("Relu", NULL, 0), 17, "fused_conv", "group", "4");
}

static void facts_that_rewriting_needs_are_written(void **state) {
  (void)state;
  message n = node("BatchNormalization", "x c c c c", "y");
  put_message(&n, 5, float_attribute("epsilon", 1e-3F));
  expect_attribute(n, 17, "batch_normalization", "epsilon", "0.001");
  expect_attribute(node("ReduceMean", "x axes", "y"), 18, "mean", "axes",
                   "2,-1");
}

static message one_operator(const char *type, const char *inputs,
                            const char *outputs, int64_t opset) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "2,4,3,3");
  add_node(&g, type, inputs, outputs);
  add_output(&g, "y", FLOAT, "2,4,3,3");
  add_weight(&g, weight("c", FLOAT, "4"));
  return model_of(g, 8, opset);
}

/* The mask of a dropout, and the statistics of a normalization, cost nothing
   unless somebody reads them. */
static void optional_outputs_that_nobody_reads_are_absent(void **state) {
  (void)state;
  message m = one_operator("Dropout", "x", "y mask", 9);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *g = &r->model.graphs.data[0];
  assert_int_equal(g->tensors.count, 2);
  assert_int_equal(g->ops.data[0].output_count, 1);
  assert_string_equal(g->ops.data[0].kind_name, "dropout");
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
  expect_kind(one_operator("BatchNormalization", "x c c c c", "y", 9),
              "batch_normalization");
  expect_kind(one_operator("Unheard", "x", "y", 17), "onnx:Unheard");
  expect_kind(one_operator("Tanh", "x", "y", 17), "tanh");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_sorted),
      cmocka_unit_test(convolutions_by_rank_and_group),
      cmocka_unit_test(attributes_are_written),
      cmocka_unit_test(a_fused_convolution_has_an_activation),
      cmocka_unit_test(facts_that_rewriting_needs_are_written),
      cmocka_unit_test(optional_outputs_that_nobody_reads_are_absent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
