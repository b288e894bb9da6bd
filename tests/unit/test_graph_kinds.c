#include "graph_fixture.h"

#include "base/number.h"

static void names_find_their_types(void **state) {
  (void)state;
  for (element_type type = 0; type < ELEMENT_ABSTRACT; type++) {
    const char *name = element_type_name(type);
    assert_int_equal(element_type_find(name, strlen(name)), type);
  }
  assert_int_equal(element_type_find("f32x", 3), ELEMENT_f32);
  assert_int_equal(element_type_find("f3", 2), ELEMENT_ABSTRACT);
  assert_int_equal(element_type_find("f320", 4), ELEMENT_ABSTRACT);
  assert_int_equal(element_type_find("abstract", 8), ELEMENT_ABSTRACT);
  assert_int_equal(element_type_find("", 0), ELEMENT_ABSTRACT);
  assert_int_equal(element_type_bits(ELEMENT_float4e2m1), 4);
  assert_int_equal(element_type_bits(ELEMENT_c128), 128);
}

static const int32_t codes[] = {
#define OP(name, tflite, flags) tflite,
#include "graph/ops.def"
#undef OP
};

static void names_and_codes_find_their_kinds(void **state) {
  (void)state;
  for (op_kind kind = 0; kind < OP_OPAQUE; kind++) {
    assert_int_equal(op_kind_find(op_kind_name(kind)), kind);
    if (codes[kind] >= 0)
      assert_int_equal(op_kind_from_tflite(codes[kind]), kind);
  }
  assert_int_equal(op_kind_find("opaque"), OP_OPAQUE);
  assert_int_equal(op_kind_find("conv"), OP_OPAQUE);
  assert_int_equal(op_kind_from_tflite(-1), OP_OPAQUE);
  assert_int_equal(op_kind_from_tflite(100000), OP_OPAQUE);
}

/* Codes from the schema, picked over its whole range. */
static void kinds_have_the_codes_of_the_schema(void **state) {
  (void)state;
  static const struct {
    int32_t code;
    op_kind kind;
  } known[] = {{0, OP_add},
               {2, OP_concat},
               {4, OP_depthwise_conv2d},
               {12, OP_l2_pool2d},
               {49, OP_split},
               {118, OP_if},
               {132, OP_conv3d},
               {141, OP_conv3d_transpose},
               {142, OP_var_handle},
               {159, OP_bitcast},
               {206, OP_stablehlo_composite},
               {209, OP_stablehlo_case},
               {32, OP_OPAQUE} /* CUSTOM */};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_int_equal(op_kind_from_tflite(known[i].code), known[i].kind);
  for (int32_t code = 0; code < 210; code++)
    if (op_kind_from_tflite(code) == OP_OPAQUE)
      assert_true(code == 32 || code == 51 || code == 127);
}

static void flags_of_kinds(void **state) {
  (void)state;
  assert_int_equal(op_kind_flags(OP_reshape), OP_VIEW);
  assert_int_equal(op_kind_flags(OP_split), OP_PLAIN);
  assert_int_equal(op_kind_flags(OP_add), OP_ELEMENTWISE);
  assert_int_equal(op_kind_flags(OP_call_once), OP_CONTROL | OP_STATEFUL);
  assert_int_equal(op_kind_flags(OP_hashtable_lookup), OP_PLAIN);
  assert_int_equal(op_kind_flags(OP_OPAQUE), OP_PLAIN);
}

static void sizes_of_shapes(void **state) {
  (void)state;
  static const int64_t big = INT64_C(1) << 31;
  const struct {
    element_type type;
    uint32_t rank;
    int64_t dimensions[3];
    bool fits;
    uint64_t bytes;
  } cases[] = {{ELEMENT_f32, 3, {28, 28, 48}, true, 150528},
               {ELEMENT_f32, 0, {0}, true, 4},
               {ELEMENT_i4, 1, {3}, true, 2},
               {ELEMENT_i2, 2, {3, 3}, true, 3},
               {ELEMENT_u2, 1, {8}, true, 2},
               {ELEMENT_c128, 1, {2}, true, 32},
               {ELEMENT_str, 1, {7}, true, 0},
               {ELEMENT_bool, 1, {0}, true, 0},
               {ELEMENT_u8, 2, {big, big}, true, NUMBER_MAX_BYTES},
               {ELEMENT_u8, 3, {big, big, 2}, false, 0},
               {ELEMENT_u16, 2, {big, big}, false, 0},
               {ELEMENT_u4, 2, {big, big}, true, NUMBER_MAX_BYTES / 2},
               {ELEMENT_f64, 3, {big, big, 0}, true, 0},
               {ELEMENT_u8, 2, {0, -1}, false, 0},
               {ELEMENT_u8, 1, {INT64_MIN}, false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bytes = 0;
    bool fits = graph_bytes_of(&bytes, cases[i].type, cases[i].dimensions,
                               cases[i].rank);
    assert_int_equal(fits, cases[i].fits);
    assert_true(bytes == cases[i].bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_find_their_types),
      cmocka_unit_test(names_and_codes_find_their_kinds),
      cmocka_unit_test(kinds_have_the_codes_of_the_schema),
      cmocka_unit_test(flags_of_kinds), cmocka_unit_test(sizes_of_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
