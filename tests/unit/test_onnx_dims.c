/* Sizes that the file leaves open, and --dim. */
#include "onnx_builder.h"

static message net(const char *shape) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, shape);
  add_node(&g, "Relu", "x", "y");
  add_output(&g, "y", FLOAT, shape);
  return plain_model(g);
}

static const char sized[] =
    "calm-graph 1\ngraph net layout=nchw\n"
    "tensor x f32[2,3] input\ntensor y f32[2,3] output\n"
    "op 0_Relu relu ( x ) -> ( y )\n";

static void sizes_are_given_by_symbol_or_axis(void **state) {
  (void)state;
  expect_text(net("2,3"), "", sized);
  expect_text(net("N,3"), "N=2", sized);
  expect_text(net("N,M"), "M=3 N=2", sized);
  expect_text(net("N,3"), "N=7 N=2", sized); /* the last one counts */
  expect_text(net("?,3"), "x:0=2", sized);
  expect_text(net("-1,3"), "x:0=2", sized);
  expect_text(net("N,3"), "x:0=2", sized);
  expect_text(net("2,0"), "x:1=3", sized);
}

static void open_sizes_are_named_with_the_remedy(void **state) {
  (void)state;
  expect_failure(net("batch,3"), "", CALM_UNSUPPORTED, "--dim batch=N");
  expect_failure(net("?,3"), "", CALM_UNSUPPORTED, "--dim x:0=N");
  expect_failure(net("-1,3"), "", CALM_UNSUPPORTED, "--dim x:0=N");
  expect_failure(net("N,N,M"), "N=1", CALM_UNSUPPORTED,
                 "left open; fix them with --dim M=N");
  expect_failure(net("N,N"), "", CALM_UNSUPPORTED, "fix them with --dim N=N");
  expect_failure(net(NULL), "", CALM_UNSUPPORTED,
                 "the file says no shape for input 'x'");
}

static void useless_options_are_misuse(void **state) {
  (void)state;
  expect_failure(net("N,M"), "N=1 K=2", CALM_MISUSE,
                 "no open size 'K'; there is N M");
  expect_failure(net("N,3"), "x:2=1", CALM_MISUSE, "no open size 'x:2'");
  expect_failure(net("2,3"), "N", CALM_MISUSE, "'N' is not NAME=N");
  expect_failure(net("2,3"), "=1", CALM_MISUSE, "'=1' is not NAME=N");
  expect_failure(net("N,3"), "N=-1", CALM_MISUSE, "'N=-1' is not NAME=N");
  expect_failure(net("N,3"), "N=99999999999999999999", CALM_MISUSE, "NAME=N");
}

/* An empty shape is a scalar: one element. */
static void scalars_have_one_element(void **state) {
  (void)state;
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "");
  add_node(&g, "Relu", "x", "y");
  add_output(&g, "y", FLOAT, "");
  message m = plain_model(g);
  reading *r = reading_of_model(&m);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->model.graphs.data[0].tensors.data[0].bytes, 4);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void inputs_that_nobody_reads_may_stay_open(void **state) {
  (void)state;
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  add_input(&g, "unused", FLOAT, "N,?");
  add_node(&g, "Relu", "x", "y");
  add_output(&g, "y", FLOAT, "4");
  expect_text(plain_model(g), "",
              "calm-graph 1\ngraph net layout=nchw\n"
              "tensor x f32[4] input\ntensor unused 0 input\n"
              "tensor y f32[4] output\n"
              "op 0_Relu relu ( x ) -> ( y )\n");
}

static void other_formats_have_no_open_sizes(void **state) {
  (void)state;
  message text = {0};
  put(&text, "calm-graph 1\ngraph g\n", 21);
  expect_failure(text, "N=1", CALM_MISUSE, "only .onnx files do");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_given_by_symbol_or_axis),
      cmocka_unit_test(open_sizes_are_named_with_the_remedy),
      cmocka_unit_test(useless_options_are_misuse),
      cmocka_unit_test(scalars_have_one_element),
      cmocka_unit_test(inputs_that_nobody_reads_may_stay_open),
      cmocka_unit_test(other_formats_have_no_open_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
