/*
 * No distance changes without its library's edition: files that rely on one are
 * judged by it.  Where this fails, raise the number in kernel_edition.c and put
 * the printed hash here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/hash.h"
#include "kernel/kernel.h"
#include "tflite_builder.h"

/* Each library's answers at one edition. */
static const struct {
  kernel_library library;
  uint64_t edition, hash;
} known[] = {{KERNELS_REFERENCE, 1, UINT64_C(0x6f7b7f17b724ed16)},
             {KERNELS_PORTABLE, 1, UINT64_C(0xf616b7b0ccc5a20e)},
             {KERNELS_CMSIS_NN_C, 1, UINT64_C(0xb6e44fbe24f0db4a)},
             {KERNELS_CMSIS_NN_DSP, 1, UINT64_C(0xb6e44fbe24f0db4a)},
             {KERNELS_CMSIS_NN_MVE, 1, UINT64_C(0xa55015ad47d021eb)},
             {KERNELS_ESP_NN_ANSI, 1, UINT64_C(0xdff9a975379a12e0)}};

static uint64_t hash_answers(const graph *g, kernel_library library) {
  uint64_t hash = 0;
  for (op_id u = 0; u < g->ops.count; u++)
    for (uint32_t slot = 0; slot < g->ops.data[u].input_count; slot++) {
      const kernel_distance d = kernel_overlap(library, g, u, slot);
      hash = hash_fold(hash, d.safe);
      hash = hash_fold(hash, d.safe ? (uint64_t)d.bytes : 0);
    }
  return hash;
}

/* ---- Shapes ---------------------------------------------------------------
 */

static void add_window(text *t, int i, const char *type, const char *kind,
                       int size, int channels, int made, int taps, int stride,
                       int dilation, bool same) {
  const bool conv = !strcmp(kind, "conv2d"), pool = strstr(kind, "pool");
  const int reach = (taps - 1) * dilation + 1;
  const int out =
      same ? (size + stride - 1) / stride : (size - reach) / stride + 1;
  text_format(t, "tensor x%d %s[1,%d,%d,%d] input\n", i, type, size, size + 2,
              channels);
  if (!pool)
    text_format(t, "tensor w%d %s[%d,%d,%d,%d] const\n", i, type,
                conv ? made : 1, taps, taps, conv ? channels : made);
  const int columns =
      same ? (size + 2 + stride - 1) / stride : (size + 2 - reach) / stride + 1;
  text_format(t, "tensor y%d %s[1,%d,%d,%d] output\n", i, type, out, columns,
              made);
  text_format(t, "op o%d %s ( x%d", i, kind, i);
  if (!pool) text_format(t, " w%d -", i);
  text_format(t, " ) -> ( y%d ) stride=%d,%d pad=%s", i, stride, stride,
              same ? "same" : "valid");
  if (pool) text_format(t, " filter=%d,%d", taps, taps);
  if (dilation > 1) text_format(t, " dilation=%d,%d", dilation, dilation);
  if (!conv && !pool) text_format(t, " multiplier=%d", made / channels);
  text_format(t, "\n");
}

static int add_windows(text *t, int i) {
  static const char *const types[] = {"i8", "f32", "i16"};
  for (int type = 0; type < 3; type++)
    for (int taps = 1; taps <= 5; taps += 2)
      for (int stride = 1; stride <= 2; stride++)
        for (int dilation = 1; dilation <= 2; dilation++)
          for (int same = 0; same < 2; same++) {
            const char *name = types[type];
            add_window(t, i++, name, "conv2d", 11, 8, 6, taps, stride, dilation,
                       same);
            add_window(t, i++, name, "conv2d", 11, 3, 16, taps, stride,
                       dilation, same);
            add_window(t, i++, name, "depthwise_conv2d", 11, 8, 8, taps, stride,
                       dilation, same);
            add_window(t, i++, name, "depthwise_conv2d", 11, 3, 6, taps, stride,
                       dilation, same);
            add_window(t, i++, name, "depthwise_conv2d", 11, 1, 7, taps, stride,
                       dilation, same);
            add_window(t, i++, name, "depthwise_conv2d", 11, 128, 128, taps,
                       stride, dilation, same);
            if (dilation > 1) continue;
            add_window(t, i++, name, "max_pool2d", 12, 5, 5, taps, stride, 1,
                       same);
            add_window(t, i++, name, "average_pool2d", 12, 5, 5, taps, stride,
                       1, same);
          }
  return i;
}

static const char others[] =
    "tensor a i8[1,6,7,4] input\ntensor b i8[1,6,7,4] input\n"
    "tensor c i8[4] const\ntensor f f32[1,6,7,4] input\n"
    "tensor flat i8[2,168] input\ntensor one i8[1,96] input\n"
    "tensor v i8[10,96] const\ntensor m i8[10,168] const\n"
    "tensor n i32[4] const\ntensor p i32[4,2] const\n"
    "tensor r0 i8[1,6,7,4] output\ntensor r1 i8[1,6,7,4] output\n"
    "tensor r2 i8[1,6,7,4] output\ntensor r3 i8[1,6,7,4] output\n"
    "tensor r4 i8[1,6,7,4] output\ntensor r5 f32[1,6,7,4] output\n"
    "tensor r6 i8[2,10] output\ntensor r7 i8[1,10] output\n"
    "tensor r8 i8[1,9,9,4] output\ntensor r9 i8[1,3,7,4] output\n"
    "tensor s0 i8[2,168] output\ntensor s1 i8[1,12,7,4] output\n"
    "tensor s2 i8[1,6,7,4] output\ntensor s3 i8[168] output\n"
    "tensor s4 i8[1,6,7,4] output\ntensor s5 i8[1,4] output\n"
    "op k0 add ( a b ) -> ( r0 )\nop k1 mul ( a c ) -> ( r1 )\n"
    "op k2 sub ( a a ) -> ( r2 )\nop k3 relu6 ( a ) -> ( r3 )\n"
    "op k4 logistic ( a ) -> ( r4 )\nop k5 tanh ( f ) -> ( r5 )\n"
    "op k6 fully_connected ( flat m - ) -> ( r6 )\n"
    "op k7 fully_connected ( one v - ) -> ( r7 )\n"
    "op k8 pad ( a p ) -> ( r8 ) before=0,1,1,0 after=0,2,1,0\n"
    "op k9 slice ( a n n ) -> ( r9 ) begin=0,2,0,0 size=1,3,7,4\n"
    "op l0 softmax ( flat ) -> ( s0 )\nop l1 concat ( a b ) -> ( s1 ) axis=1\n"
    "op l2 quantize ( a ) -> ( s2 )\nop l3 reshape ( a n ) -> ( s3 )\n"
    "op l4 maximum ( a b ) -> ( s4 )\nop l5 mean ( a n ) -> ( s5 )\n";

static void distances_change_with_their_edition(void **state) {
  (void)state;
  text t;
  bool same = true;
  calm_context *context = calm_context_new(NULL);
  text_init(&t, context);
  text_format(&t, "calm-graph 1\ngraph shapes\n");
  add_windows(&t, 0);
  text_format(&t, "%s", others);
  assert_false(t.failed);
  reading *r = reading_of_bytes((const uint8_t *)t.data, t.length);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const kernel_library library = known[i].library;
    const uint64_t hash = hash_answers(&r->model.graphs.data[0], library);
    assert_int_equal(kernel_edition(library), known[i].edition);
    if (hash == known[i].hash) continue;
    print_message("%s: 0x%016llx\n", kernel_library_name(library),
                  (unsigned long long)hash);
    same = false;
  }
  assert_true(same);
  assert_int_equal(reading_end(r), 0);
  text_free(&t);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_change_with_their_edition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
