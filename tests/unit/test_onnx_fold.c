#include "onnx_rule.h"

static void test_arithmetic(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Add", 14, "i{1,2} i{10}", "", "i{11,12}"},
      {"Sub", 14, "i{1,?} i{10,3}", "", "i{-9,?}"},
      {"Mul", 14, "i{3,?} i{5,1}", "", "i{15,?}"},
      {"Div", 14, "i{7,-7,7} i{2,2,0}", "", "i{3,-3,?}"},
      {"Mod", 13, "i{7,-7,7} i{3,3,-3}", "", "i{1,2,-2}"},
      {"Mod", 13, "i{7,-7,7} i{3,3,-3}", "fmod=1", "i{1,-1,1}"},
      {"Min", 13, "i{7,1} i{3,3} i{5,5}", "", "i{3,1}"},
      {"Max", 13, "i{7,1} i{3,?}", "", "i{7,?}"},
      {"Neg", 13, "i{7,-9223372036854775807}", "", "i{-7,9223372036854775807}"},
      /* nothing wraps: neither 64 bits nor what the type holds */
      {"Add", 14, "i{9223372036854775807} i{1}", "", "i{?}"},
      {"Mul", 14, "i{4611686018427387904} i{2}", "", "i{?}"},
      {"Mul", 14, "i{-4611686018427387904} i{-2}", "", "i{?}"},
      {"Add", 14, "j{2147483647} j{1}", "", "j{?}"},
      {"Sub", 14, "u{1} u{2}", "", "u{?}"},
      /* a named dimension is itself, is not below 0, and survives a factor of 1
       */
      {"Equal", 13, "i{n,n,n,n} i{n,-1,1,m}", "", "b{1,0,?,?}"},
      {"Mul", 14, "i{n,n} i{1,2}", "", "i{n,?}"},
      {"Add", 14, "i{0,1} i{n,n}", "", "i{n,?}"},
      {"Equal", 13, "i{1,2,?} i{1}", "", "b{1,0,?}"},
      {"Greater", 13, "f{1.5,0.5} f{1.0}", "", "b{1,0}"},
      {"And", 7, "b{1,1} b{1,0}", "", "b{1,0}"},
      {"Not", 1, "b{1,0,?}", "", "b{0,1,?}"},
      {"Where", 9, "b{1,0,?,?} i{1,2,3,4} i{5,6,7,4}", "", "i{1,6,?,4}"}};
  CHECK_RULES(rules);
}

static void test_types(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Cast", 13, "f{2.9,-2.9,1e30}", "to=7", "i{2,-2,?}"},
      {"Cast", 13, "i{3,?,300}", "to=2", "u{3,?,?}"},
      {"Cast", 13, "i{3,0,?}", "to=9", "b{1,0,?}"},
      {"Cast", 13, "f{0.5,0.0}", "to=9", "b{1,0}"},
      {"CastLike", 15, "f{2.5} j[]", "", "j{2}"}};
  CHECK_RULES(rules);
}

static void test_sources(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Shape", 13, "f[2,n,?]", "", "i{2,n,?}"},
      {"Shape", 15, "f[2,3,4]", "start=1", "i{3,4}"},
      {"Shape", 15, "f[2,3,4]", "start=-2 end=-1", "i{3}"},
      {"Shape", 15, "f[2,3,4]", "start=2 end=1", "i[0]"},
      {"Size", 13, "f[2,3,4]", "", "i(24)"},
      {"Size", 13, "f[2,n]", "", "i(?)"},
      {"Constant", 13, "", "value_ints=[3,4]", "i{3,4}"},
      {"Constant", 13, "", "value_int=5", "i(5)"},
      {"ConstantOfShape", 9, "i{2,n}", "", "f[2,n]"},
      {"ConstantOfShape", 9, "i[0]", "", "f[]"},
      {"Range", 11, "i(10) i(4) i(-2)", "", "i{10,8,6}"},
      {"Range", 11, "i(0) i(?) i(1)", "", "i[?]"},
      {"Range", 11, "f(1.0) f(5.0) f(2.0)", "", "f[2]"},
      {"Range", 11, "i(3) i(3) i(0)", "", "i[?]"}};
  CHECK_RULES(rules);
}

/* Height and width of a picture are doubled by way of reals, as older exporters
   do it, and the batch keeps its name. */
static void test_chain(void **state) {
  (void)state;
  rule_bench b;
  bench_open(&b);
  bench_add_graph(&b, CALM_NONE);
  enum {
    X,
    SHAPE,
    TWO,
    TAIL,
    REAL,
    FACTOR,
    SCALED,
    FLOOR,
    WHOLE,
    HEAD,
    ALL,
    Y
  };
  static const char *const start[] = {"f[batch,3,5,7]",
                                      "?*",
                                      "i{2}",
                                      "?*",
                                      "?*",
                                      "f{1.5}",
                                      "?*",
                                      "?*",
                                      "?*",
                                      "?*",
                                      "?*",
                                      "?*"};
  for (int i = 0; i <= Y; i++) bench_add_value(&b, 0, "v", start[i]);
  int end = (int)bench_add_value(&b, 0, "end", "i{9}");
  int none = (int)bench_add_value(&b, 0, "begin", "i{0}");
#define NODE(op, attributes, out, ...)                                \
  bench_add_node(&b, 0, op, 11, attributes, (int[]){__VA_ARGS__, -1}, \
                 (int[]){out, -1})
  NODE("Shape", "", SHAPE, X);
  NODE("Slice", "", TAIL, SHAPE, TWO, end);
  NODE("Cast", "to=1", REAL, TAIL);
  NODE("Mul", "", SCALED, REAL, FACTOR);
  NODE("Floor", "", FLOOR, SCALED);
  NODE("Cast", "to=7", WHOLE, FLOOR);
  NODE("Slice", "", HEAD, SHAPE, none, TWO);
  NODE("Concat", "axis=0", ALL, HEAD, WHOLE);
  NODE("Expand", "", Y, FACTOR, ALL);
#undef NODE
  bench_set_inputs(&b, 0, (int[]){X, -1});
  assert_int_equal(onnx_infer(&b.r), CALM_OK);
  onnx_value *values = bench_graph(&b, 0)->values.data;
  compare_value(&values[ALL], "i{batch,3,7,10}", "Concat");
  compare_value(&values[Y], "f[batch,3,7,10]", "Expand");
  assert_string_equal(values[Y].why, "dimension 'batch' of 'v' is not given");
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_types),
      cmocka_unit_test(test_sources), cmocka_unit_test(test_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
