/* Which sites a graph has, and why others have none. */
#include "unit/rewrite_peaks.h"

#include "model/model.h"

static const rewrite_site *site(rewrite_fixture *x, const char *name) {
  return rewrite_site_named(x, name);
}

/* The only site of a graph, without which it has none, is refused because. */
static void refuses(const char *lines, const char *name, const char *why) {
  rewrite_fixture x;
  rewrite_open_lines(&x, lines);
  rewrite_find(&x);
  assert_non_null(site(&x, name)->refusal);
  assert_string_equal(site(&x, name)->refusal, why);
  rewrite_do_all(&x);
  assert_int_equal(x.edit.after.ops.count, x.g->ops.count);
  rewrite_close(&x);
}

/* As for a file that has to be written. */
static void refuses_in_file(const char *lines, const char *name,
                            const char *why) {
  rewrite_fixture x;
  rewrite_open_lines(&x, lines);
  x.options.abstract = false;
  rewrite_find(&x);
  assert_non_null(site(&x, name)->refusal);
  assert_string_equal(site(&x, name)->refusal, why);
  rewrite_close(&x);
}

#define OPERANDS                  \
  "tensor x f32[1,8,8,4] input\n" \
  "tensor a f32[1,8,8,4]\n"       \
  "tensor b f32[1,8,8,4]\n"       \
  "op f relu ( x ) -> ( a )\n"    \
  "op g tanh ( x ) -> ( b )\n"
#define CONV                       \
  "tensor w f32[2,1,1,8] const\n"  \
  "tensor y f32[1,8,8,2] output\n" \
  "op conv conv2d ( c w ) -> ( y ) stride=1,1\n"
#define NET(concat) OPERANDS "tensor c f32[1,8,8,8]\n" concat CONV

static void test_a_site_is_found(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, NET("op cat concat ( a b ) -> ( c ) axis=3\n"));
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 1);
  assert_string_equal(x.sites.sites[0].name, "cat>conv");
  assert_int_equal(x.sites.sites[0].rule, REWRITE_channels);
  assert_int_equal(x.sites.sites[0].group, 0);
  assert_false(x.sites.sites[0].harmless);
  assert_int_equal(x.sites.group_count, 1);
  assert_true(x.sites.closed[0]);
  rewrite_close(&x);
}

static void test_the_axis(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, NET("op cat concat ( a b ) -> ( c ) axis=-1\n"));
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 1);
  rewrite_close(&x);
  rewrite_open_lines(&x, NET("op cat concat ( a b ) -> ( c )\n"));
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 1);
  rewrite_close(&x);
  refuses(NET("op cat concat ( a b ) -> ( c ) axis=2\n"), "cat>conv",
          "the concat is not over channels");
  refuses(
      "tensor a f32[1,4,8,4] input\ntensor b f32[1,4,8,4] input\n"
      "tensor c f32[1,8,8,4]\ntensor w f32[2,1,1,4] const\n"
      "tensor y f32[1,8,8,2] output\n"
      "op cat concat ( a b ) -> ( c ) axis=-3\n"
      "op conv conv2d ( c w ) -> ( y )\n",
      "cat>conv", "the concat is not over channels");
}

static void test_concats_that_stay(void **state) {
  (void)state;
  refuses(NET("op cat concat ( a b ) -> ( c ) axis=3 activation=relu\n"),
          "cat>conv", "the concat has an activation of its own");
  refuses(OPERANDS
          "tensor c f32[1,8,8,8] output\n"
          "op cat concat ( a b ) -> ( c ) axis=3\n" CONV,
          "cat>conv", "the concat is an output of the graph");
  refuses(OPERANDS
          "tensor k f32[1,8,8,4] const\ntensor c f32[1,8,8,8]\n"
          "op cat concat ( a k ) -> ( c ) axis=3\n" CONV,
          "cat>conv", "an operand of the concat is a constant");
  refuses(OPERANDS
          "tensor k f32[1,8,8,4] variable\ntensor c f32[1,8,8,8]\n"
          "op cat concat ( a k ) -> ( c ) axis=3\n" CONV,
          "cat>conv", "an operand of the concat is a variable");
  refuses(OPERANDS
          "tensor h f16[1,8,8,4]\ntensor c f32[1,8,8,8]\n"
          "op h cast ( x ) -> ( h )\n"
          "op cat concat ( a h ) -> ( c ) axis=3\n" CONV,
          "cat>conv",
          "the operands of the concat differ in their element type");
  refuses(NET("op cat concat ( a b ) -> ( c ) after ( f ) axis=3\n"),
          "cat>conv", "other operators wait for the concat, or it for them");
}

/* What the text form does not say. */
static void test_concats_of_files(void **state) {
  (void)state;
  rewrite_fixture x;
  const char *lines = NET("op cat concat ( a b ) -> ( c ) axis=3\n");
  rewrite_open_lines(&x, lines);
  x.g->tensors.data[2].quantization = 7; /* b */
  rewrite_find(&x);
  assert_string_equal(x.sites.sites[0].refusal,
                      "the concat rescales its operands");
  rewrite_close(&x);
  rewrite_open_lines(&x, lines);
  x.g->tensors.data[1].dynamic = true;
  rewrite_find(&x);
  assert_string_equal(x.sites.sites[0].refusal,
                      "dimensions of the concat are open");
  rewrite_close(&x);
}

#define CAT "op cat concat ( a b ) -> ( c ) axis=3\n"
#define BEFORE OPERANDS "tensor c f32[1,8,8,8]\n" CAT
#define Y "tensor y f32[1,8,8,2] output\n"

static void test_convolutions_that_stay(void **state) {
  (void)state;
  refuses(BEFORE Y
          "tensor w f32[2,1,1,4] const\n"
          "op conv conv2d ( c w ) -> ( y )\n",
          "cat>conv", "grouped convolution");
  refuses(BEFORE Y
          "tensor w f32[2,1,1,8] const\n"
          "op conv conv2d ( c w ) -> ( y ) group=2\n",
          "cat>conv", "grouped convolution");
  refuses(BEFORE Y
          "tensor w f32[2,1,1,8] const\n"
          "op conv transpose_conv ( c w ) -> ( y )\n",
          "cat>conv", "transposed convolution");
  refuses(BEFORE Y
          "tensor v f32[2,1,1,8] const\ntensor w f32[2,1,1,8]\n"
          "op v relu ( v ) -> ( w )\n"
          "op conv conv2d ( c w ) -> ( y )\n",
          "cat>conv", "its weights are computed by operators");
  refuses(BEFORE Y
          "tensor w f32[2,1,1,8] input\n"
          "op conv conv2d ( c w ) -> ( y )\n",
          "cat>conv", "its weights are no constants");
  refuses(BEFORE
          "tensor y f32[1,4,4,8] output\n"
          "op conv conv2d ( x c ) -> ( y )\n",
          "cat>conv", "the concat is not the picture that it reads");
  refuses(BEFORE Y
          "tensor w f32[2,1,1,8] const\n"
          "op conv conv2d ( c w ) -> ( y ) after ( f )\n",
          "cat>conv", "other operators wait for it, or it for them");
  refuses(BEFORE Y
          "tensor w i8[2,1,1,8] const\n"
          "op conv conv2d ( c w ) -> ( y )\n",
          "cat>conv", "it quantises its input as a whole");
  refuses(BEFORE Y
          "tensor z f32[1,8,8,2] output\n"
          "op conv conv2d ( c ) -> ( y z )\n",
          "cat>conv", "it has several outputs, or none");
}

#define QUANTIZED                                            \
  "tensor a u8[1,8,8,4] input\ntensor b u8[1,8,8,4] input\n" \
  "tensor c u8[1,8,8,8]\ntensor w u8[2,1,1,8] const\n"       \
  "tensor y u8[1,8,8,2] output\n"                            \
  "op cat concat ( a b ) -> ( c ) axis=3\n"                  \
  "op conv conv2d ( c w ) -> ( y )\n"

static void test_convolutions_of_files(void **state) {
  (void)state;
  rewrite_fixture x;
  refuses_in_file(QUANTIZED, "cat>conv",
                  "partial sums would be requantised one by one");
  rewrite_open_lines(&x, QUANTIZED);
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 1);
  rewrite_close(&x);
  rewrite_open_lines(&x, NET(CAT));
  x.options.abstract = false;
  graph_tensor *w = &x.g->tensors.data[4];
  assert_string_equal(w->name, "w");
  w->contents = CONTENTS_COMPUTED;
  rewrite_find(&x);
  assert_string_equal(
      x.sites.sites[0].refusal,
      "its weights are computed by operators, or the caller may replace them");
  w->contents = CONTENTS_ELSEWHERE;
  rewrite_find(&x);
  assert_string_equal(x.sites.sites[0].refusal,
                      "its weights are in another file, or packed");
  x.options.abstract = true;
  rewrite_find(&x);
  assert_null(x.sites.sites[0].refusal);
  rewrite_close(&x);
}

static void test_convolutions_of_every_kind(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, OPERANDS
                     "tensor c f32[1,8,8,8]\n" CAT
                     "tensor w f32[8,3,3,8] const\n"
                     "tensor y f32[1,4,4,8] output\n"
                     "tensor z f32[1,8,8,8] output\n"
                     "op dilated conv2d ( c w ) -> ( z ) dilation=2,2\n"
                     "op strided conv2d ( c w ) -> ( y ) stride=2,2\n");
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 2);
  assert_true(x.sites.closed[0]);
  rewrite_close(&x);
}

/* Rules that are switched off have no sites, and their operators need the
   concat as it is. */
static void test_switched_off(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, BEFORE Y
                     "tensor w f32[2,1,1,8] const\ntensor d f32[1,8,8,8]\n"
                     "op conv conv2d ( c w ) -> ( y )\n"
                     "op relu relu ( c ) -> ( d )\n");
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 2);
  assert_true(x.sites.closed[0]);
  x.options.rules[REWRITE_kernels] = false;
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 1);
  assert_false(x.sites.closed[0]);
  rewrite_close(&x);
}

/*
 *   cat1 -> depthwise -> conv1      cat2 (of cat3) -> conv2
 *     \-> cat4 -> conv4             cat2 -> softmax
 */
static const char groups[] = OPERANDS
    "tensor c1 f32[1,8,8,8]\ntensor c2 f32[1,8,8,12]\n"
    "tensor c3 f32[1,8,8,8]\ntensor c4 f32[1,8,8,12]\n"
    "tensor d f32[1,4,4,16]\n"
    "tensor y1 f32[1,4,4,2] output\ntensor y2 f32[1,8,8,2] output\n"
    "tensor y4 f32[1,8,8,2] output\ntensor s f32[1,8,8,12] output\n"
    "op cat1 concat ( a b ) -> ( c1 ) axis=3\n"
    "op cat3 concat ( b a ) -> ( c3 ) axis=3\n"
    "op dw depthwise_conv2d ( c1 ) -> ( d ) stride=2,2 multiplier=2\n"
    "op cat2 concat ( c3 x ) -> ( c2 ) axis=3\n"
    "op conv1 conv2d ( d ) -> ( y1 )\n"
    "op cat4 concat ( c1 a ) -> ( c4 ) axis=3\n"
    "op conv2 conv2d ( c2 ) -> ( y2 )\n"
    "op conv4 conv2d ( c4 ) -> ( y4 )\n"
    "op soft softmax ( c2 ) -> ( s )\n";

static void test_groups(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, groups);
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 7);
  assert_int_equal(x.sites.group_count, 2);
  const uint32_t first = site(&x, "cat1>dw")->group;
  const uint32_t second = site(&x, "cat3>cat2")->group;
  assert_int_equal(site(&x, "dw>conv1")->group, first);
  assert_int_equal(site(&x, "cat1>cat4")->group, first);
  assert_int_equal(site(&x, "cat4>conv4")->group, first);
  assert_int_equal(site(&x, "cat2>conv2")->group, second);
  assert_int_equal(site(&x, "cat2>soft")->group, second);
  assert_string_equal(site(&x, "cat2>soft")->refusal,
                      "it needs all channels at once");
  assert_true(x.sites.closed[first]);
  assert_false(x.sites.closed[second]);
  for (uint32_t i = 1; i < x.sites.count; i++)
    assert_true(x.sites.sites[i - 1].op <= x.sites.sites[i].op);
  rewrite_close(&x);
}

/* A derived concat that is an output of the graph remains. */
static void test_open_ends(void **state) {
  (void)state;
  rewrite_fixture x;
  rewrite_open_lines(&x, BEFORE
                     "tensor y f32[1,8,8,8] output\n"
                     "op relu relu ( c ) -> ( y )\n");
  rewrite_find(&x);
  assert_int_equal(rewrite_count(&x), 1);
  assert_false(x.sites.closed[0]);
  rewrite_close(&x);
}

/* Doubling the channels thirty times over is not done a thousand millionfold.
 */
static void test_nesting_ends(void **state) {
  (void)state;
  rewrite_fixture x;
  char lines[8192];
  size_t used = (size_t)sprintf(lines, "tensor t0 1 input\n");
  for (int i = 1; i <= 30; i++)
    used += (size_t)sprintf(lines + used,
                            "tensor t%d %d\nop cat%d concat ( t%d t%d ) -> "
                            "( t%d )\n",
                            i, 1 << i, i, i - 1, i - 1, i);
  sprintf(lines + used, "tensor y 1 output\nop conv conv2d ( t30 ) -> ( y )\n");
  rewrite_open_lines(&x, lines);
  rewrite_find(&x);
  assert_int_equal(x.sites.count, 30);
  assert_string_equal(site(&x, "cat10>cat11")->refusal,
                      "it would become more than 1024 operators");
  assert_null(site(&x, "cat9>cat10")->refusal);
  memset(x.taken, true, x.sites.count);
  assert_int_equal(rewrite_apply(&x.edit, &x.sites, x.taken, &x.a), CALM_OK);
  x.applied = true;
  assert_true(x.edit.after.ops.count < 2048);
  rewrite_close(&x);
}

static uint32_t count_in_file(const char *name, bool noops) {
  char path[4096];
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  arena a;
  rewrite_sites sites;
  rewrite_options options = {.abstract = true, .accumulator_factor = 1};
  uint32_t count = 0;
  options.rules[REWRITE_channels] = options.rules[REWRITE_kernels] = true;
  options.rules[REWRITE_noops] = noops;
  arena_init(&a, context);
  assert_non_null(cases_path(path, sizeof path, name));
  if (calm_model_open(&model, context, path, NULL) ||
      rewrite_find_sites(&sites, &model->graphs.data[0], &options, &a))
    fail_msg("%s", calm_context_message(context));
  for (uint32_t i = 0; i < sites.count; i++)
    count += !sites.sites[i].refusal && sites.sites[i].concat != CALM_NONE;
  arena_free(&a);
  calm_model_free(model);
  calm_context_free(context);
  return count;
}

static void test_sites_of_networks(void **state) {
  (void)state;
  CASES_OR_SKIP();
  assert_int_equal(count_in_file("models/swiftnet_vwwc19_uint8.tflite", true),
                   20);
  assert_int_equal(count_in_file("models/onnx_light_inception_v1.onnx", false),
                   44);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_site_is_found),
      cmocka_unit_test(test_the_axis),
      cmocka_unit_test(test_concats_that_stay),
      cmocka_unit_test(test_concats_of_files),
      cmocka_unit_test(test_convolutions_that_stay),
      cmocka_unit_test(test_convolutions_of_files),
      cmocka_unit_test(test_convolutions_of_every_kind),
      cmocka_unit_test(test_switched_off),
      cmocka_unit_test(test_groups),
      cmocka_unit_test(test_open_ends),
      cmocka_unit_test(test_nesting_ends),
      cmocka_unit_test(test_sites_of_networks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
