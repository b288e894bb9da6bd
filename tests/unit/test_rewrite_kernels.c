/* Operators that move above a concat. */
#include "unit/rewrite_peaks.h"

/* x and a, concatenated to c, then a line of the test, and the output y. */
static void open_net(rewrite_fixture *x, bool first, const char *tensors,
                     const char *op) {
  char lines[2048];
  snprintf(lines, sizeof lines,
           "tensor x f32[%s] input\ntensor a f32[%s] input\n"
           "tensor c f32[%s]\n%s"
           "op cat concat ( x a ) -> ( c ) axis=%d\n"
           "op u %s\n",
           first ? "1,2,4,4" : "1,4,4,2", first ? "1,3,4,4" : "1,4,4,3",
           first ? "1,5,4,4" : "1,4,4,5", tensors, first ? 1 : 3, op);
  rewrite_open_lines(x, lines);
  x->g->channels_first = first;
  rewrite_find(x);
}

static const char same_last[] = "tensor y f32[1,4,4,5] output\n";

static void moves(bool first, const char *tensors, const char *op,
                  const char *second) {
  rewrite_fixture x;
  text t;
  char *out;
  open_net(&x, first, tensors, op);
  if (x.sites.sites[0].refusal)
    fail_msg("%s: %s", op, x.sites.sites[0].refusal);
  assert_int_equal(x.sites.sites[0].rule, REWRITE_kernels);
  rewrite_do_all(&x);
  assert_int_equal(x.edit.after.ops.count, 3);
  text_init(&t, x.context);
  graph_text_write(&t, &x.edit.after, 1);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  if (!strstr(out, second)) fail_msg("no '%s' in %s", second, out);
  calm_text_free(x.context, out);
  rewrite_close(&x);
}

static void stays(bool first, const char *tensors, const char *op,
                  const char *why) {
  rewrite_fixture x;
  open_net(&x, first, tensors, op);
  assert_non_null(x.sites.sites[0].refusal);
  assert_string_equal(x.sites.sites[0].refusal, why);
  rewrite_close(&x);
}

static void test_elements(void **state) {
  (void)state;
  static const char *const kinds[] = {
      "relu", "relu6",      "logistic", "tanh",     "elu",        "hard_swish",
      "gelu", "leaky_relu", "clip",     "quantize", "dequantize", "exp"};
  char op[128], second[128];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    snprintf(op, sizeof op, "%s ( c ) -> ( y )", kinds[i]);
    snprintf(second, sizeof second, "op u/p2 %s ( a ) -> ( y/p2 )\n", kinds[i]);
    moves(false, same_last, op, second);
  }
  moves(false, same_last, "relu ( c ) -> ( y )",
        "op u concat ( y/p1 y/p2 ) -> ( y ) axis=3\n");
  stays(false, same_last, "softmax ( c ) -> ( y )",
        "it needs all channels at once");
  stays(false, "tensor y f32[1,4,4,6] output\n", "relu ( c ) -> ( y )",
        "its output has another shape");
}

static void test_settings(void **state) {
  (void)state;
  moves(true, "tensor k f32[] const\ntensor y f32[1,5,4,4] output\n",
        "clip ( c - k ) -> ( y )", "op u/p2 clip ( a - k ) -> ( y/p2 )\n");
  stays(true, "tensor k f32[5] const\ntensor y i8[1,5,4,4] output\n",
        "quantize ( c k ) -> ( y ) axis=1",
        "its settings differ from channel to channel");
  stays(true, "tensor k f32[1] input\ntensor y f32[1,5,4,4] output\n",
        "clip ( c - k ) -> ( y )", "it reads another tensor beside the concat");
}

static void test_broadcast_constants(void **state) {
  (void)state;
  moves(false, "tensor k f32[5] const\ntensor y f32[1,4,4,5] output\n",
        "mul ( c k ) -> ( y ) activation=relu",
        "op u/p2 mul ( a k/p2 ) -> ( y/p2 ) activation=relu\n");
  moves(false, "tensor k f32[5] const\ntensor y f32[1,4,4,5] output\n",
        "sub ( k c ) -> ( y )", "tensor k/p2 f32[3] const\n");
  moves(false, "tensor k f32[] const\ntensor y f32[1,4,4,5] output\n",
        "add ( c k ) -> ( y )", "op u/p2 add ( a k ) -> ( y/p2 )\n");
  moves(false, "tensor k f32[4,1] const\ntensor y f32[1,4,4,5] output\n",
        "div ( c k ) -> ( y )", "op u/p2 div ( a k ) -> ( y/p2 )\n");
  moves(false, "tensor k f32[1,1,5] const\ntensor y f32[1,4,4,5] output\n",
        "prelu ( c k ) -> ( y )", "tensor k/p2 f32[1,1,3] const\n");
  moves(true, "tensor k f32[1,5,1,1] const\ntensor y f32[1,5,4,4] output\n",
        "add ( c k ) -> ( y )", "tensor k/p2 f32[1,3,1,1] const\n");
  moves(true, "tensor k f32[5,4,4] const\ntensor y f32[1,5,4,4] output\n",
        "add ( c k ) -> ( y )", "tensor k/p2 f32[3,4,4] const\n");
  moves(true, "tensor k f32[4] const\ntensor y f32[1,5,4,4] output\n",
        "add ( c k ) -> ( y )", "op u/p2 add ( a k ) -> ( y/p2 )\n");
  stays(false, "tensor k f32[1,4,4,5] input\ntensor y f32[1,4,4,5] output\n",
        "add ( c k ) -> ( y )", "it reads another tensor beside the concat");
  stays(false, same_last, "mul ( c c ) -> ( y )", "it reads the concat twice");
  stays(false, "tensor k f32[2,4,4,5] const\ntensor y f32[2,4,4,5] output\n",
        "add ( c k ) -> ( y )", "its output has another shape");
}

/* Which of two equal operands a part is of does not matter where all channels
   are treated alike. */
static void test_the_same_operand_twice(void **state) {
  (void)state;
  static const char *const constants[] = {"", "1", "4,1", "4,4", "1,1,4,1"};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    rewrite_fixture x;
    char lines[1024];
    snprintf(lines, sizeof lines,
             "tensor x f32[1,2,4,4] input\ntensor c f32[1,6,4,4]\n"
             "tensor k f32[%s] const\ntensor m f32[1,6,4,4]\n"
             "tensor w f32[3,6,1,1] const\ntensor y f32[1,3,4,4] output\n"
             "op cat concat ( x x x ) -> ( c ) axis=1\n"
             "op times mul ( k c ) -> ( m )\n"
             "op conv conv2d ( m w ) -> ( y )\n",
             constants[i]);
    rewrite_open_lines(&x, lines);
    x.g->channels_first = true;
    rewrite_do_all(&x);
    for (op_id u = 0; u < x.edit.after.ops.count; u++)
      assert_int_not_equal(x.edit.after.ops.data[u].kind, OP_concat);
    rewrite_close(&x);
  }
}

static void test_pools(void **state) {
  (void)state;
  static const char *const kinds[] = {"average_pool2d", "max_pool2d",
                                      "l2_pool2d"};
  char op[128], second[128];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    snprintf(op, sizeof op, "%s ( c ) -> ( y ) stride=2,2", kinds[i]);
    snprintf(second, sizeof second, "op u/p2 %s ( a ) -> ( y/p2 ) stride=2,2\n",
             kinds[i]);
    moves(false, "tensor y f32[1,2,2,5] output\n", op, second);
  }
  moves(true, "tensor y f32[1,5,1,1] output\n",
        "global_average_pool ( c ) -> ( y )", "tensor y/p2 f32[1,3,1,1]\n");
  stays(false, "tensor y f32[1,2,2,5] output\ntensor z i64[1,2,2,5] output\n",
        "max_pool2d ( c ) -> ( y z )", "it has several outputs, or none");
  stays(false, "tensor y f32[1,4,4,5] output\n",
        "local_response_normalization ( c ) -> ( y )",
        "it needs all channels at once");
}

static void test_depthwise(void **state) {
  (void)state;
  moves(false,
        "tensor w f32[1,3,3,10] const\ntensor b f32[10] const\n"
        "tensor y f32[1,2,2,10] output\n",
        "depthwise_conv2d ( c w b ) -> ( y ) stride=2,2",
        "tensor w/p2 f32[1,3,3,6] const\n");
  moves(true,
        "tensor w f32[10,1,3,3] const\ntensor b f32[10] const\n"
        "tensor y f32[1,10,2,2] output\n",
        "depthwise_conv2d ( c w b ) -> ( y ) group=5 stride=2,2",
        "op u/p2 depthwise_conv2d ( a w/p2 b/p2 ) -> ( y/p2 ) group=3 "
        "stride=2,2\n");
  stays(false, "tensor w f32[1,3,3,7] const\ntensor y f32[1,2,2,7] output\n",
        "depthwise_conv2d ( c w ) -> ( y )",
        "its channels are no multiple of the concat's");
  stays(false, "tensor w f32[1,3,3,6] const\ntensor y f32[1,2,2,10] output\n",
        "depthwise_conv2d ( c w ) -> ( y )",
        "its weights do not follow the channels");
  stays(false, "tensor w i8[1,3,3,5] const\ntensor y f32[1,2,2,5] output\n",
        "depthwise_conv2d ( c w ) -> ( y )",
        "it quantises its input as a whole");
  stays(false, "tensor w f32[1,3,3,5] input\ntensor y f32[1,2,2,5] output\n",
        "depthwise_conv2d ( c w ) -> ( y )",
        "it reads another tensor beside the concat");
}

/* Each channel has its scale, which goes where the channel goes. */
static void test_depthwise_scales(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x,
                     "tensor x i8[1,4,4,2] input\ntensor a i8[1,4,4,3] input\n"
                     "tensor c i8[1,4,4,5]\ntensor w i8[1,3,3,5] const\n"
                     "tensor b i32[5] const\ntensor y i8[1,4,4,5] output\n"
                     "op cat concat ( x a ) -> ( c ) axis=3\n"
                     "op u depthwise_conv2d ( c w b ) -> ( y )\n");
  x.options.abstract = false;
  x.g->tensors.data[3].scale_count = x.g->tensors.data[4].scale_count = 5;
  rewrite_do_all(&x);
  const graph *g = &x.edit.after;
  const graph_op *second = &g->ops.data[1];
  assert_int_equal(g->ops.count, 3);
  assert_int_equal(g->tensors.data[second->inputs[1]].scale_count, 3);
  assert_int_equal(g->tensors.data[second->inputs[2]].scale_count, 3);
  assert_int_equal(x.edit.tensors.data[second->inputs[2]].begin, 2);
  rewrite_close(&x);
}

static void test_normalization(void **state) {
  (void)state;
  moves(true,
        "tensor s f32[5] const\ntensor b f32[5] const\ntensor m f32[5] const\n"
        "tensor v f32[5] const\ntensor y f32[1,5,4,4] output\n",
        "batch_normalization ( c s b m v ) -> ( y )",
        "op u/p2 batch_normalization ( a s/p2 b/p2 m/p2 v/p2 ) -> ( y/p2 )\n");
  stays(true, "tensor s f32[4] const\ntensor y f32[1,5,4,4] output\n",
        "batch_normalization ( c s ) -> ( y )",
        "its weights do not follow the channels");
}

static void test_reductions(void **state) {
  (void)state;
  moves(false, "tensor k i32[2] const\ntensor y f32[1,1,1,5] output\n",
        "mean ( c k ) -> ( y ) keep_dims=true",
        "op u/p2 mean ( a k ) -> ( y/p2 ) keep_dims=true\n");
  moves(false, "tensor k i32[2] const\ntensor y f32[1,5] output\n",
        "mean ( c k ) -> ( y )", "op u concat ( y/p1 y/p2 ) -> ( y ) axis=1\n");
  moves(true, "tensor y f32[1,5] output\n", "mean ( c ) -> ( y )",
        "tensor y/p2 f32[1,3]\n");
  stays(false, "tensor k i32[1] const\ntensor y f32[1,4,4,1] output\n",
        "mean ( c k ) -> ( y )", "it mixes channels, or may do so");
  stays(false, "tensor k i32[1] const\ntensor y f32[1,4,4] output\n",
        "mean ( c k ) -> ( y )", "it mixes channels, or may do so");
  stays(false, "tensor y f32[9] output\n", "mean ( c ) -> ( y )",
        "its output has another shape");
}

/* Five channels of four by four become four of four: who knows which went. */
static void test_ambiguous_reduction(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(
      &x,
      "tensor x f32[1,4,4,2] input\ntensor a f32[1,4,4,2] input\n"
      "tensor c f32[1,4,4,4]\ntensor y f32[1,4,4] output\n"
      "op cat concat ( x a ) -> ( c ) axis=3\n"
      "op u mean ( c ) -> ( y )\n");
  rewrite_find(&x);
  assert_string_equal(x.sites.sites[0].refusal,
                      "it mixes channels, or may do so");
  rewrite_close(&x);
}

/* Of these only the bytes are known. */
static void test_abstract(void **state) {
  (void)state;
  rewrite_fixture x;
  const char *lines =
      "tensor x 4 input\ntensor a 6 input\ntensor c 10\ntensor w 7 const\n"
      "tensor d %d\ntensor y 1 output\n"
      "op cat concat ( x a ) -> ( c )\n"
      "op u depthwise_conv2d ( c w ) -> ( d )\n"
      "op conv conv2d ( d ) -> ( y )\n";
  char text[512];
  snprintf(text, sizeof text, lines, 25);
  rewrite_open_lines(&x, text);
  rewrite_do_all(&x);
  rewrite_gives(&x,
                "tensor x 4 input\n"
                "tensor a 6 input\n"
                "tensor y 1 output\n"
                "tensor w/p1 2 const\n"
                "tensor d/p1 10\n"
                "tensor w/p2 5 const\n"
                "tensor d/p2 15\n"
                "tensor y/p1 1\n"
                "tensor y/p2 1\n"
                "op u/p1 depthwise_conv2d ( x w/p1 ) -> ( d/p1 )\n"
                "op u/p2 depthwise_conv2d ( a w/p2 ) -> ( d/p2 )\n"
                "op conv/p1 conv2d ( d/p1 ) -> ( y/p1 )\n"
                "op conv/p2 conv2d ( d/p2 ) -> ( y/p2 )\n"
                "op conv partial_sum ( y/p1 y/p2 ) -> ( y )\n");
  rewrite_close(&x);
  snprintf(text, sizeof text, lines, 24);
  rewrite_open_lines(&x, text);
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 1);
  assert_string_equal(x.sites.sites[0].refusal,
                      "its slices have no whole number of bytes");
  rewrite_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_broadcast_constants),
      cmocka_unit_test(test_the_same_operand_twice),
      cmocka_unit_test(test_pools),
      cmocka_unit_test(test_depthwise),
      cmocka_unit_test(test_depthwise_scales),
      cmocka_unit_test(test_normalization),
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_ambiguous_reduction),
      cmocka_unit_test(test_abstract)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
