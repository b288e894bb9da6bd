/* Convolutions of a concat as sums of convolutions. */
#include "unit/rewrite_peaks.h"

static void becomes(rewrite_fixture *x, const char *expected) {
  rewrite_do_all(x);
  rewrite_gives(x, expected);
  rewrite_close(x);
}

static const char small[] =
    "tensor x 2 input\ntensor a 3 input\ntensor c 5\ntensor y 7 output\n"
    "op cat concat ( x a ) -> ( c )\n"
    "op conv conv2d ( c ) -> ( y ) activation=relu stride=2,2\n";

static void test_kernels_that_accumulate(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, small);
  becomes(&x,
          "tensor x 2 input\n"
          "tensor a 3 input\n"
          "tensor y 7 output\n"
          "tensor y/p1 7\n"
          "tensor y/p2 7\n"
          "op conv/p1 conv2d ( x ) -> ( y/p1 ) stride=2,2\n"
          "op conv/p2 conv2d ( a ) -> ( y/p2 ) stride=2,2\n"
          "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n");
}

static void test_additions(void **state) {
  (void)state;
  rewrite_fixture x;
  const char *expected =
      "tensor x 2 input\n"
      "tensor a 3 input\n"
      "tensor y 7 output\n"
      "tensor y/t1 7\n"
      "tensor y/p1 7\n"
      "tensor y/t2 7\n"
      "tensor y/p2 7\n"
      "op conv/p1 conv2d ( x ) -> ( y/t1 ) stride=2,2\n"
      "op conv/a1 add_into ( y/t1 ) -> ( y/p1 )%s\n"
      "op conv/p2 conv2d ( a ) -> ( y/t2 ) stride=2,2\n"
      "op conv/a2 add_into ( y/t2 ) -> ( y/p2 )%s\n"
      "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n";
  char text[1024];
  rewrite_open_lines(&x, small);
  x.options.partials = PARTIALS_ADD_INPLACE;
  snprintf(text, sizeof text, expected, "", "");
  becomes(&x, text);
  rewrite_open_lines(&x, small);
  x.options.partials = PARTIALS_ADD_COPY;
  snprintf(text, sizeof text, expected, " workspace=7", " workspace=7");
  becomes(&x, text);
}

static void test_wide_sums(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, small);
  x.options.accumulator_factor = 4;
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  assert_int_equal(g->ops.count, 4);
  assert_string_equal(g->ops.data[2].name, "conv/sum");
  assert_false(x.edit.ops.data[2].activation);
  assert_string_equal(g->ops.data[3].name, "conv");
  assert_int_equal(g->ops.data[3].kind, OP_quantize);
  assert_int_equal(x.edit.ops.data[3].role, EDIT_KEEP);
  assert_true(x.edit.ops.data[3].activation);
  const graph_tensor *wide = &g->tensors.data[g->ops.data[2].outputs[0]];
  assert_string_equal(wide->name, "y/wide");
  assert_int_equal(wide->bytes, 28);
  assert_int_equal(g->tensors.data[g->ops.data[0].outputs[0]].bytes, 28);
  rewrite_close(&x);
}

#define TYPED(type)                                  \
  "tensor x " type "[1,4,4,2] input\ntensor a " type \
  "[1,4,4,3] input\n"                                \
  "tensor w " type "[7,1,1,5] const\ntensor c " type \
  "[1,4,4,5]\n"                                      \
  "tensor y " type                                   \
  "[1,4,4,7] output\n"                               \
  "op cat concat ( x a ) -> ( c ) axis=3\n"          \
  "op conv conv2d ( c w ) -> ( y )\n"

static element_type type_of_sum(const char *lines, uint32_t factor) {
  rewrite_fixture x;
  rewrite_open_lines(&x, lines);
  x.options.accumulator_factor = factor;
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  const op_id sum =
      g->ops.count - 1 - (g->ops.data[g->ops.count - 1].kind == OP_quantize);
  assert_int_equal(g->ops.data[sum].kind, OP_partial_sum);
  const graph_op *op = &g->ops.data[sum];
  const element_type type = g->tensors.data[op->outputs[0]].type;
  const bool wide = type != x.g->tensors.data[0].type;
  assert_string_equal(op->name, wide ? "conv/sum" : "conv");
  assert_int_equal(x.edit.ops.data[sum].activation, !wide);
  assert_int_equal(g->tensors.data[op->inputs[0]].type, type);
  rewrite_close(&x);
  return type;
}

static void test_types_of_sums(void **state) {
  (void)state;
  assert_int_equal(type_of_sum(TYPED("i8"), 1), ELEMENT_i8);
  assert_int_equal(type_of_sum(TYPED("i8"), 2), ELEMENT_i16);
  assert_int_equal(type_of_sum(TYPED("u8"), 4), ELEMENT_i32);
  assert_int_equal(type_of_sum(TYPED("i16"), 2), ELEMENT_i32);
  assert_int_equal(type_of_sum(TYPED("f32"), 4), ELEMENT_f32);
}

/* Two convolutions of the same weights share the slices, too. */
static void test_shared_weights(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(
      &x,
      "tensor x f32[1,4,4,2] input\ntensor a f32[1,4,4,3] input\n"
      "tensor w f32[7,1,1,5] const\ntensor c f32[1,4,4,5]\n"
      "tensor y f32[1,4,4,7] output\ntensor z f32[1,2,2,7] output\n"
      "tensor v f32[1,4,4,7] output\ntensor k f32[1,4,4,5] input\n"
      "op cat concat ( x a ) -> ( c ) axis=3\n"
      "op one conv2d ( c w ) -> ( y )\n"
      "op two conv2d ( c w ) -> ( z ) stride=2,2\n"
      "op three conv2d ( k w ) -> ( v )\n");
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  assert_int_equal(g->ops.count, 7);
  assert_int_equal(g->ops.data[0].inputs[1], g->ops.data[3].inputs[1]);
  assert_int_equal(g->ops.data[1].inputs[1], g->ops.data[4].inputs[1]);
  assert_string_equal(g->tensors.data[g->ops.data[6].inputs[1]].name, "w");
  rewrite_close(&x);
}

/* Kernels are O I H W, pictures N C H W. */
static void test_channels_first(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x,
                     "tensor x f32[1,2,9,9] input\n"
                     "tensor a f32[1,3,9,9] input\n"
                     "tensor w f32[7,5,3,3] const\ntensor c f32[1,5,9,9]\n"
                     "tensor y f32[1,7,9,9] output\n"
                     "op cat concat ( x a ) -> ( c ) axis=1\n"
                     "op conv conv2d ( c w ) -> ( y ) pads=1,1,1,1\n");
  x.g->channels_first = true;
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  assert_true(g->channels_first);
  assert_int_equal(g->ops.count, 3);
  const tensor_id w = g->ops.data[1].inputs[1];
  assert_int_equal(g->tensors.data[w].dimensions[1], 3);
  assert_int_equal(x.edit.tensors.data[w].axis, 1);
  assert_int_equal(x.edit.tensors.data[w].begin, 2);
  rewrite_close(&x);
}

static void test_fused_convolutions(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(
      &x,
      "tensor x f32[1,2,9,1] input\ntensor a f32[1,3,9,1] input\n"
      "tensor w f32[7,5,1,1] const\ntensor c f32[1,5,9,1]\n"
      "tensor y f32[1,7,9,1] output\ntensor z f32[1,7,9,1] output\n"
      "op cat concat ( x a ) -> ( c ) axis=1\n"
      "op conv fused_conv ( c w ) -> ( y ) activation=relu\n"
      "op more fused_conv ( c w - y ) -> ( z )\n");
  x.g->channels_first = true;
  rewrite_do_all(&x);
  assert_null(rewrite_site_named(&x, "cat>conv")->refusal);
  assert_string_equal(rewrite_site_named(&x, "cat>more")->refusal,
                      "it adds another tensor already");
  assert_int_equal(x.edit.after.ops.data[1].kind, OP_conv2d);
  assert_null(graph_op_attribute(&x.edit.after.ops.data[1], "activation"));
  rewrite_close(&x);
}

/* Scales of weights run along the outputs of a convolution, which all its parts
   have, however many inputs there are. */
static void test_scales(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x,
                     "tensor x i8[1,4,4,2] input\ntensor a i8[1,4,4,3] input\n"
                     "tensor w i8[5,1,1,5] const\ntensor c i8[1,4,4,5]\n"
                     "tensor y i8[1,4,4,5] output\n"
                     "op cat concat ( x a ) -> ( c ) axis=3\n"
                     "op conv conv2d ( c w ) -> ( y )\n");
  x.g->tensors.data[2].scale_count = 5;
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  const tensor_id w = g->ops.data[0].inputs[1];
  assert_int_equal(g->tensors.data[w].scale_count, 5);
  rewrite_close(&x);
}

/* Whichever part comes first has the bias, so it cannot be made on the way:
   an .onnx file was written in which the part ran before its bias. */
static void test_bias_that_is_made(void **state) {
  (void)state;
  static const char *const biases[] = {"r", "s"};
  for (int i = 0; i < 2; i++) {
    rewrite_fixture x;
    char lines[1024];
    snprintf(lines, sizeof lines,
             "tensor x f32[1,4,4,2] input\ntensor a f32[1,4,4,3] input\n"
             "tensor s f32[6] input\ntensor r f32[6]\n"
             "tensor w f32[6,1,1,5] const\ntensor c f32[1,4,4,5]\n"
             "tensor y f32[1,4,4,6] output\n"
             "op cat concat ( x a ) -> ( c ) axis=3\n"
             "op make relu ( s ) -> ( r )\n"
             "op conv conv2d ( c w %s ) -> ( y )\n",
             biases[i]);
    rewrite_open_lines(&x, lines);
    rewrite_find(&x);
    assert_int_equal(x.sites.count, 1);
    assert_string_equal(x.sites.sites[0].refusal, "its bias is no constant");
    rewrite_close(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_that_accumulate),
      cmocka_unit_test(test_additions),
      cmocka_unit_test(test_wide_sums),
      cmocka_unit_test(test_types_of_sums),
      cmocka_unit_test(test_shared_weights),
      cmocka_unit_test(test_channels_first),
      cmocka_unit_test(test_fused_convolutions),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_bias_that_is_made)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
