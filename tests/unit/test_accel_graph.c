#include "graph_fixture.h"

#include "accel/accel_graph.h"
#include "accel/accel_graph_parts.h"
#include "base/random.h"
#include "scarce.h"

/* "cnn-layer R3 P4 Wstride=2 x1; ...": what is not 1. */
static void describe(text *t, const accel_layer *layer) {
  text_format(t, "%s", layer->shape);
  for (uint32_t d = 0; d < layer->dimension_count; d++)
    if (layer->dimensions[d].bound > 1)
      text_format(t, " %s%u", layer->dimensions[d].name,
                  (unsigned)layer->dimensions[d].bound);
  const accel_tensor *in = &layer->tensors[accel_layer_tensor(layer, "Inputs")];
  for (uint32_t r = 0; r < in->rank_count; r++)
    for (uint32_t i = 0; i < in->ranks[r].term_count; i++)
      if (in->ranks[r].terms[i].coefficient != 1)
        text_format(t, " %s=%u", in->ranks[r].terms[i].name,
                    (unsigned)in->ranks[r].terms[i].coefficient);
  text_format(t, " x%u;", (unsigned)layer->count);
}

static void describe_all(text *t, const accel_graph_layers *n, const graph *g) {
  for (uint32_t i = 0; i < n->layer_count; i++) describe(t, &n->layers[i]);
  for (uint32_t i = 0; i < n->skipped_count; i++)
    text_format(t, "%s: %s;", g->ops.data[n->skipped[i]].name, n->reasons[i]);
}

static void check(const char *graph_text, const char *expected) {
  fixture f;
  text t;
  accel_graph_layers n;
  char *found;
  fixture_open(&f, NULL);
  fixture_must_read(&f, graph_text);
  text_init(&t, f.context);
  assert_int_equal(accel_graph_extract(&n, &f.graphs.data[0], &f.arena),
                   CALM_OK);
  describe_all(&t, &n, &f.graphs.data[0]);
  text_format(&t, "%s", "");
  assert_int_equal(text_finish(&t, &found), CALM_OK);
  assert_string_equal(found, expected);
  calm_text_free(f.context, found);
  fixture_close(&f);
}

#define NHWC "calm-graph 1\ngraph g\n"
#define NCHW "calm-graph 1\ngraph g layout=nchw\n"

static void convolutions(void **state) {
  (void)state;
  /* height is dimension 1 and width 2, the filter 3 high and 5 wide */
  check(NHWC
        "tensor x i8[1,20,30,8] input\ntensor w i8[16,3,5,8] const\n"
        "tensor y i8[1,10,10,16] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=2,3 pad=same\n",
        "cnn-layer R5 S3 P10 Q10 C8 K16 Wstride=3 Hstride=2 x1;");
  check(NCHW
        "tensor x f32[2,8,20,30] input\ntensor w f32[16,8,3,5] const\n"
        "tensor y f32[2,16,18,10] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,2 dilation=1,3 "
        "pads=0,0,0,1\n",
        "cnn-layer R5 S3 P10 Q18 C8 K16 N2 Wdilation=3 Wstride=2 x1;");
  /* groups: by the attribute, or by the channels of the filter */
  check(NCHW
        "tensor x f32[1,8,20,30] input\ntensor w f32[16,2,3,3] const\n"
        "tensor y f32[1,16,20,30] output\n"
        "op a conv2d ( x w ) -> ( y ) group=4\n",
        "grouped-cnn-layer R3 S3 P30 Q20 C2 K4 G4 x1;");
  check(NHWC
        "tensor x i8[1,20,30,8] input\ntensor w i8[16,3,3,2] const\n"
        "tensor y i8[1,20,30,16] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,1\n",
        "grouped-cnn-layer R3 S3 P30 Q20 C2 K4 G4 x1;");
  /* a channel multiplier of 2 */
  check(NHWC
        "tensor x i8[1,20,30,8] input\ntensor w i8[1,3,3,16] const\n"
        "tensor y i8[1,20,30,16] output\n"
        "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 multiplier=2\n",
        "grouped-cnn-layer R3 S3 P30 Q20 K2 G8 x1;");
  check(NCHW
        "tensor x f32[1,8,20,30] input\ntensor w f32[16,1,3,3] const\n"
        "tensor y f32[1,16,20,30] output\n"
        "op a depthwise_conv2d ( x w ) -> ( y ) group=8\n",
        "grouped-cnn-layer R3 S3 P30 Q20 K2 G8 x1;");
  check(NCHW
        "tensor x f32[1,8,30] input\ntensor w f32[16,8,3] const\n"
        "tensor y f32[1,16,15] output\n"
        "op a conv1d ( x w ) -> ( y ) stride=2\n",
        "cnn-layer R3 P15 C8 K16 Wstride=2 x1;");
  check(NCHW
        "tensor x f32[1,8,9,20,30] input\n"
        "tensor w f32[16,8,2,3,5] const\n"
        "tensor y f32[1,16,4,20,30] output\n"
        "op a conv3d ( x w ) -> ( y ) stride=2,1,1 dilation=1,1,2\n",
        "3d-cnn-layer R5 S3 T2 P30 Q20 F4 C8 K16 Wdilation=2 Dstride=2 x1;");
  check(NHWC
        "tensor x i8[1,9,20,30,8] input\n"
        "tensor w i8[2,3,5,8,16] const\n"
        "tensor y i8[1,4,20,30,16] output\n"
        "op a conv3d ( x w ) -> ( y ) stride=2,1,1\n",
        "3d-cnn-layer R5 S3 T2 P30 Q20 F4 C8 K16 Dstride=2 x1;");
}

static void equal_layers_are_one(void **state) {
  (void)state;
  /* b has another name and weights; c steps where there is nothing to step */
  check(NHWC
        "tensor x i8[1,1,5,8] input\ntensor w i8[8,1,3,8] const\n"
        "tensor v i8[8,1,3,8] const\ntensor y i8[1,1,5,8]\n"
        "tensor z i8[1,1,5,8]\ntensor o i8[1,1,5,8] output\n"
        "tensor p i8[1,1,2,8] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,1\n"
        "op b conv2d ( y v ) -> ( z ) stride=1,1\n"
        "op s softmax ( z ) -> ( o )\n"
        "op c conv2d ( y w ) -> ( p ) stride=4,2\n"
        "op d conv2d ( z w ) -> ( ) stride=1,1\n",
        "cnn-layer R3 P5 C8 K8 x2;cnn-layer R3 P2 C8 K8 Wstride=2 x1;"
        "d: it lacks an operand;");
}

static void matrix_products(void **state) {
  (void)state;
  /* rows of a batch are pictures, those of a sequence a line */
  check(NHWC
        "tensor x i8[4,16] input\ntensor w i8[10,16] const\n"
        "tensor y i8[4,10] output\n"
        "op a fully_connected ( x w - ) -> ( y )\n",
        "cnn-layer C16 K10 N4 x1;");
  check(NHWC
        "tensor x i8[2,2,2,4] input\ntensor w i8[10,8] const\n"
        "tensor y i8[4,10] output\n"
        "op a fully_connected ( x w - ) -> ( y )\n",
        "cnn-layer C8 K10 N4 x1;");
  check(NHWC
        "tensor x i8[2,5,7,16] input\ntensor w i8[10,16] const\n"
        "tensor y i8[2,5,7,10] output\n"
        "op a fully_connected ( x w ) -> ( y ) keep_dims=true\n",
        "cnn-layer P35 C16 K10 N2 x1;");
  check(NCHW
        "tensor x f32[16,4] input\ntensor w f32[10,16] const\n"
        "tensor y f32[4,10] output\n"
        "op a gemm ( x w ) -> ( y ) transpose_a=1 transpose_b=1\n",
        "cnn-layer C16 K10 N4 x1;");
  check(NCHW
        "tensor x f32[3,7,16] input\ntensor w f32[16,10] const\n"
        "tensor y f32[3,7,10] output\n"
        "op a batch_matmul ( x w ) -> ( y )\n",
        "cnn-layer P7 C16 K10 N3 x1;");
  check(NHWC
        "tensor x i8[2,12,7,16] input\ntensor w i8[2,12,9,16] input\n"
        "tensor y i8[2,12,7,9] output\n"
        "op a batch_matmul ( x w ) -> ( y ) adj_y=true\n",
        "grouped-cnn-layer P7 C16 K9 G24 x1;");
  /* one operand stays the same along a dimension of the batch */
  check(NHWC
        "tensor x i8[2,12,7,16] input\ntensor w i8[1,12,16,9] input\n"
        "tensor y i8[2,12,7,9] output\n"
        "op a batch_matmul ( x w ) -> ( y )\n",
        "grouped-cnn-layer P7 C16 K9 G12 N2 x1;");
  check(NHWC
        "tensor x i8[7,16] input\ntensor w i8[5,16,9] input\n"
        "tensor y i8[5,7,9] output\n"
        "op a batch_matmul ( x w ) -> ( y )\n",
        "cnn-layer P7 C16 K45 x1;");
  check(NHWC
        "tensor x i8[16] input\ntensor w i8[16] input\n"
        "tensor y i8[1] output\n"
        "op a batch_matmul ( x w ) -> ( y )\n",
        "cnn-layer C16 x1;");
  check(NCHW
        "tensor x u8[4,16] input\ntensor s f32[1] const\n"
        "tensor z u8[1] const\ntensor w u8[16,3] const\n"
        "tensor y u8[4,3] output\n"
        "op a qlinear_matmul ( x s z w s z s z ) -> ( y )\n",
        "cnn-layer C16 K3 N4 x1;");
}

static void what_is_no_layer(void **state) {
  (void)state;
  check(NHWC
        "tensor x i8[1,4,4,8] input\ntensor w 64 const\n"
        "tensor y i8[1,4,4,8] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,1\n",
        "a: an operand has no static shape;");
  check(NHWC
        "tensor x i8[0,4,4,8] input\ntensor w i8[8,1,1,8] const\n"
        "tensor y i8[0,4,4,8] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,1\n",
        "a: an operand is empty;");
  check(NHWC
        "tensor x i8[4,8] input\ntensor w i8[8,8] const\n"
        "tensor y i8[4,8] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=1,1\n",
        "a: its operands do not have the dimensions of a convolution;");
  check(NHWC
        "tensor x i8[1,4,4,8] input\ntensor w i8[8,1,1,8] const\n"
        "tensor y i8[1,4,4,8] output\n"
        "op a conv2d ( x w ) -> ( y ) stride=0,1\n",
        "a: a stride or a dilation of 0;");
  check(NCHW
        "tensor x i8[1,8,4,4] input\ntensor w i8[8,3,1,1] const\n"
        "tensor y i8[1,8,4,4] output\n"
        "op a conv2d ( x w ) -> ( y ) group=3\n",
        "a: its channels do not divide into its groups;");
  check(NHWC
        "tensor x i8[4,8] input\ntensor w i8[9,5] const\n"
        "tensor y i8[4,9] output\n"
        "op a fully_connected ( x w ) -> ( y )\n"
        "tensor z i8[4,5] output\n"
        "op b batch_matmul ( x w ) -> ( z )\n",
        "a: its operands do not have the dimensions of a matrix product;"
        "b: its operands do not have the dimensions of a matrix product;");
  check(NHWC
        "tensor x i8[1048576,1048576] input\n"
        "tensor w i8[1048576,1048576] input\n"
        "tensor y i8[1048576,1048576] output\n"
        "op a batch_matmul ( x w ) -> ( y )\n",
        "a: too large to be counted;");
  check(NHWC
        "tensor x i8[4,8] input\ntensor y i8[4,8]\ntensor z i8[4,8]\n"
        "tensor o i8[4,8] output\n"
        "op a lstm ( x ) -> ( y )\nop b foo:bar ( y ) -> ( z )\n"
        "op c add ( z y ) -> ( o )\n",
        "a: a recurrence;b: what it computes is not known;");
}

/* ---- Transposed convolutions --------------------------------------------- */

static void transposed(void **state) {
  (void)state;
  /* the filter falls into four equal parts: four times the channels */
  check(NCHW
        "tensor x f32[1,3,7,6] input\ntensor w f32[3,4,2,2] const\n"
        "tensor y f32[1,4,14,12] output\n"
        "op a transpose_conv ( x w ) -> ( y ) stride=2,2\n",
        "cnn-layer P6 Q7 C3 K16 x1;");
  /* 3 wide by stride 2: one phase of two taps, one of one */
  check(NCHW
        "tensor x f32[1,3,1,6] input\ntensor w f32[3,4,1,3] const\n"
        "tensor y f32[1,4,1,12] output\n"
        "op a transpose_conv ( x w ) -> ( y ) stride=1,2 pads=0,0,0,1\n",
        "cnn-layer R2 P6 C3 K4 x1;cnn-layer P6 C3 K4 x1;");
  check(NHWC
        "tensor s i32[4] const\ntensor w i8[32,3,4,32] const\n"
        "tensor x i8[1,9,20,32] input\ntensor y i8[1,11,42,32] output\n"
        "op a transpose_conv ( s w x ) -> ( y ) stride=1,2 pad=valid\n",
        "cnn-layer R2 S3 P21 Q11 C32 K64 x1;");
  check(NCHW
        "tensor x f32[1,6,6] input\ntensor w f32[6,2,4] const\n"
        "tensor y f32[1,6,12] output\n"
        "op a conv1d_transpose ( x w ) -> ( y ) stride=2 group=3 "
        "pads=1,1\n",
        "grouped-cnn-layer R2 P6 C2 K4 G3 x1;");
  check(NCHW
        "tensor x f32[1,6,6] input\ntensor w f32[6,2,4] const\n"
        "tensor y f32[1,2,12] output\n"
        "op a conv1d_transpose ( x w ) -> ( y ) stride=5000\n",
        "a: a stride that no transposed convolution has;");
}

/* Pairs of an output and a tap that reads some place of the input or of its
   surroundings. */
static uint64_t count_pairs(const accel_stretch *s) {
  uint64_t pairs = 0;
  for (uint64_t o = 0; o < s->outputs; o++)
    for (uint64_t r = 0; r < s->taps; r++) {
      const int64_t place =
          (int64_t)(o + s->begin) - (int64_t)(r * s->dilation);
      if (place % (int64_t)s->stride == 0) pairs++;
    }
  return pairs;
}

static void phases_count_every_product(void **state) {
  (void)state;
  random_state r = random_from_seed(9);
  for (int i = 0; i < 20000; i++) {
    accel_phase phases[ACCEL_MAX_PHASES];
    const accel_stretch s = {
        .taps = 1 + random_below(&r, 9),
        .stride = 1 + random_below(&r, 7),
        .dilation = 1 + random_below(&r, 6),
        .inputs = 1,
        .outputs = 1 + random_below(&r, 30),
        .begin = random_below(&r, 9),
    };
    const uint32_t count = accel_stretch_phases(phases, &s);
    uint64_t pairs = 0, outputs = 0;
    assert_in_range(count, 0, ACCEL_MAX_PHASES);
    for (uint32_t p = 0; p < count; p++) {
      const accel_window_axis *axis = &phases[p].axis;
      pairs += phases[p].count * axis->taps * axis->positions;
      outputs += phases[p].count * axis->positions;
      assert_int_equal(axis->stride, 1);
    }
    assert_int_equal(pairs, count_pairs(&s));
    assert_true(outputs <= s.outputs);
  }
}

static void without_memory(void **state) {
  (void)state;
  for (uint64_t grants = 0;; grants++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    accel_graph_layers n;
    fixture f;
    fixture_open(&f, &allocator);
    fixture_must_read(&f, NHWC
                      "tensor x i8[4,16] input\ntensor w i8[10,16] const\n"
                      "tensor y i8[4,10] output\n"
                      "op a fully_connected ( x w - ) -> ( y )\n");
    left = grants;
    const calm_status status =
        accel_graph_extract(&n, &f.graphs.data[0], &f.arena);
    left = SCARCE_NEVER;
    fixture_close(&f);
    if (status == CALM_OK) return;
    assert_int_equal(status, CALM_NO_MEMORY);
    assert_true(grants < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions),
      cmocka_unit_test(equal_layers_are_one),
      cmocka_unit_test(matrix_products),
      cmocka_unit_test(what_is_no_layer),
      cmocka_unit_test(transposed),
      cmocka_unit_test(phases_count_every_product),
      cmocka_unit_test(without_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
