/* Sizes and types of tensors, and what is said when they are not known. */
#include "onnx_builder.h"

static message net(int type, const char *in, const char *out) {
  message g = {0}, n = node("Strange", "x", "y");
  put_text(&g, 2, "net");
  put_text(&n, 7, "mine");
  add_input(&g, "x", type, in);
  put_message(&g, 1, n);
  add_output(&g, "y", type, out);
  return plain_model(g);
}

static void every_type_has_its_size(void **state) {
  (void)state;
  static const struct {
    int type;
    uint64_t bytes; /* of 5 elements */
  } types[] = {{1, 20},  {2, 5},   {3, 5},   {4, 10},  {5, 10},  {6, 20},
               {7, 40},  {8, 0},   {9, 5},   {10, 10}, {11, 40}, {12, 20},
               {13, 40}, {14, 40}, {15, 80}, {16, 10}, {17, 5},  {18, 5},
               {19, 5},  {20, 5},  {21, 3},  {22, 3},  {23, 3},  {24, 5},
               {25, 2},  {26, 2}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    message m = net(types[i].type, "5", "5");
    reading *r = reading_of_model(&m);
    if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
    for (tensor_id t = 0; t < 2; t++)
      assert_int_equal(r->model.graphs.data[0].tensors.data[t].bytes,
                       types[i].bytes);
    assert_int_equal(reading_end(r), 0);
    free(m.bytes);
  }
  expect_failure(net(27, "5", "5"), "", CALM_UNSUPPORTED,
                 "'x' has element type 27");
  expect_failure(net(-1, "5", "5"), "", CALM_UNSUPPORTED,
                 "'x' has element type -1");
}

static void unknown_sizes_are_listed_with_reasons(void **state) {
  (void)state;
  expect_failure(net(FLOAT, "5", NULL), "", CALM_UNSUPPORTED,
                 "graph 'net': 1 tensors are of unknown size: 'y'");
  expect_failure(net(FLOAT, "5", "K"), "", CALM_UNSUPPORTED,
                 "'y' (size 'K' is open: --dim K=N)");
  expect_text(net(FLOAT, "5", "K"), "K=2",
              "calm-graph 1\ngraph net layout=nchw\n"
              "tensor x f32[5] input\ntensor y f32[2] output\n"
              "op 0_Strange mine:Strange ( x ) -> ( y )\n");
}

static void impossible_shapes_are_refused(void **state) {
  (void)state;
  expect_failure(net(FLOAT, "4611686018427387904", "1"), "", CALM_BAD_INPUT,
                 "the shape of 'x' needs more than 2^62 bytes");
  char shape[140] = "1";
  for (int i = 0; i < 64; i++) strcat(shape, ",1");
  expect_failure(net(FLOAT, shape, "1"), "", CALM_BAD_INPUT,
                 "more than 64 dimensions");
}

/* A sequence has no size before a run. */
static void what_is_no_tensor_counts_nothing(void **state) {
  (void)state;
  message g = {0}, value = {0}, type = {0}, sequence = {0}, element = {0};
  put_text(&g, 2, "net");
  put_number(&element, 1, FLOAT);
  put_message(&sequence, 1, element);
  put_message(&type, 4, sequence);
  put_text(&value, 1, "s");
  put_message(&value, 2, type);
  put_message(&g, 11, value);
  add_input(&g, "i", INT64, "");
  add_node(&g, "SequenceAt", "s i", "y");
  add_output(&g, "y", FLOAT, "3");
  expect_text(plain_model(g), "",
              "calm-graph 1\ngraph net layout=nchw\n"
              "tensor s 0 input\ntensor i i64[] input\n"
              "tensor y f32[3] output\n"
              "op 0_SequenceAt onnx:SequenceAt ( s i ) -> ( y )\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_has_its_size),
      cmocka_unit_test(unknown_sizes_are_listed_with_reasons),
      cmocka_unit_test(impossible_shapes_are_refused),
      cmocka_unit_test(what_is_no_tensor_counts_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
