/*
 * An optional output that nobody reads, and of which the file states no shape,
 * stopped the run or took memory: the masks of Dropout in the light models of
 * the onnx package.
 */
#include "unit/onnx_builder.h"

static const struct {
  const char *type, *inputs, *outputs, *mask;
} cases[] = {{"Dropout", "x", "y mask", "mask"},
             {"MaxPool", "x", "y indices", "indices"},
             {"BatchNormalization", "x c c c c", "y", NULL},
             {"LayerNormalization", "x n", "y mean deviation", "mean"},
             {"Unheard", "x", "y", NULL}};

static message model_with(size_t i, bool read) {
  message g = {0}, n = node(cases[i].type, cases[i].inputs, cases[i].outputs);
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "1,4,6,6");
  add_weight(&g, weight("c", FLOAT, "4"));
  add_weight(&g, weight("n", FLOAT, "6"));
  put_message(&n, 5, ints_attribute("kernel_shape", "1,1"));
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, "1,4,6,6");
  if (read) add_output(&g, cases[i].mask, FLOAT, NULL);
  return model_of(g, 8, 17);
}

static void it_costs_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int read = 0; read < (cases[i].mask ? 2 : 1); read++) {
      message m = model_with(i, read);
      reading *r = reading_of_model(&m);
      if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
      const graph *g = &r->model.graphs.data[0];
      assert_int_equal(g->ops.data[0].output_count, 1 + read);
      for (tensor_id t = 0; t < g->tensors.count; t++)
        if (cases[i].mask && !strcmp(g->tensors.data[t].name, cases[i].mask))
          assert_true(read);
      assert_int_equal(reading_end(r), 0);
      free(m.bytes);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_costs_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
