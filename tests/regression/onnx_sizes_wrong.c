/*
 * Sizes of ONNX tensors came out wrong.  A size of -1 was taken for a number
 * (onnxsim #247) and one of which nothing is said for 0 (torch-mlir PR 4037);
 * a symbol became 0 (onnxsim #21); one open size in a Concat stopped all of it
 * (onnx #7445); tensors without value_info were left out (onnx #2903); a scalar
 * counted as not known (onnxruntime PR 5752); a convolution in groups was taken
 * for a dense one (onnxjs #41); the reach of a dilated window was computed by
 * another formula (tensorflow #57128, #27667).
 */
#include "unit/onnx_builder.h"

/* x -Conv-> c -Relu-> y; nothing is stated of c and y. */
static message convolution(const char *input, const char *filter, int64_t group,
                           int64_t dilation, const char *padding) {
  message g = {0}, n = node("Conv", "x w", "c");
  char dilations[32];
  snprintf(dilations, sizeof dilations, "%d,%d", (int)dilation, (int)dilation);
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, input);
  put_message(&n, 5, int_attribute("group", group));
  put_message(&n, 5, ints_attribute("strides", "2,2"));
  put_message(&n, 5, ints_attribute("dilations", dilations));
  if (padding) put_message(&n, 5, ints_attribute("pads", padding));
  put_message(&g, 1, n);
  add_node(&g, "Relu", "c", "y");
  add_weight(&g, weight("w", FLOAT, filter));
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

static void expect_output(message m, const char *dims, const char *line) {
  reading *r = reading_with_dims(&m, dims);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  char *text = reading_dump(r);
  assert_non_null(text);
  if (!strstr(text, line)) fail_msg("no '%s' in %s", line, text);
  calm_text_free(r->context, text);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void sizes_are_computed(void **state) {
  (void)state;
  expect_output(convolution("1,8,28,28", "64,1,3,3", 8, 1, "1,1,1,1"), "",
                "tensor y f32[1,64,14,14] output");
  expect_output(convolution("1,72,136,136", "72,1,3,3", 72, 3, NULL), "",
                "tensor y f32[1,72,65,65] output");
  expect_output(convolution("1,8,128,128", "8,1,3,3", 8, 3, NULL), "",
                "tensor y f32[1,8,61,61] output");
  expect_output(convolution("?,8,-1,W", "64,1,3,3", 8, 1, "1,1,1,1"),
                "x:0=1 x:2=28 W=30", "tensor y f32[1,64,14,15] output");
  expect_failure(convolution("1,8,28,28", "64,1,3,3", 1, 1, NULL), "",
                 CALM_BAD_INPUT, "8 channels");
}

static void open_sizes_are_asked_for(void **state) {
  (void)state;
  const char *filter = "64,1,3,3";
  expect_failure(convolution("-1,8,28,28", filter, 8, 1, NULL), "",
                 CALM_UNSUPPORTED, "--dim x:0=N");
  expect_failure(convolution("?,8,28,28", filter, 8, 1, NULL), "",
                 CALM_UNSUPPORTED, "--dim x:0=N");
  expect_failure(convolution("batch,8,28,28", filter, 8, 1, NULL), "",
                 CALM_UNSUPPORTED, "--dim batch=N");
}

/* a is of another domain, so that its rows are not known: the error names what
   is missing and where that begins. */
static void what_stays_open_says_why(void **state) {
  (void)state;
  message g = {0}, foreign = node("Mystery", "x", "a");
  put_text(&foreign, 7, "my.own");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "2,3");
  put_message(&g, 1, foreign);
  add_node(&g, "Concat", "x a", "y");
  add_node(&g, "Relu", "y", "z");
  add_output(&g, "z", FLOAT, NULL);
  expect_failure(plain_model(g), "", CALM_UNSUPPORTED, "my.own::Mystery");
}

static void scalars_count(void **state) {
  (void)state;
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "1,10");
  add_input(&g, "s", FLOAT, "");
  add_node(&g, "Mul", "x s", "y");
  add_node(&g, "ReduceMax", "y", "z");
  add_output(&g, "z", FLOAT, NULL);
  expect_output(plain_model(g), "", "tensor z f32[1,1] output");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_computed),
                                     cmocka_unit_test(open_sizes_are_asked_for),
                                     cmocka_unit_test(what_stays_open_says_why),
                                     cmocka_unit_test(scalars_count)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
