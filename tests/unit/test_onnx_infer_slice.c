#include "onnx_rule.h"

static void test_slice(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Slice", 9, "f[20,10,5]", "starts=[0,0] ends=[3,10] axes=[0,1]",
       "f[3,10,5]"},
      {"Slice", 13, "f[20,10,5] i{1} i{-1} i{1}", "", "f[20,8,5]"},
      {"Slice", 13, "f[20,10,5] i{1} i{1000}", "", "f[19,10,5]"},
      {"Slice", 13, "f[20,10,5] i{20,10,4} i{0,0,1} - i{-1,-3,-2}", "",
       "f[19,3,2]"},
      {"Slice", 13, "f[20] i{-1} i{-9223372036854775807} i{0} i{-1}", "",
       "f[20]"},
      {"Slice", 13, "f[20] i{15} i{3}", "", "f[0]"},
      {"Slice", 13, "f[n,4] i{0} i{9223372036854775807} i{0}", "", "f[n,4]"},
      {"Slice", 13, "f[n,4] i{1} i{9223372036854775807} i{0}", "", "f[?,4]"},
      {"Slice", 13, "f[6,4] i[1] i{3} i{0}", "", "f[?,4]"},
      {"Slice", 13, "f[6,4] i[1] i{3} i[1]", "", "f[?,?]"},
      {"Slice", 13, "i{5,6,7,8} i{1} i{3}", "", "i{6,7}"},
      {"Slice", 13, "i{5,6,7,8} i{-1} i{-100} i{0} i{-1}", "", "i{8,7,6,5}"},
      {"Slice", 13, "f[6] i{0} i{3} i{1}", "", "error: axis 1"}};
  CHECK_RULES(rules);
}

static void test_split(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Split", 7, "f[2,6]", "axis=1 split=[2,4]", "f[2,2] f[2,4]"},
      {"Split", 13, "f[2,6] i{2,4}", "axis=-1", "f[2,2] f[2,4]"},
      {"Split", 11, "f[6,n]", "", "f[2,n] f[2,n] f[2,n]"},
      {"Split", 18, "f[7]", "num_outputs=3", "f[3] f[3] f[1]"},
      {"Split", 18, "f[7] i[2]", "", "f[?] f[?]"},
      {"Split", 13, "f[7] i{3,3}", "", "error: sum up to 6"},
      {"Split", 18, "f[7]", "num_outputs=3", "error: into 3 parts, but has"},
      {"Split", 13, "i{1,2,3} i{1,2}", "", "i{1} i{2,3}"},
      {"Split", 18, "f[n,2]", "num_outputs=1", "f[n,2]"}};
  CHECK_RULES(rules);
}

static void test_concat(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Concat", 13, "f[2,3] f[2,5]", "axis=1", "f[2,8]"},
      {"Concat", 13, "f[2,3] f[2,5]", "axis=-2", "error: 3 and 5"},
      {"Concat", 13, "f[n,3] f[2,?]", "axis=1", "f[2,?]"},
      {"Concat", 13, "f[n,3] f[n,4]", "axis=1", "f[n,7]"},
      {"Concat", 13, "f[2,3] f*", "axis=1", "f[2,?]"},
      {"Concat", 13, "f[2,3] f[2]", "axis=0", "error: 2 and 1 dimensions"},
      {"Concat", 13, "i{1,?} i[1] i{4}", "axis=0", "i{1,?,?,4}"},
      {"Pad", 2, "f[1,2,3]", "pads=[0,1,2,0,0,1]", "f[1,3,6]"},
      {"Pad", 13, "f[1,2,3] i{0,1,2,0,0,-1}", "", "f[1,3,4]"},
      {"Pad", 18, "f[1,2,3] i{1,2} - i{-1}", "", "f[1,2,6]"},
      {"Pad", 13, "f[1,2,3] i{0,1,-2,0,0,-1}", "", "f[1,3,0]"},
      {"Pad", 13, "f[1,2,3] i{0,1,-2,0,0,-2}", "",
       "error: takes 4 away from dimension 2, which has 3"},
      {"Pad", 13, "f[1,2,3] i[6]", "", "f[?,?,?]"},
      {"CenterCropPad", 18, "f[5,9,3] i{10,7}", "axes=[0,1]", "f[10,7,3]"}};
  CHECK_RULES(rules);
}

static void test_gather(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Gather", 13, "f[5,4,3] i[2,7]", "axis=1", "f[5,2,7,3]"},
      {"Gather", 13, "f[n,4] i[]", "axis=1", "f[n]"},
      {"Gather", 13, "i{7,8,9} i(-1)", "", "i(9)"},
      {"Gather", 13, "i{7,8,9} i{2,0}", "", "i{9,7}"},
      {"Gather", 13, "i{7,8,9} i(3)", "", "error: beyond the 3"},
      {"GatherElements", 13, "f[5,4] i[2,4]", "", "f[2,4]"},
      {"GatherND", 13, "f[2,3,4] i[5,2]", "", "f[5,4]"},
      {"GatherND", 13, "f[2,3,4] i[2,1]", "batch_dims=1", "f[2,4]"},
      {"TopK", 1, "f[3,4]", "k=2", "f[3,2] i[3,2]"},
      {"TopK", 11, "f[3,4] i{2}", "axis=0", "f[2,4] i[2,4]"},
      {"TopK", 11, "f[3,4] i[1]", "", "f[3,?] i[3,?]"},
      {"OneHot", 11, "i[2,3] i(5) f[2]", "axis=1", "f[2,5,3]"},
      {"NonZero", 13, "f[2,3]", "", "i[2,?]"},
      {"NonZero", 13, "b{1,0,1}", "", "i[1,2]"},
      {"Compress", 11, "f[3,4] b{0,1,1}", "axis=0", "f[2,4]"},
      {"Compress", 11, "f[3,4] b[3]", "", "f[?]"},
      {"NonMaxSuppression", 11, "f[1,6,4] f[1,1,6]", "", "i[?,3]"}};
  CHECK_RULES(rules);
}

static void test_resize(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Resize", 10, "f[1,3,4,5] f{1.0,1.0,2.0,0.6}", "", "f[1,3,8,3]"},
      {"Resize", 13, "f[1,3,4,5] - f{1.0,1.0,2.0,0.5}", "", "f[1,3,8,2]"},
      {"Resize", 13, "f[n,3,4,5] - f{1.0,1.0,2.0,2.0}", "", "f[n,3,8,10]"},
      {"Resize", 13, "f[1,3,4,5] - - i{1,3,7,9}", "", "f[1,3,7,9]"},
      {"Resize", 18, "f[1,3,4,5] - - i{7,9}", "axes=[2,3]", "f[1,3,7,9]"},
      {"Resize", 18, "f[1,3,4,5] - - i{8,8}",
       "axes=[2,3] keep_aspect_ratio_policy=not_larger", "f[1,3,6,8]"},
      {"Resize", 18, "f[1,3,4,5] - - i{8,8}",
       "axes=[2,3] keep_aspect_ratio_policy=not_smaller", "f[1,3,8,10]"},
      {"Resize", 13, "f[1,3,4,5] - f{1.0,1.0,0.0,2.0}", "",
       "error: scale of 0 for dimension 2"},
      {"Resize", 13, "f[1,3,4,5] - f{1.0,1.0,-2.0,2.0}", "",
       "error: scale of -2"},
      {"Resize", 13, "f[1,3,4,5] - - i{1,3,-7,9}", "", "error: size of -7"},
      {"Resize", 13, "f[1,3,4,5] - f[4]", "", "f[?,?,?,?]"},
      {"Resize", 13, "f[1,3,4,5] - f{2.0}", "", "error: 1 of 4"},
      {"Upsample", 7, "f[1,3,4,5]", "scales=[1.0,1.0,2.0,3.0]", "f[1,3,8,15]"},
      {"Upsample", 9, "f[1,3,4,5] f{1.0,1.0,2.0,3.0}", "", "f[1,3,8,15]"},
      {"GridSample", 16, "f[1,3,4,5] f[1,7,8,2]", "", "f[1,3,7,8]"}};
  CHECK_RULES(rules);
}

static void test_reduce(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"ReduceMean", 13, "f[2,3,n]", "axes=[1]", "f[2,1,n]"},
      {"ReduceMean", 18, "f[2,3,n] i{-1}", "keepdims=0", "f[2,3]"},
      {"ReduceSum", 13, "f[2,3]", "keepdims=0", "f[]"},
      {"ReduceSum", 13, "f[2,3] i[0]", "noop_with_empty_axes=1", "f[2,3]"},
      {"ReduceMax", 18, "f[2,3,4] i[2]", "keepdims=0", "f[?]"},
      {"ReduceMax", 18, "f[2,3,4] i[2]", "", "f[?,?,?]"},
      {"ReduceProd", 18, "i{2,3,4}", "keepdims=0", "i(24)"},
      {"ReduceSum", 13, "i{2,?,4}", "", "i{?}"},
      {"ArgMax", 13, "f[2,3,4]", "axis=-1 keepdims=0", "i[2,3]"}};
  CHECK_RULES(rules);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slice),  cmocka_unit_test(test_split),
      cmocka_unit_test(test_concat), cmocka_unit_test(test_gather),
      cmocka_unit_test(test_resize), cmocka_unit_test(test_reduce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
