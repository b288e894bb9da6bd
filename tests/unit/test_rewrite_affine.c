/* Chains of multiplications and additions by constants: found, folded into
   convolutions, made one operator, and the numbers that come out. */
#include "base/random.h"
#include "rewrite/rewrite_contents.h"
#include "rewrite_fixture.h"

#define NORM_CONSTANTS                                       \
  "tensor scale f32[4] const\ntensor bias f32[4] const\n"    \
  "tensor mean f32[4] const\ntensor var f32[4] const\n"      \
  "tensor k f32[4,1,1] const\ntensor c f32[1,4,1,1] const\n" \
  "tensor w f32[4,2,3,3] const\ntensor b f32[4] const\n"     \
  "tensor half f32[] const\n"                                \
  "tensor x f32[1,2,5,5] input\ntensor y0 f32[1,4,3,3]\n"    \
  "tensor y1 f32[1,4,3,3]\ntensor y2 f32[1,4,3,3]\n"         \
  "tensor y f32[1,4,3,3] output\n"
#define CONV "op conv conv2d ( x w ) -> ( y0 ) filter=3,3\n"
#define NORM_ATTRIBUTES " epsilon=0.25\n"

/* Pictures are N C H W, as in ONNX. */
static void open_first(rewriting *r, const char *text) {
  open_rewriting(r, REWRITE_affine, text);
  r->f.graphs.data[0].channels_first = true;
}

/* ---- Numbers ------------------------------------------------------------- */

/* Element i of a constant: between 0.5 and 2, either sign but for "var". */
static float number_of(const graph *g, tensor_id t, uint64_t i) {
  random_state state = random_from_seed(1000 * t + i);
  const uint32_t bits = random_below(&state, 3072);
  const float value = 0.5F + (float)(bits / 2) / 1024;
  return bits % 2 && strcmp(g->tensors.data[t].name, "var") ? -value : value;
}

static bool read_numbers(void *payload, tensor_id t, const uint8_t **bytes,
                         uint64_t *length) {
  rewriting *r = payload;
  *length = r->g->tensors.data[t].bytes;
  uint8_t *out = arena_calloc(&r->f.arena, *length, 1);
  for (uint64_t i = 0; i < *length / 4; i++) {
    const float value = number_of(r->g, t, i);
    uint32_t word;
    memcpy(&word, &value, 4);
    for (uint32_t k = 0; k < 4; k++) out[4 * i + k] = (uint8_t)(word >> 8 * k);
  }
  *bytes = out;
  return true;
}

static double made_number(const rewriting *r, tensor_id t, uint64_t i) {
  const edit_tensor *descent = &r->edit.tensors.data[t];
  uint32_t word = 0;
  float value;
  if (descent->contents == EDIT_SAME)
    return (double)number_of(r->g, descent->from, i);
  for (uint32_t k = 0; k < 4; k++)
    word |= (uint32_t)descent->bytes[4 * i + k] << 8 * k;
  memcpy(&value, &word, 4);
  return (double)value;
}

static double root(double value) {
  double x = value;
  for (int i = 0; i < 60; i++) x = (x + value / x) / 2;
  return x;
}

/* Channel `i` of a constant operand: all channels share a single element. */
static double operand_of(const rewriting *r, tensor_id t, uint64_t i) {
  return (double)number_of(r->g, t, r->g->tensors.data[t].bytes == 4 ? 0 : i);
}

/* What one operator of the old graph makes of v. */
static double old_op(const rewriting *r, const graph_op *op, double v,
                     uint64_t i) {
  const bool behind =
      !(r->g->tensors.data[op->inputs[0]].flags & CALM_TENSOR_CONST);
  const double c = operand_of(r, op->inputs[behind ? 1 : 0], i);
  switch (op->kind) {
    case OP_mul: return v * c;
    case OP_add: return v + c;
    case OP_sub: return behind ? v - c : c - v;
    case OP_div: return v / c;
    default:
      return (v - operand_of(r, op->inputs[3], i)) /
                 root(operand_of(r, op->inputs[4], i) + 0.25) *
                 operand_of(r, op->inputs[1], i) +
             operand_of(r, op->inputs[2], i);
  }
}

/* What all operators but the convolution make of v in channel i. */
static double old_chain(const rewriting *r, double v, uint64_t i) {
  for (op_id u = 0; u < r->g->ops.count; u++)
    if (r->g->ops.data[u].kind != OP_conv2d &&
        r->g->ops.data[u].kind != OP_depthwise_conv2d &&
        r->g->ops.data[u].kind != OP_fully_connected)
      v = old_op(r, &r->g->ops.data[u], v, i);
  return v;
}

static void expect_near(double found, double right, double size) {
  const double error = found > right ? found - right : right - found;
  if (error > size * 0x1p-22)
    fail_msg("%.9g is not %.9g, by %.3g", found, right, error);
}

static void fill(rewriting *r) {
  must(r, rewrite_fill(&r->edit, read_numbers, r, &r->f.arena));
}

/* The kernels of every channel are multiplied, the bias goes the whole way.
   `inner`: elements of a kernel from one channel to the next. */
static void expect_folded_numbers(rewriting *r, uint64_t inner) {
  const graph_op *conv = &r->edit.after.ops.data[0];
  const graph_op *old = &r->g->ops.data[0];
  const tensor_id w = conv->inputs[1], b = conv->inputs[2];
  fill(r);
  for (uint64_t e = 0; e < r->edit.after.tensors.data[w].bytes / 4; e++) {
    const uint64_t i = e / inner % 4;
    const double v = (double)number_of(r->g, old->inputs[1], e);
    const double zero = old_chain(r, 0, i), right = old_chain(r, v, i) - zero;
    expect_near(made_number(r, w, e), right, 10);
  }
  for (uint64_t i = 0; i < 4; i++) {
    const double v = old->input_count == 2 || old->inputs[2] == CALM_NONE
                         ? 0
                         : (double)number_of(r->g, old->inputs[2], i);
    expect_near(made_number(r, b, i), old_chain(r, v, i), 20);
  }
}

/* ---- Into a convolution -------------------------------------------------- */

static void test_a_normalization_goes_into_the_convolution(void **state) {
  (void)state;
  rewriting r;
  open_first(
      &r, NORM_CONSTANTS CONV
      "op bn batch_normalization ( y0 scale bias mean var ) -> ( y1 "
      ")" NORM_ATTRIBUTES
      "op times mul ( y1 k ) -> ( y2 )\nop plus add ( c y2 ) -> ( y )\n");
  expect_sites(&r, "conv<plus\n");
  assert_true(r.sites.sites[0].harmless);
  expect_ops(&r, "op conv conv2d ( x w/scaled y0/bias ) -> ( y ) filter=3,3\n");
  const edit_op *op = &r.edit.ops.data[0];
  assert_int_equal(op->role, EDIT_KEEP);
  assert_int_equal(op->from, 0);
  expect_folded_numbers(&r, 18);
  close_rewriting(&r);
}

static void test_a_bias_is_folded(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, NORM_CONSTANTS
             "op conv conv2d ( x w b ) -> ( y0 ) filter=3,3\n"
             "op from sub ( half y0 ) -> ( y1 )\nop by div ( y1 k ) -> ( y2 )\n"
             "op less sub ( y2 c ) -> ( y )\n");
  expect_sites(&r, "conv<less\n");
  expect_ops(&r,
             "op conv conv2d ( x w/scaled b/scaled ) -> ( y ) filter=3,3\n");
  expect_folded_numbers(&r, 18);
  close_rewriting(&r);
}

/* Without factors the kernels stay what they are, without terms no bias comes.
 */
static void test_only_what_changes(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, NORM_CONSTANTS CONV "op plus add ( c y0 ) -> ( y )\n");
  expect_sites(&r, "conv<plus\n");
  expect_ops(&r, "op conv conv2d ( x w y0/bias ) -> ( y ) filter=3,3\n");
  close_rewriting(&r);
  open_first(&r, NORM_CONSTANTS CONV "op times mul ( y0 k ) -> ( y )\n");
  expect_sites(&r, "conv<times\n");
  expect_ops(&r, "op conv conv2d ( x w/scaled ) -> ( y ) filter=3,3\n");
  close_rewriting(&r);
}

/* Kernels of a depthwise convolution have their channels last in TFLite. */
static void test_other_convolutions(void **state) {
  (void)state;
  rewriting r;
  open_rewriting(&r, REWRITE_affine,
                 "tensor x f32[1,5,5,4] input\ntensor w f32[1,3,3,4] const\n"
                 "tensor b f32[4] const\ntensor k f32[4] const\n"
                 "tensor y0 f32[1,3,3,4]\ntensor y f32[1,3,3,4] output\n"
                 "op conv depthwise_conv2d ( x w b ) -> ( y0 )\n"
                 "op times mul ( y0 k ) -> ( y )\n");
  expect_sites(&r, "conv<times\n");
  expect_ops(&r, "op conv depthwise_conv2d ( x w/scaled b/scaled ) -> ( y )\n");
  expect_folded_numbers(&r, 1);
  close_rewriting(&r);
  open_rewriting(&r, REWRITE_affine,
                 "tensor x f32[1,7] input\ntensor w f32[4,7] const\n"
                 "tensor k f32[1,4] const\ntensor y0 f32[1,4]\n"
                 "tensor y1 f32[1,4]\ntensor y f32[1,4] output\n"
                 "op fc fully_connected ( x w - ) -> ( y0 )\n"
                 "op times mul ( y0 k ) -> ( y1 )\n"
                 "op plus add ( y1 k ) -> ( y )\n");
  expect_sites(&r, "fc<plus\n");
  expect_ops(&r, "op fc fully_connected ( x w/scaled y0/bias ) -> ( y )\n");
  expect_folded_numbers(&r, 7);
  close_rewriting(&r);
}

static void test_abstract_convolutions(void **state) {
  (void)state;
  rewriting r;
  open_rewriting(&r, REWRITE_affine,
                 "tensor x 8 input\ntensor w 99 const\ntensor s 4 const\n"
                 "tensor y0 16\ntensor y1 16\ntensor y 16 output\n"
                 "op conv conv2d ( x w ) -> ( y0 )\n"
                 "op bn batch_normalization ( y0 ) -> ( y1 )\n"
                 "op times mul ( s y1 ) -> ( y )\n");
  expect_sites(&r, "conv<times\n");
  expect_ops(&r, "op conv conv2d ( x w ) -> ( y )\n");
  close_rewriting(&r);
}

static void expect_refusal(const char *text, const char *sites) {
  rewriting r;
  open_first(&r, text);
  expect_sites(&r, sites);
  close_rewriting(&r);
}

static void test_convolutions_that_stay(void **state) {
  (void)state;
#define TIMES "op times mul ( y0 k ) -> ( y )\n"
  expect_refusal(NORM_CONSTANTS
                 "op conv conv2d ( x w ) -> ( y0 ) activation=relu\n" TIMES,
                 "conv<times: the convolution has an activation\n");
  expect_refusal(NORM_CONSTANTS CONV
                 "op times mul ( y0 k ) -> ( y ) activation=relu\n",
                 "conv<times: its activation would have to move into the "
                 "convolution\n");
  expect_refusal(NORM_CONSTANTS
                 "tensor v f32[4,2,3,3] input\n"
                 "op conv conv2d ( x v ) -> ( y0 )\n" TIMES,
                 "conv<times: the weights are no constants\n");
  expect_refusal(NORM_CONSTANTS
                 "tensor v f16[4,2,3,3] const\n"
                 "op conv conv2d ( x v ) -> ( y0 )\n" TIMES,
                 "conv<times: its weights have another element type\n");
  expect_refusal(NORM_CONSTANTS
                 "tensor d f32[5] const\n"
                 "op conv conv2d ( x w d ) -> ( y0 )\n" TIMES,
                 "conv<times: its bias does not match its channels\n");
  expect_refusal(
      "tensor x i8[1,2,5,5] input\ntensor w i8[4,2,3,3] const\n"
      "tensor k i8[4,1,1] const\ntensor y0 i8[1,4,3,3]\n"
      "tensor y i8[1,4,3,3] output\n" CONV TIMES,
      "conv<times: its tensors are quantised\n");
  /* Somebody else reads it, or it is known outside, or holds somebody up. */
  expect_refusal(NORM_CONSTANTS CONV TIMES "op z relu ( y0 ) -> ( y1 )\n", "");
  expect_refusal(NORM_CONSTANTS CONV TIMES
                 "op z relu ( x ) -> ( y1 ) after ( conv )\n",
                 "");
  expect_refusal(NORM_CONSTANTS CONV "op times mul ( y0 y0 ) -> ( y )\n", "");
  /* No factor per channel, or none of this shape. */
  expect_refusal(NORM_CONSTANTS "tensor row f32[3] const\n" CONV
                                "op times mul ( y0 row ) -> ( y )\n",
                 "");
  expect_refusal(NORM_CONSTANTS CONV "op times mul ( y0 b ) -> ( y ) axis=1\n",
                 "");
}

static void test_contents_have_to_be_here(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, NORM_CONSTANTS CONV TIMES);
  graph_tensor *tensors = r.f.graphs.data[0].tensors.data;
  tensors[6].contents = CONTENTS_COMPUTED;
  expect_sites(&r,
               "conv<times: its weights are computed by operators, or the "
               "caller may replace them\n");
  tensors[6].contents = CONTENTS_HERE;
  tensors[4].contents = CONTENTS_ELSEWHERE;
  expect_sites(&r, "conv<times: its weights are in another file, or packed\n");
  r.options.abstract = true;
  expect_sites(&r, "conv<times\n");
  close_rewriting(&r);
}

/* ---- Alone --------------------------------------------------------------- */

/* y = scale (x - mean) / sqrt(var + epsilon) + bias, for some x. */
static void expect_norm_numbers(rewriting *r, double epsilon) {
  const graph_op *norm = &r->edit.after.ops.data[0];
  fill(r);
  for (uint64_t i = 0; i < 4; i++)
    for (double x = -3; x <= 3; x += 1.5) {
      const double y = (x - made_number(r, norm->inputs[3], i)) /
                           root(made_number(r, norm->inputs[4], i) + epsilon) *
                           made_number(r, norm->inputs[1], i) +
                       made_number(r, norm->inputs[2], i);
      expect_near(y, old_chain(r, x, i), 60);
    }
}

#define ALONE NORM_CONSTANTS "tensor p f32[1,4,3,3] input\n"

static void test_one_normalization(void **state) {
  (void)state;
  rewriting r;
  open_first(
      &r, ALONE
      "op bn batch_normalization ( p scale bias mean var ) -> ( y0 "
      ")" NORM_ATTRIBUTES
      "op times mul ( y0 k ) -> ( y1 )\nop plus add ( y1 c ) -> ( y )\n");
  expect_sites(&r, "plus\n");
  expect_ops(&r,
             "op plus batch_normalization ( p y/scale y/bias mean var ) "
             "-> ( y ) epsilon=0.25\n");
  const edit_op *op = &r.edit.ops.data[0];
  assert_int_equal(op->role, EDIT_AFFINE);
  assert_int_equal(op->from, 2);
  expect_norm_numbers(&r, 0.25);
  close_rewriting(&r);
}

/* What stands before it goes into it as well. */
static void test_a_normalization_in_the_middle(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, ALONE
             "op plus add ( p c ) -> ( y0 )\nop times mul ( y0 k ) -> ( y1 )\n"
             "op bn batch_normalization ( y1 scale bias mean var ) -> ( y2 "
             ")" NORM_ATTRIBUTES "op from sub ( half y2 ) -> ( y )\n");
  expect_sites(&r, "from\n");
  expect_ops(&r,
             "op from batch_normalization ( p y/scale y/bias mean var ) "
             "-> ( y ) epsilon=0.25\n");
  expect_norm_numbers(&r, 0.25);
  close_rewriting(&r);
}

static void test_a_normalization_is_made(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, ALONE
             "op plus add ( p c ) -> ( y0 )\nop times mul ( y0 k ) -> ( y )\n");
  expect_sites(&r, "times\n");
  expect_ops(&r,
             "op times batch_normalization ( p y/scale y/bias y/mean y/var "
             ") -> ( y ) epsilon=0\n");
  expect_norm_numbers(&r, 0);
  for (uint64_t i = 0; i < 4; i++) {
    assert_true(made_number(&r, made_tensor_named(&r, "y/mean"), i) == 0);
    assert_true(made_number(&r, made_tensor_named(&r, "y/var"), i) == 1);
  }
  close_rewriting(&r);
}

static void test_factors_only(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, ALONE
             "op times mul ( half p ) -> ( y0 )\nop by div ( y0 k ) -> ( y1 )\n"
             "op more mul ( c y1 ) -> ( y )\n");
  expect_sites(&r, "more\n");
  expect_ops(&r, "op more mul ( k/product p ) -> ( y )\n");
  assert_int_equal(r.edit.ops.data[0].role, EDIT_KEEP);
  fill(&r);
  const tensor_id k = made_tensor_named(&r, "k/product");
  assert_int_equal(r.edit.after.tensors.data[k].rank, 3);
  for (uint64_t i = 0; i < 4; i++)
    expect_near(made_number(&r, k, i), old_chain(&r, 1, i), 4);
  close_rewriting(&r);
}

static void test_terms_only(void **state) {
  (void)state;
  rewriting r;
  open_first(&r, ALONE
             "op plus add ( p c ) -> ( y0 )\nop less sub ( y0 k ) -> ( y )\n");
  expect_sites(&r, "less\n");
  expect_ops(&r, "op less sub ( p c/sum ) -> ( y )\n");
  fill(&r);
  const tensor_id k = made_tensor_named(&r, "c/sum");
  for (uint64_t i = 0; i < 4; i++)
    expect_near(-made_number(&r, k, i), old_chain(&r, 0, i), 4);
  close_rewriting(&r);
}

/* Without a normalization to be had, one multiplication and one addition. */
#define LAST                                              \
  "tensor x f32[1,3,3,4] input\ntensor k f32[4] const\n"  \
  "tensor c f32[1,1,1,4] const\ntensor y0 f32[1,3,3,4]\n" \
  "tensor y1 f32[1,3,3,4]\ntensor y f32[1,3,3,4] output\n"

static void test_a_pair(void **state) {
  (void)state;
  rewriting r;
  open_rewriting(&r, REWRITE_affine,
                 LAST
                 "op plus add ( x c ) -> ( y0 )\n"
                 "op times mul ( y0 k ) -> ( y1 )\n"
                 "op more add ( y1 k ) -> ( y ) activation=relu\n");
  expect_sites(&r, "more\n");
  expect_ops(&r,
             "op times mul ( x c/product ) -> ( y/product )\n"
             "op more add ( y/product c/sum ) -> ( y ) activation=relu\n");
  assert_int_equal(r.edit.ops.data[1].from, 2);
  assert_true(r.edit.ops.data[1].activation);
  fill(&r);
  for (uint64_t i = 0; i < 4; i++) {
    const double term = old_chain(&r, 0, i);
    expect_near(made_number(&r, made_tensor_named(&r, "c/sum"), i), term, 20);
    expect_near(made_number(&r, made_tensor_named(&r, "c/product"), i),
                old_chain(&r, 1, i) - term, 20);
  }
  close_rewriting(&r);
  open_rewriting(&r, REWRITE_affine,
                 LAST
                 "op times mul ( x c ) -> ( y0 )\n"
                 "op plus add ( y0 k ) -> ( y1 )\n"
                 "op more mul ( y1 k ) -> ( y ) activation=relu\n");
  expect_sites(&r, "more: its activation would come before the addition\n");
  close_rewriting(&r);
  open_rewriting(&r, REWRITE_affine,
                 LAST
                 "op plus add ( x c ) -> ( y0 )\n"
                 "op times mul ( y0 k ) -> ( y )\n");
  expect_sites(&r, "");
  close_rewriting(&r);
}

static void test_one_alone_stays(void **state) {
  (void)state;
  expect_refusal(ALONE "op times mul ( p k ) -> ( y )\n", "");
  expect_refusal(ALONE
                 "op bn batch_normalization ( p scale bias mean var ) -> ( y "
                 ")" NORM_ATTRIBUTES,
                 "");
}

static void test_epsilons(void **state) {
  (void)state;
  static const struct {
    const char *text;
    float value;
  } rows[] = {{" epsilon=1e-05", 1e-5F},
              {" epsilon=0.001", 1e-3F},
              {" epsilon=9.99999975e-06", 1e-5F},
              {" epsilon=2", 2},
              {"", 1e-5F}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rewriting r;
    char text[2048];
    snprintf(text, sizeof text,
             ALONE
             "op bn batch_normalization ( p scale bias mean var ) -> ( y0 )%s\n"
             "op times mul ( y0 k ) -> ( y )\n",
             rows[i].text);
    open_first(&r, text);
    expect_sites(&r, "times\n");
    apply_all(&r);
    fill(&r);
    /* Roots cancel out in all numbers of this chain, but not in its recipes. */
    const tensor_id scale = made_tensor_named(&r, "y/scale");
    const edit_recipe *recipe = r.edit.tensors.data[scale].recipe;
    assert_int_equal(recipe->steps[0].verb, RECIPE_MULTIPLY_ROOT);
    assert_true(recipe->steps[0].number == (double)rows[i].value);
    close_rewriting(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_normalization_goes_into_the_convolution),
      cmocka_unit_test(test_a_bias_is_folded),
      cmocka_unit_test(test_only_what_changes),
      cmocka_unit_test(test_other_convolutions),
      cmocka_unit_test(test_abstract_convolutions),
      cmocka_unit_test(test_convolutions_that_stay),
      cmocka_unit_test(test_contents_have_to_be_here),
      cmocka_unit_test(test_one_normalization),
      cmocka_unit_test(test_a_normalization_in_the_middle),
      cmocka_unit_test(test_a_normalization_is_made),
      cmocka_unit_test(test_factors_only),
      cmocka_unit_test(test_terms_only),
      cmocka_unit_test(test_a_pair),
      cmocka_unit_test(test_one_alone_stays),
      cmocka_unit_test(test_epsilons)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
