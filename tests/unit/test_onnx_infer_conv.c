#include "onnx_rule.h"

/* Expected sizes are by hand: floor((begin + in + end - reach) / stride) + 1
   with reach = (kernel - 1) * dilation + 1. */
static void test_conv(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"Conv", 11, "f[1,3,224,224] f[64,3,7,7]", "strides=[2,2] pads=[3,3,3,3]",
       "f[1,64,112,112]"},
      {"Conv", 11, "f[1,3,10,9] f[8,3,3,3] f[8]", "", "f[1,8,8,7]"},
      /* dilation 3, stride 2 on 136: (136 - 7) / 2 + 1 */
      {"Conv", 11, "f[1,72,136,136] f[72,1,3,3]",
       "group=72 strides=[2,2] dilations=[3,3] auto_pad=VALID",
       "f[1,72,65,65]"},
      {"Conv", 11, "f[1,8,128,128] f[8,1,3,3]",
       "group=8 strides=[2,2] dilations=[3,3] auto_pad=SAME_UPPER",
       "f[1,8,64,64]"},
      {"Conv", 11, "f[1,8,7,7] f[8,8,3,3]", "strides=[2,2] auto_pad=SAME_LOWER",
       "f[1,8,4,4]"},
      /* groups: the filter has one input channel for each */
      {"Conv", 11, "f[1,8,28,28] f[64,1,3,3]",
       "group=8 strides=[2,2] pads=[1,1,1,1]", "f[1,64,14,14]"},
      {"Conv", 11, "f[1,8,28,28] f[64,1,3,3]", "", "error: 8 channels"},
      /* height and width apart, uneven pads, other ranks */
      {"Conv", 1, "f[2,4,6,5] f[6,2,3,2]", "group=2 pads=[0,1,2,0]",
       "f[2,6,6,5]"},
      {"Conv", 11, "f[1,2,20] f[4,2,5]", "strides=[3]", "f[1,4,6]"},
      {"Conv", 11, "f[2,3,5,5,5] f[4,3,2,2,2]", "dilations=[2,2,2]",
       "f[2,4,3,3,3]"},
      /* what is unknown stays so, and a name stays where nothing changes */
      {"Conv", 11, "f[batch,3,h,?] f[8,3,3,3]", "pads=[1,1,1,1]",
       "f[batch,8,h,?]"},
      {"Conv", 11, "f[batch,3,h,w] f[8,3,3,3]", "strides=[2,2]",
       "f[batch,8,?,?]"},
      {"Conv", 11, "f* f[8,3,3,3]", "", "f*"},
      {"Conv", 11, "f[1,3,8,8] f*", "kernel_shape=[3,3]", "f[1,?,6,6]"},
      {"Conv", 11, "f[1,3,-1,8] f[8,3,3,3]", "", "f[1,8,?,6]"},
      /* nothing that could run */
      {"Conv", 11, "f[1,3,4,4] f[8,3,5,5]", "", "error: window of 5"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "strides=[0,1]", "error: stride"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "pads=[1,1]", "error: 2 pads"},
      {"Conv", 11, "f[1,3,8,8]", "", "error: no operand 1"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "dilations=[9223372036854775807,1]",
       "f[1,8,?,6]"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "kernel_shape=[3,5]",
       "error: kernel_shape of 5 for axis 1, but its filter has 3"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,?]", "kernel_shape=[3,5]", "f[1,8,6,4]"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "kernel_shape=[3]",
       "error: kernel_shape of 1 sizes, for 2 axes"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "group=-1", "error: group of -1"},
      {"Conv", 11, "f[1,3,8,8] f*", "group=0", "error: group of 0"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "auto_pad=SAME",
       "error: auto_pad 'SAME'"},
      {"Conv", 11, "f[1,3,8,8] f[8,3,3,3]", "auto_pad=NOTSET pads=[1,1,1,1]",
       "f[1,8,8,8]"},
      {"ConvInteger", 10, "u[1,1,4,4] u[1,1,2,2]", "", "j[1,1,3,3]"},
      {"QLinearConv", 10,
       "u[1,3,8,8] f(1.0) u(0) c[4,3,3,3] f(1.0) c(0) f(1.0) c(0)", "",
       "c[1,4,6,6]"},
      {"com.microsoft::FusedConv", 1, "f[1,3,8,8] f[4,3,3,3]",
       "activation=Relu", "f[1,4,6,6]"}};
  CHECK_RULES(rules);
}

static void test_transposed(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      /* (in - 1) * stride + reach + output padding - pads */
      {"ConvTranspose", 11, "f[1,1,3,3] f[1,2,3,3]", "", "f[1,2,5,5]"},
      {"ConvTranspose", 11, "f[1,1,3,3] f[1,2,3,3]",
       "strides=[3,2] output_padding=[1,1]", "f[1,2,10,8]"},
      {"ConvTranspose", 11, "f[1,1,3,3] f[1,2,3,3]",
       "strides=[3,2] output_shape=[10,8]", "f[1,2,10,8]"},
      {"ConvTranspose", 11, "f[1,1,3,3] f[1,2,3,3]",
       "strides=[2,2] auto_pad=SAME_UPPER", "f[1,2,6,6]"},
      {"ConvTranspose", 11, "f[1,4,3,3] f[4,2,3,3]",
       "group=2 pads=[1,1,0,0] dilations=[2,1]", "f[1,4,6,4]"},
      {"ConvTranspose", 11, "f[1,3,3,3] f[3,2,3,3]", "group=-3",
       "error: group of -3"},
      {"ConvTranspose", 11, "f[1,3,3,3] f[4,2,3,3]", "", "error: 3 channels"}};
  CHECK_RULES(rules);
}

static void test_pool(void **state) {
  (void)state;
  static const onnx_rule rules[] = {
      {"MaxPool", 12, "f[1,3,32,32]", "kernel_shape=[5,5] strides=[3,3]",
       "f[1,3,10,10] i[1,3,10,10]"},
      {"MaxPool", 12, "f[1,1,4,4]",
       "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", "f[1,1,2,2]"},
      /* the third window would begin in the padding behind the input */
      {"AveragePool", 19, "f[1,1,2,2]",
       "kernel_shape=[1,1] strides=[2,2] ceil_mode=1", "f[1,1,1,1]"},
      {"AveragePool", 19, "f[1,1,5,5]",
       "kernel_shape=[2,2] strides=[2,2] ceil_mode=1 auto_pad=VALID",
       "f[1,1,3,3]"},
      {"MaxPool", 12, "f[1,1,4,4]", "kernel_shape=[2,2] dilations=[2,2]",
       "f[1,1,2,2]"},
      {"MaxPool", 12, "f[1,1,5,5]",
       "kernel_shape=[3,3] strides=[2,2] auto_pad=SAME_UPPER ceil_mode=1",
       "f[1,1,3,3]"},
      {"GlobalAveragePool", 1, "f[n,7,?,5]", "", "f[n,7,1,1]"},
      {"com.microsoft::NhwcMaxPool", 1, "c[1,8,6,3]",
       "kernel_shape=[2,2] strides=[2,2]", "c[1,4,3,3]"},
      {"MaxRoiPool", 1, "f[1,3,9,9] f[5,5]", "pooled_shape=[2,4]",
       "f[5,3,2,4]"},
      {"MaxUnpool", 11, "f[1,1,2,2] i[1,1,2,2]",
       "kernel_shape=[2,2] strides=[2,2]", "f[1,1,4,4]"}};
  CHECK_RULES(rules);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conv),
                                     cmocka_unit_test(test_transposed),
                                     cmocka_unit_test(test_pool)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
