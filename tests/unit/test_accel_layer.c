#include "accel_layer_fixture.h"

#include "accel/accel_layer_parts.h"

static const accel_convolution third = {.r = 3,
                                        .s = 5,
                                        .p = 8,
                                        .q = 9,
                                        .c = 4,
                                        .k = 6,
                                        .n = 2,
                                        .groups = 1,
                                        .stride_w = 2,
                                        .stride_h = 1,
                                        .dilation_w = 1,
                                        .dilation_h = 3};

static void a_convolution(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  assert_int_equal(accel_layer_convolution(&f.layer, "c", &third, &f.arena),
                   CALM_OK);
  assert_string_equal(f.layer.shape, "cnn-layer");
  assert_string_equal(f.layer.name, "c");
  assert_int_equal(f.layer.dimension_count, 7);
  assert_int_equal(f.layer.macs, 3 * 5 * 8 * 9 * 4 * 6 * 2);
  assert_int_equal(f.layer.count, 1);
  assert_int_equal(layer_fixture_words(&f, "Weights"), 3 * 5 * 4 * 6);
  assert_int_equal(layer_fixture_words(&f, "Outputs"), 8 * 9 * 6 * 2);
  /* width 7 * 2 + 2 * 1 + 1, height 8 * 1 + 4 * 3 + 1 */
  assert_int_equal(layer_fixture_words(&f, "Inputs"), 2 * 4 * 17 * 21);
  assert_false(f.layer.tensors[0].read_write);
  assert_false(f.layer.tensors[1].read_write);
  assert_true(f.layer.tensors[2].read_write);
  /* R S P Q C K N: bits 0 to 6 */
  assert_int_equal(f.layer.tensors[0].dimensions, 0x33);
  assert_int_equal(f.layer.tensors[1].dimensions, 0x5f);
  assert_int_equal(f.layer.tensors[2].dimensions, 0x6c);
  layer_fixture_close(&f);
}

static void groups_and_depthwise(void **state) {
  (void)state;
  layer_fixture f;
  accel_convolution c = third;
  layer_fixture_open(&f, NULL);
  c.groups = 10;
  assert_int_equal(accel_layer_convolution(&f.layer, "g", &c, &f.arena),
                   CALM_OK);
  assert_string_equal(f.layer.shape, "grouped-cnn-layer");
  assert_int_equal(f.layer.macs, 3 * 5 * 8 * 9 * 4 * 6 * 2 * 10);
  assert_int_equal(layer_fixture_bound(&f, "G"), 10);
  assert_int_equal(layer_fixture_words(&f, "Weights"), 3 * 5 * 4 * 6 * 10);
  assert_int_equal(layer_fixture_words(&f, "Inputs"), 2 * 4 * 17 * 21 * 10);
  assert_int_equal(layer_fixture_words(&f, "Outputs"), 8 * 9 * 6 * 2 * 10);
  c.c = c.k = 1;
  assert_int_equal(accel_layer_convolution(&f.layer, "d", &c, &f.arena),
                   CALM_OK);
  assert_int_equal(layer_fixture_words(&f, "Weights"), 3 * 5 * 10);
  layer_fixture_close(&f);
}

static void a_matrix_product(void **state) {
  (void)state;
  layer_fixture f;
  layer_fixture_open(&f, NULL);
  assert_int_equal(accel_layer_gemm(&f.layer, "m", 5, 7, 11, &f.arena),
                   CALM_OK);
  assert_string_equal(f.layer.shape, "gemm_ABZ");
  assert_int_equal(f.layer.macs, 5 * 7 * 11);
  assert_int_equal(layer_fixture_words(&f, "A"), 5 * 11);
  assert_int_equal(layer_fixture_words(&f, "B"), 7 * 11);
  assert_int_equal(layer_fixture_words(&f, "Z"), 5 * 7);
  assert_int_equal(accel_layer_dimension(&f.layer, "P"), CALM_NONE);
  assert_int_equal(accel_layer_tensor(&f.layer, "Inputs"), CALM_NONE);
  layer_fixture_close(&f);
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  layer_fixture f;
  accel_convolution c = third;
  layer_fixture_open(&f, NULL);
  c.q = 0;
  assert_int_equal(accel_layer_convolution(&f.layer, "zero", &c, &f.arena),
                   CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f.context),
                      "dimension Q of layer 'zero' is 0; a dimension is at "
                      "least 1");
  c = third;
  c.stride_w = 0;
  assert_int_equal(accel_layer_convolution(&f.layer, "still", &c, &f.arena),
                   CALM_BAD_INPUT);
  c.p = 1;
  assert_int_equal(accel_layer_convolution(&f.layer, "still", &c, &f.arena),
                   CALM_OK);
  /* 2^53 iterations are the most */
  const uint64_t most = UINT64_C(1) << 53;
  assert_int_equal(accel_layer_gemm(&f.layer, "most", most / 4, 2, 2, &f.arena),
                   CALM_OK);
  assert_int_equal(f.layer.macs, most);
  assert_int_equal(accel_layer_gemm(&f.layer, "more", most / 2, 3, 1, &f.arena),
                   CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f.context), "'more'"));
  assert_int_equal(accel_layer_gemm(&f.layer, "wrap", UINT64_C(1) << 32,
                                    UINT64_C(1) << 32, 2, &f.arena),
                   CALM_BAD_INPUT);
  /* few iterations over a wide tensor */
  c = third;
  c.stride_w = UINT64_C(1) << 62;
  assert_int_equal(accel_layer_convolution(&f.layer, "wide", &c, &f.arena),
                   CALM_BAD_INPUT);
  assert_string_equal(calm_context_message(f.context),
                      "Inputs of layer 'wide' spans more than 2^53 words");
  layer_fixture_close(&f);
}

static void words_saturate(void **state) {
  (void)state;
  accel_term terms[2] = {{0, UINT64_MAX, NULL}, {1, 5, NULL}};
  accel_rank ranks[2] = {{terms, 2}, {terms + 1, 1}};
  const accel_tensor t = {.ranks = ranks, .rank_count = 2};
  const uint64_t one[2] = {1, 4}, many[2] = {3, 4};
  assert_int_equal(accel_tensor_words(&t, one), 16 * 16);
  assert_true(accel_tensor_words(&t, many) == UINT64_MAX);
}

static void names_of_built_in_shapes(void **state) {
  (void)state;
  static const char *const spelled[] = {"cnn-layer", "cnn_layer", "CNN_Layer",
                                        "gemm_abz",  "gemm-ABZ",  "GEMM"};
  layer_fixture f;
  accel_shape shape;
  bool found;
  layer_fixture_open(&f, NULL);
  for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
    assert_int_equal(accel_shape_builtin(&shape, &found, spelled[i], &f.arena),
                     CALM_OK);
    assert_true(found);
    assert_string_equal(shape.name, spelled[i]);
  }
  assert_int_equal(accel_shape_builtin(&shape, &found, "cnn", &f.arena),
                   CALM_OK);
  assert_false(found);
  /* the list for people names each of them, and they all can be read */
  char names[300];
  snprintf(names, sizeof names, "%s", accel_shape_names());
  uint32_t count = 0;
  for (char *name = strtok(names, ", "); name; name = strtok(NULL, ", ")) {
    assert_int_equal(accel_shape_builtin(&shape, &found, name, &f.arena),
                     CALM_OK);
    assert_true(found);
    count++;
  }
  assert_int_equal(count, 6);
  assert_int_equal(f.warnings, 0);
  layer_fixture_close(&f);
}

static void equal_layers(void **state) {
  (void)state;
  layer_fixture f;
  accel_layer a, b;
  accel_convolution c = third;
  layer_fixture_open(&f, NULL);
  assert_int_equal(accel_layer_convolution(&a, "a", &c, &f.arena), CALM_OK);
  assert_int_equal(accel_layer_convolution(&b, "b", &c, &f.arena), CALM_OK);
  b.count = 3;
  assert_true(accel_layer_equal(&a, &b));
  c.dilation_h = 2;
  assert_int_equal(accel_layer_convolution(&b, "b", &c, &f.arena), CALM_OK);
  assert_false(accel_layer_equal(&a, &b));
  c = third;
  c.n = 3;
  assert_int_equal(accel_layer_convolution(&b, "b", &c, &f.arena), CALM_OK);
  assert_false(accel_layer_equal(&a, &b));
  assert_int_equal(accel_layer_gemm(&b, "b", 5, 7, 11, &f.arena), CALM_OK);
  assert_false(accel_layer_equal(&a, &b));
  layer_fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution),
      cmocka_unit_test(groups_and_depthwise),
      cmocka_unit_test(a_matrix_product),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(words_saturate),
      cmocka_unit_test(names_of_built_in_shapes),
      cmocka_unit_test(equal_layers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
