#include "onnx_rule.h"

static void test_reshape(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Reshape", 13, "f[2,3,4] i{4,-1}", "", "f[4,6]"},
      {"Reshape", 13, "f[2,3,4] i{0,0,-1}", "", "f[2,3,4]"},
      {"Reshape", 13, "f[2,0] i{0,0}", "allowzero=1", "f[0,0]"},
      {"Reshape", 14, "f[0,3] i{3,0}", "allowzero=1", "f[3,0]"},
      {"Reshape", 13, "f[1] i[0]", "", "f[]"},
      {"Reshape", 4, "f[6]", "shape=[2,-1]", "f[2,3]"},
      /* unknown dimensions cancel out, by position or by name */
      {"Reshape", 13, "f[batch,3,4] i{0,-1}", "", "f[batch,12]"},
      {"Reshape", 13, "f[batch,3,4] i{-1,12}", "", "f[batch,12]"},
      {"Reshape", 13, "f[batch,3,4] i{-1,6}", "", "f[?,6]"},
      {"Reshape", 13, "f[a,b] i{0,-1}", "", "f[a,b]"},
      {"Reshape", 13, "f[2,12] i{2,?,3}", "", "f[2,4,3]"},
      {"Reshape", 13, "f[2,12] i{?,?}", "", "f[?,?]"},
      {"Reshape", 13, "f[2,12] i[3]", "", "f[?,?,?]"},
      {"Reshape", 13, "f[2,12] i[?]", "", "f*"},
      {"Reshape", 13, "f[2,3] i{4,-1}", "", "error: do not fit"},
      {"Reshape", 13, "f[2,3] i{7}", "", "error: do not fit"},
      {"Reshape", 13, "f[2,3] i{-1,-1}", "", "error: -1 twice"},
      {"Reshape", 13, "f[2,3] i{-2,3}", "", "error: dimension of -2"},
      {"Flatten", 11, "f[2,3,4]", "", "f[2,12]"},
      {"Flatten", 11, "f[2,3,4]", "axis=0", "f[1,24]"},
      {"Flatten", 11, "f[2,3,4]", "axis=-1", "f[6,4]"},
      {"Flatten", 11, "f[n,3,?]", "axis=3", "f[?,1]"},
      {"Flatten", 11, "f[n,3,4]", "", "f[n,12]"}};
  CHECK_RULES(rules);
}

static void test_ones(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Squeeze", 11, "f[1,3,1,5]", "axes=[0,-2]", "f[3,5]"},
      {"Squeeze", 13, "f[1,3,1,5] i{2}", "", "f[1,3,5]"},
      {"Squeeze", 13, "f[1,3,1,5]", "", "f[3,5]"},
      {"Squeeze", 13, "f[1,?,1,5]", "", "f*"},
      {"Squeeze", 13, "f[1,3,1,5] i[2]", "", "f[?,?]"},
      {"Squeeze", 13, "f[1,3] i{1}", "", "error: which is 3"},
      {"Unsqueeze", 11, "f[3,n]", "axes=[0,3]", "f[1,3,n,1]"},
      {"Unsqueeze", 13, "f[3,n] i{-1,0}", "", "f[1,3,n,1]"},
      {"Unsqueeze", 13, "f[3] i{0,-3}", "", "error: same axis"},
      {"Unsqueeze", 13, "i(7) i{0}", "", "i{7}"}};
  CHECK_RULES(rules);
}

static void test_order(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Transpose", 13, "f[2,n,4]", "", "f[4,n,2]"},
      {"Transpose", 13, "f[2,n,4]", "perm=[1,2,0]", "f[n,4,2]"},
      {"Transpose", 13, "f[2,3,4]", "perm=[1,0]", "error: permutes 2"},
      {"Expand", 13, "f[3,1] i{2,1,6}", "", "f[2,3,6]"},
      {"Expand", 13, "f[3,4] i{1}", "", "f[3,4]"},
      {"Expand", 13, "f[3,4] i{3,5}", "", "error: do not broadcast"},
      {"Expand", 13, "i{5} i{3}", "", "i{5,5,5}"},
      {"Tile", 13, "f[2,n] i{3,1}", "", "f[6,n]"},
      {"Tile", 13, "i{1,2} i{2}", "", "i{1,2,1,2}"},
      {"Tile", 13, "f[2,3] i{3}", "", "error: repeats 1 of 2"},
      {"DepthToSpace", 13, "f[1,8,2,3]", "blocksize=2", "f[1,2,4,6]"},
      {"SpaceToDepth", 13, "f[1,2,4,6]", "blocksize=2", "f[1,8,2,3]"}};
  CHECK_RULES(rules);
}

static void test_matrices(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"MatMul", 13, "f[2,1,3,4] f[5,4,6]", "", "f[2,5,3,6]"},
      {"MatMul", 13, "f[4] f[4]", "", "f[]"},
      {"MatMul", 13, "f[4] f[n,4,5]", "", "f[n,5]"},
      {"MatMul", 13, "f[n,3,4] f[4]", "", "f[n,3]"},
      {"MatMul", 13, "f[2,3] f[4,5]", "", "error: rows of 3"},
      {"Gemm", 13, "f[4,3] f[5,4] f[5]", "transA=1 transB=1", "f[3,5]"},
      {"Gemm", 13, "f[n,4] f[4,5]", "", "f[n,5]"},
      {"MatMulInteger", 10, "u[4,3] u[3,2]", "", "j[4,2]"},
      {"Einsum", 12, "f[3,4] f[4,5]", "equation=ij,jk->ik", "f[3,5]"},
      {"Einsum", 12, "f[3,4]", "equation=ij->ji", "f[4,3]"},
      {"Einsum", 12, "f[2,3,4] f[4,5]", "equation=...j,jk->...k", "f[2,3,5]"},
      {"Einsum", 12, "f[3,4] f[4,5]", "equation=ij,jk", "f[3,5]"},
      {"LSTM", 14, "f[7,2,5] f[1,12,5] f[1,12,3]", "hidden_size=3",
       "f[7,1,2,3] f[1,2,3] f[1,2,3]"},
      {"GRU", 14, "f[2,7,5] f[2,9,5] f[2,9,3]",
       "hidden_size=3 direction=bidirectional layout=1",
       "f[2,7,2,3] f[2,2,3]"}};
  CHECK_RULES(rules);
}

static void test_elementwise(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Add", 14, "f[2,1,4] f[3,1]", "", "f[2,3,4]"},
      {"Add", 14, "f[n,3] f[?,3]", "", "f[?,3]"},
      {"Add", 14, "f[n,3] f[n,3]", "", "f[n,3]"},
      {"Add", 14, "f[n,3] f[1]", "", "f[n,3]"},
      {"Add", 14, "f[?,3] f[5,1]", "", "f[5,3]"},
      {"Add", 14, "f[0,3] f[1,3]", "", "f[0,3]"},
      {"Add", 14, "f[2,3] f[4]", "", "error: do not broadcast"},
      {"Mul", 14, "f[1,10] f[]", "", "f[1,10]"},
      {"Add", 6, "f[2,3,4] f[3]", "broadcast=1 axis=1", "f[2,3,4]"},
      {"Less", 13, "f[2,1] f[3]", "", "b[2,3]"},
      {"Where", 16, "b[2,1] h[3] h[]", "", "h[2,3]"},
      {"Max", 13, "f[2,1] f[3] f[1,1,1]", "", "f[1,2,3]"},
      {"Cast", 13, "f[2,n]", "to=7", "i[2,n]"},
      {"Dropout", 7, "f[2,3]", "", "f[2,3] f[2,3]"},
      {"Dropout", 13, "f[2,3]", "", "f[2,3] b[2,3]"},
      {"BatchNormalization", 9, "f[1,3,4] f[3] f[3] f[3] f[3]", "",
       "f[1,3,4] f[3] f[3]"},
      {"LayerNormalization", 17, "h[2,3,4] h[4]", "axis=-1",
       "h[2,3,4] f[2,3,1] f[2,3,1]"},
      {"QuantizeLinear", 13, "f[2] f(1.0) c(0)", "", "c[2]"},
      {"QuantizeLinear", 13, "f[2] f(1.0)", "", "u[2]"},
      {"DequantizeLinear", 13, "c[2] h(1.0)", "", "h[2]"},
      {"DynamicQuantizeLinear", 11, "f[2,3]", "", "u[2,3] f[] u[]"},
      {"com.microsoft::QLinearAdd", 1,
       "u[2,1] f(1.0) u(0) u[3] f(1.0) u(0) f(1.0) u(0)", "", "u[2,3]"},
      {"ai.onnx::Relu", 14, "f[2,3]", "", "f[2,3]"},
      {"Relu", 14, "f[]", "", "f[]"},
      {"my.own::Relu", 14, "f[2,3]", "", "?*"},
      {"NoSuchOperator", 14, "f[2,3]", "", "?*"}};
  CHECK_RULES(rules);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reshape), cmocka_unit_test(test_ones),
      cmocka_unit_test(test_order), cmocka_unit_test(test_matrices),
      cmocka_unit_test(test_elementwise)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
