/* What kernels ask for, and what a file says instead. */
#include "memory_graphs.h"

#include <unistd.h>

#include "memory/memory_scratch.h"

/* "256 256" of each operator, semicolons between operators. */
static const char *list(const memory_scratch *s, uint32_t ops) {
  static char words[512];
  words[0] = '\0';
  for (uint32_t op = 0; op < ops; op++) {
    if (op) strcat(words, ";");
    for (uint32_t i = s->begin[op]; i < s->begin[op + 1]; i++)
      snprintf(words + strlen(words), sizeof words - strlen(words),
               "%s%" PRIu64, i > s->begin[op] ? " " : "", s->bytes[i]);
  }
  return words;
}

static const char *scratch_of(fixture *f, kernel_library library,
                              const char *path) {
  memory_scratch s;
  calm_status status = memory_scratch_build(&s, f->graphs.data, f->graphs.count,
                                            library, path, &f->arena);
  if (status) return calm_context_message(f->context);
  return list(&s, s.op_begin[f->graphs.count]);
}

static void reference_kernels_ask_by_shape(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"tensor x i8[2,40] input\ntensor w i8[64,40] const\n"
       "tensor y i8[2,32] output\nop a svdf ( x w ) -> ( y ) rank=2\n",
       "512 256"},
      {"tensor x f32[1,40] input\ntensor w f32[64,40] const\n"
       "tensor y f32[1,32] output\nop a svdf ( x w ) -> ( y ) rank=2\n",
       "256"},
      {"tensor s i32[4] const\ntensor w i8[1,1,1,1] const\n"
       "tensor x i8[1,2,2,1] input\ntensor y i8[1,4,4,3] output\n"
       "op a transpose_conv ( s w x ) -> ( y )\n",
       "192"},
      {"tensor s i32[4] const\ntensor w i8[1,1,1,1] const\n"
       "tensor x i16[1,2,2,1] input\ntensor b i16[3] const\n"
       "tensor y i16[1,4,4,3] output\n"
       "op a transpose_conv ( s w x b ) -> ( y )\n",
       "384 24"},
      {"tensor x i8[1,4,4,3] input\ntensor a i32[2] const\n"
       "tensor y i8[1,3] output\nop m mean ( x a ) -> ( y )\n",
       "12 16 8"},
      {"tensor x f32[1,4,4,3] input\ntensor a i32[] const\n"
       "tensor y f32[1,3] output\nop m reduce_max ( x a ) -> ( y )\n",
       "16 4"},
      {"tensor x f32[4] input\ntensor y f32[4] output\n"
       "op m add_n ( x x x ) -> ( y )\n",
       "24"},
      {"tensor x i8[1,4] input\ntensor w i4[3,4] const\n"
       "tensor y i8[1,3] output\nop m fully_connected ( x w ) -> ( y )\n",
       "12"},
      {"tensor x i16[1,512] input\ntensor y i16[1,514] output\n"
       "op m SignalRfft ( x ) -> ( y )\n",
       "1024"},
      {"tensor x 5 input\ntensor y 5 output\n"
       "op m svdf ( x ) -> ( y ) workspace=7\n",
       "7"},
      {"tensor x 5 input\ntensor y 5 output\nop m conv2d ( x ) -> ( y )\n", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    fixture_open(&f, cases[i].text);
    assert_string_equal(scratch_of(&f, KERNELS_REFERENCE, NULL),
                        cases[i].expected);
    fixture_close(&f);
  }
}

#define PICTURES(ci, co, filter)                          \
  "tensor x i8[1,10,10," ci "] input\ntensor w i8" filter \
  " const\n"                                              \
  "tensor y i8[1,10,10," co "] output\n"
#define CONV "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n"
#define DEPTHWISE "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n"
#define LINE(kw, s, ow)                              \
  "tensor x i8[1,1,16,4] input\ntensor w i8[8,1," kw \
  ",4] const\n"                                      \
  "tensor y i8[1,1," ow                              \
  ",8] output\n"                                     \
  "op a conv2d ( x w ) -> ( y ) stride=" s "," s " pad=same\n"

/* Per library: C, DSP, MVE, ESP-NN, portable. */
static void other_kernels_ask_by_dispatch(void **state) {
  (void)state;
  static const kernel_library libraries[] = {
      KERNELS_CMSIS_NN_C, KERNELS_CMSIS_NN_DSP, KERNELS_CMSIS_NN_MVE,
      KERNELS_ESP_NN_ANSI, KERNELS_PORTABLE};
  static const struct {
    const char *text, *expected[5];
  } cases[] = {
      /* As ResNet-8's largest: 3x3x16, 4 * 144 in all of them. */
      {PICTURES("16", "16", "[16,3,3,16]") CONV,
       {"576", "576", "576", "", "576"}},
      /* 3x3x3: windows of 27 elements, of 28 in words and of 32 in vectors. */
      {PICTURES("3", "8", "[8,3,3,3]") CONV, {"112", "112", "128", "", "128"}},
      /* Grouped: as if it read all channels. */
      {PICTURES("4", "8", "[8,3,3,2]") CONV, {"144", "144", "192", "", "192"}},
      {PICTURES("8", "16", "[16,1,1,8]") CONV, {"", "", "", "", ""}},
      /* The dilation that selects the other kernel. */
      {PICTURES("8", "16", "[16,1,1,8]") "op a conv2d ( x w ) -> ( y ) "
                                         "stride=1,1 pad=same dilation=2,2\n",
       {"32", "32", "64", "", "64"}},
      {PICTURES("8", "8", "[1,3,3,8]") DEPTHWISE, {"", "", "4464", "", "4464"}},
      {PICTURES("8", "8", "[1,5,5,8]") DEPTHWISE,
       {"", "400", "12400", "", "12400"}},
      {PICTURES("8", "16", "[1,3,3,16]") DEPTHWISE, {"", "", "", "", ""}},
      /* One input channel: 64 for the windows, 9 * 4 for the filter. */
      {PICTURES("1", "4", "[1,3,3,4]") DEPTHWISE, {"", "", "100", "", "100"}},
      /* 1x3: one padded pixel on each side, 16 pixels; 1x4: 1 and 2. */
      {LINE("3", "1", "16"), {"48", "48", "16", "", "48"}},
      {LINE("4", "1", "16"), {"64", "64", "20", "", "64"}},
      {"tensor x i8[1,8,8,6] input\ntensor y i8[1,4,4,6] output\n"
       "op a average_pool2d ( x ) -> ( y ) stride=2,2 filter=2,2 pad=valid\n",
       {"", "24", "", "", "24"}},
      {"tensor x i8[1,40] input\ntensor w i8[10,40] const\n"
       "tensor y i8[1,10] output\nop a fully_connected ( x w ) -> ( y )\n",
       {"", "", "40", "", "40"}},
      {"tensor x i8[3,40] input\ntensor w i8[10,40] const\n"
       "tensor y i8[1,3,10] output\nop a fully_connected ( x w ) -> ( y )\n",
       {"80", "80", "80", "", "80"}},
      {"tensor x i8[1,10] input\ntensor y i8[1,10] output\n"
       "op a softmax ( x ) -> ( y )\n",
       {"", "", "", "40", "40"}},
      {"tensor x f32[1,10] input\ntensor y f32[1,10] output\n"
       "op a softmax ( x ) -> ( y )\n",
       {"", "", "", "", ""}},
      {"tensor x f32[1,9,9,4] input\ntensor w f32[8,3,3,4] const\n"
       "tensor y f32[1,9,9,8] output\n" CONV,
       {"", "", "", "", ""}},
      {"tensor x i16[1,9,9,4] input\ntensor w i8[8,3,3,4] const\n"
       "tensor y i16[1,9,9,8] output\n" CONV,
       {"144", "144", "320", "", "320"}},
      /* Without a kernel of its own: the reference's. */
      {"tensor x i8[1,4,4,3] input\ntensor a i32[2] const\n"
       "tensor y i8[1,3] output\nop m mean ( x a ) -> ( y )\n",
       {"12 16 8", "12 16 8", "12 16 8", "12 16 8", "12 16 8"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t l = 0; l < sizeof libraries / sizeof *libraries; l++) {
      fixture f;
      fixture_open(&f, cases[i].text);
      const char *asked = scratch_of(&f, libraries[l], NULL);
      if (strcmp(asked, cases[i].expected[l]))
        fail_msg("%s: %s\n%s", kernel_library_name(libraries[l]), asked,
                 cases[i].text);
      fixture_close(&f);
    }
}

static const char *write_file(const char *text) {
  static char path[] = "/tmp/calm_scratch_XXXXXX";
  strcpy(path, "/tmp/calm_scratch_XXXXXX");
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
  close(file);
  return path;
}

static void a_file_overrides_the_table(void **state) {
  (void)state;
  static const struct {
    const char *file, *expected;
  } cases[] = {
      {"# nothing\n\n", "12;;"},
      {"a 0\n\"the b\" 1K 3 # both\ngraph body\na 5", ";1024 3;5"},
      {"a 7 0 8\r\n", "7 8;;"},
      {"c 1\n", ":1:1: no operator 'c' in the graph 'test'"},
      {"a 1\ngraph other\n", ":2:7: the model has no graph 'other'"},
      {"a\n", ":1:2: expected the bytes of its scratch buffers"},
      {"a 1 x\n", ":1:5: 'x' is not a number of bytes"},
      {"a 1 (\n", ":1:5: expected the end of the line"},
      {"a 1\n# again\na 2\n",
       ":3:1: operator 'a' of the graph 'test' has its line already"},
      {"a 1 2 3 4 5 6 7 8 9 10 11 0\ngraph body\na 5",
       "1 2 3 4 5 6 7 8 9 10 11;;5"},
      {"a 1 2 3 4 5 6 7 8 9 10 11 0 13\n",
       ":1:29: a kernel can ask for 12 scratch buffers at most"},
      {"a 4611686018427387888 32\n",
       ":1:23: the scratch of one operator exceeds 2^62 bytes"},
      {"( 1\n", ":1:1: expected the name of an operator"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    fixture_open(&f,
                 "tensor x i8[1,4] input\ntensor w i4[3,4] const\n"
                 "tensor y i8[1,3]\ntensor z 3 output\n"
                 "op a fully_connected ( x w ) -> ( y )\n"
                 "op \"the b\" relu ( y ) -> ( z ) body=body\n"
                 "graph body\ntensor x 1 input\ntensor y 1 output\n"
                 "op a relu ( x ) -> ( y )\n");
    const char *path = write_file(cases[i].file);
    const char *said = scratch_of(&f, KERNELS_AUTO, path);
    if (*cases[i].expected == ':') {
      assert_memory_equal(said, path, strlen(path));
      assert_string_equal(said + strlen(path), cases[i].expected);
    } else {
      assert_string_equal(said, cases[i].expected);
    }
    unlink(path);
    fixture_close(&f);
  }
}

static void count_line(void *payload, calm_log_level level, const char *line) {
  (void)line;
  if (level == CALM_LOG_WARNING) ++*(int *)payload;
}

/* Figures that are not known are not passed off as known. */
static void what_is_not_known_is_said(void **state) {
  (void)state;
  static const struct {
    const char *operands, *kind;
    kernel_library library;
  } cases[] = {
      {"tensor x 5 input\ntensor y 5 output\n", "svdf", KERNELS_REFERENCE},
      {"tensor x 5 input\ntensor y 5 output\n", "conv2d", KERNELS_CMSIS_NN_MVE},
      {"tensor x i8[2,2] input\ntensor y i8[2,2] output\n", "batch_matmul",
       KERNELS_CMSIS_NN_C},
      {"tensor x i8[2,2] input\ntensor y i8[2,2] output\n", "batch_matmul",
       KERNELS_PORTABLE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int lines = 0;
    char text[256];
    fixture f;
    snprintf(text, sizeof text, "%sop m %s ( x ) -> ( y )\n", cases[i].operands,
             cases[i].kind);
    fixture_open(&f, text);
    calm_context_set_log(f.context, count_line, &lines);
    assert_string_equal(scratch_of(&f, cases[i].library, NULL), "");
    assert_int_equal(lines, 1);
    fixture_close(&f);
  }
}

static void libraries_have_names(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  kernel_library library;
  assert_int_equal(kernel_library_find(&library, context, "esp-nn-ansi"),
                   CALM_OK);
  assert_int_equal(library, KERNELS_ESP_NN_ANSI);
  assert_int_equal(kernel_library_find(&library, context, "mine"), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(context), "cmsis-nn-dsp"));
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_kernels_ask_by_shape),
      cmocka_unit_test(other_kernels_ask_by_dispatch),
      cmocka_unit_test(a_file_overrides_the_table),
      cmocka_unit_test(what_is_not_known_is_said),
      cmocka_unit_test(libraries_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
