/* Windows against the taps themselves: which elements of the input, or of its
   padding, each tap of each output falls on. */
#include "graph_fixture.h"

#include <inttypes.h>

#include "base/random.h"
#include "graph/graph_window.h"

static graph_window window_of(fixture *f, const char *body, bool *understood) {
  char text[1024];
  graph_window w = {0};
  snprintf(text, sizeof text, "calm-graph 1\ngraph g\n%s", body);
  fixture_must_read(f, text);
  *understood = graph_window_of(&w, f->graphs.data, 0);
  return w;
}

/* What the outputs [u, v) need, tap by tap. */
static void needs_by_taps(int64_t *begin, int64_t *end, const window_axis *a,
                          int64_t u, int64_t v) {
  *begin = INT64_MAX;
  *end = -1;
  for (int64_t o = u; o < v; o++)
    for (int64_t tap = 0; tap < a->taps; tap++) {
      const int64_t i = o * a->stride + tap * a->dilation - a->before;
      if (i < 0 || i >= a->input) continue;
      if (i < *begin) *begin = i;
      if (i + 1 > *end) *end = i + 1;
    }
}

static int64_t after_by_taps(const window_axis *a) {
  int64_t most = 0;
  for (int64_t o = 0; o < a->output; o++)
    for (int64_t tap = 0; tap < a->taps; tap++) {
      const int64_t i = o * a->stride + tap * a->dilation - a->before;
      if (i - a->input + 1 > most) most = i - a->input + 1;
    }
  return most;
}

/* The first and the last tap of a range are those of its first and last window,
   where these touch the input at all. */
static void check_axis(const window_axis *a) {
  assert_int_equal(window_after(a), after_by_taps(a));
  for (int64_t u = 0; u < a->output; u++)
    for (int64_t v = u + 1; v <= a->output; v++) {
      int64_t begin, end, first, last;
      window_needs(&begin, &end, a, u, v);
      needs_by_taps(&first, &last, a, u, v);
      assert_true(begin <= end && begin >= 0 && end <= a->input);
      if (last < 0) continue;
      assert_true(begin <= first && end >= last);
      if (a->dilation == 1) {
        assert_int_equal(begin, first);
        assert_int_equal(end, last);
      }
    }
}

/* SAME: as many outputs as strides begin in the input, and the padding in front
   and behind differs by one at most, the larger one behind. */
static void check_same(const window_axis *a) {
  assert_int_equal(a->output, (a->input + a->stride - 1) / a->stride);
  const int64_t after = window_after(a);
  assert_true(after == a->before || after == a->before + 1);
}

static void same_and_valid_axes_agree_with_their_taps(void **state) {
  (void)state;
  random_state r = random_from_seed(7);
  int tried = 0;
  while (tried < 400) {
    const uint32_t h = 1 + random_below(&r, 11), w = 1 + random_below(&r, 11);
    const uint32_t kh = 1 + random_below(&r, 5), kw = 1 + random_below(&r, 5);
    const uint32_t sh = 1 + random_below(&r, 3), sw = 1 + random_below(&r, 3);
    const uint32_t dh = 1 + random_below(&r, 2), dw = 1 + random_below(&r, 2);
    const bool same = random_below(&r, 2);
    const int64_t eh = (int64_t)(kh - 1) * dh + 1, ew = (kw - 1) * dw + 1;
    if (!same && (eh > h || ew > w)) continue;
    const int64_t oh = same ? (h + sh - 1) / sh : (h - eh) / sh + 1;
    const int64_t ow = same ? (w + sw - 1) / sw : (w - ew) / sw + 1;
    char body[512];
    snprintf(body, sizeof body,
             "tensor x i8[1,%" PRIu32 ",%" PRIu32
             ",4] input\n"
             "tensor w i8[6,%" PRIu32 ",%" PRIu32
             ",4] const\n"
             "tensor y i8[1,%" PRId64 ",%" PRId64
             ",6] output\n"
             "op c conv2d ( x w - ) -> ( y ) stride=%" PRIu32 ",%" PRIu32
             " dilation=%" PRIu32 ",%" PRIu32 " pad=%s\n",
             h, w, kh, kw, oh, ow, sh, sw, dh, dw, same ? "same" : "valid");
    fixture f;
    bool understood;
    fixture_open(&f, NULL);
    const graph_window win = window_of(&f, body, &understood);
    assert_true(understood);
    assert_int_equal(win.rows.input, h);
    assert_int_equal(win.columns.input, w);
    assert_int_equal(win.rows.taps, kh);
    assert_int_equal(win.columns.taps, kw);
    assert_int_equal(window_span(&win.rows), eh);
    check_axis(&win.rows);
    check_axis(&win.columns);
    if (same) {
      if (win.rows.before) check_same(&win.rows);
      if (win.columns.before) check_same(&win.columns);
      assert_int_equal(win.rows.before, window_same_before(h, kh, sh, dh));
    } else {
      assert_int_equal(win.rows.before, 0);
      assert_int_equal(win.columns.before, 0);
      assert_int_equal(window_after(&win.rows), 0);
    }
    assert_int_equal(win.groups, 1);
    fixture_close(&f);
    tried++;
  }
}

#define PLAIN                                                \
  "tensor x i8[1,5,6,4] input\ntensor w i8[8,3,3,4] const\n" \
  "tensor y i8[1,5,6,8] output\nop c conv2d ( x w ) -> ( y ) "
#define FIRST                                                   \
  "tensor x f32[2,4,9,8] input\n"                               \
  "tensor w f32[6,2,3,4] const\ntensor y f32[2,6,5,4] output\n" \
  "op c conv2d ( x w ) -> ( y ) "

static void operators_are_read_as_written(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool understood;
    int64_t rows_before, columns_before, rows_after, columns_after;
    int64_t groups, multiplier;
  } cases[] = {
      {PLAIN "stride=1,1 pad=same\n", true, 1, 1, 1, 1, 1, 1},
      {PLAIN "stride=1,1\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "stride=1,1 pad=valid\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "stride=2,1 pad=same\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "stride=0,1 pad=same\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "stride=1 pad=same\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "stride=1,x pad=same\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "pads=0,2,2,0\n", true, 0, 2, 2, 0, 1, 1},
      {PLAIN "pads=0,2,2\n", false, 0, 0, 0, 0, 0, 0},
      {PLAIN "pads=0,-2,2,0\n", false, 0, 0, 0, 0, 0, 0},
      {"tensor x i8[1,8,8,3] input\ntensor w i8[1,3,3,6] const\n"
       "tensor y i8[1,4,4,6] output\n"
       "op c depthwise_conv2d ( x w ) -> ( y ) stride=2,2 pad=same\n",
       true, 0, 0, 1, 1, 3, 2},
      {"tensor x i8[1,8,8,4] input\ntensor w i8[6,3,3,2] const\n"
       "tensor y i8[1,8,8,6] output\n"
       "op c conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       true, 1, 1, 1, 1, 2, 1},
      {"tensor x i8[1,5,5,3] input\ntensor y i8[1,2,2,3] output\n"
       "op c max_pool2d ( x ) -> ( y ) stride=2,2 filter=2,2 pad=valid\n",
       true, 0, 0, 0, 0, 3, 1},
      {"tensor x i8[1,5,5,3] input\ntensor y i8[1,2,2,3] output\n"
       "op c max_pool2d ( x ) -> ( y ) stride=2,2 pad=valid\n",
       false, 0, 0, 0, 0, 0, 0},
      {"tensor x i8[1,5,5,3] input\ntensor y i8[1,3,3,3] output\n"
       "op c average_pool2d ( x ) -> ( y ) stride=2,2 filter=2,2 pads=0,0,0,0 "
       "ceil=1\n",
       true, 0, 0, 1, 1, 3, 1},
      {"tensor x 75 input\ntensor y 27 output\n"
       "op c max_pool2d ( x ) -> ( y ) stride=2,2 filter=2,2 pad=same\n",
       false, 0, 0, 0, 0, 0, 0},
      {"tensor x i8[1,5,5,3] input\ntensor y i8[1,5,5,3] output\n"
       "op c relu ( x ) -> ( y )\n",
       false, 0, 0, 0, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    bool understood;
    fixture_open(&f, NULL);
    const graph_window w = window_of(&f, cases[i].body, &understood);
    if (understood != cases[i].understood) fail_msg("%s", cases[i].body);
    if (understood) {
      assert_int_equal(w.rows.before, cases[i].rows_before);
      assert_int_equal(w.columns.before, cases[i].columns_before);
      assert_int_equal(window_after(&w.rows), cases[i].rows_after);
      assert_int_equal(window_after(&w.columns), cases[i].columns_after);
      assert_int_equal(w.groups, cases[i].groups);
      assert_int_equal(w.multiplier, cases[i].multiplier);
    }
    fixture_close(&f);
  }
}

/* N C H W, as in ONNX: 9 x 8 pixels, 3 x 4 taps, strides 2, 1 row and 1 column
   in front, 1 and 2 behind. */
static void channels_may_come_first(void **state) {
  (void)state;
  static const struct {
    const char *attributes;
    bool understood;
    int64_t rows_before, columns_before;
  } cases[] = {
      {"stride=2,2 pads=1,1,1,2", true, 1, 1},
      {"stride=2,2 pad=same_upper", true, 1, 1},
      {"stride=2,2 pad=same_lower", true, 1, 1},
      {"stride=2,2", false, 0, 0},
      {"stride=2,2 pad=valid", false, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    fixture_open(&f, NULL);
    char text[1024];
    snprintf(text, sizeof text, "calm-graph 1\ngraph g\n%s%s\n", FIRST,
             cases[i].attributes);
    fixture_must_read(&f, text);
    f.graphs.data[0].channels_first = true;
    graph_window w;
    assert_int_equal(graph_window_of(&w, f.graphs.data, 0),
                     cases[i].understood);
    if (cases[i].understood) {
      assert_int_equal(w.batches, 2);
      assert_int_equal(w.in_channels, 4);
      assert_int_equal(w.out_channels, 6);
      assert_int_equal(w.groups, 2);
      assert_int_equal(w.rows.before, cases[i].rows_before);
      assert_int_equal(w.columns.before, cases[i].columns_before);
      check_axis(&w.rows);
      check_axis(&w.columns);
    }
    fixture_close(&f);
  }
}

static void lists_of_numbers_are_read(void **state) {
  (void)state;
  fixture f;
  int64_t n[GRAPH_MAX_RANK];
  fixture_open(&f, NULL);
  fixture_must_read(&f,
                    "calm-graph 1\ngraph g\ntensor x 5 input\n"
                    "tensor y 5 output\nop s slice ( x ) -> ( y ) "
                    "begin=0,5,0,-1 size=7 bad=1,,2 word=x\n");
  const graph_op *op = f.graphs.data[0].ops.data;
  assert_int_equal(graph_op_numbers(n, op, "begin"), 4);
  assert_int_equal(n[1], 5);
  assert_int_equal(n[3], -1);
  assert_int_equal(graph_op_numbers(n, op, "size"), 1);
  assert_int_equal(n[0], 7);
  assert_int_equal(graph_op_numbers(n, op, "bad"), 0);
  assert_int_equal(graph_op_numbers(n, op, "word"), 0);
  assert_int_equal(graph_op_numbers(n, op, "none"), 0);
  fixture_close(&f);
}

static void multiplications_are_counted(void **state) {
  (void)state;
  static const struct {
    const char *body;
    uint64_t macs;
  } cases[] = {
      {PLAIN "stride=1,1 pad=same\n", 5 * 6 * 8 * 9 * 4},
      {"tensor x i8[1,8,8,3] input\ntensor w i8[1,3,3,6] const\n"
       "tensor y i8[1,4,4,6] output\n"
       "op c depthwise_conv2d ( x w ) -> ( y ) stride=2,2 pad=same\n",
       4 * 4 * 6 * 9},
      {"tensor x i8[1,8,8,4] input\ntensor w i8[6,3,3,2] const\n"
       "tensor y i8[1,8,8,6] output\n"
       "op c conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       8 * 8 * 6 * 9 * 2},
      {"tensor x i8[3,40] input\ntensor w i8[10,40] const\n"
       "tensor y i8[3,10] output\nop c fully_connected ( x w ) -> ( y )\n",
       3 * 10 * 40},
      {"tensor x i8[3,40] input\ntensor y i8[3,40] output\n"
       "op c relu ( x ) -> ( y )\n",
       0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    bool understood;
    fixture_open(&f, NULL);
    window_of(&f, cases[i].body, &understood);
    assert_int_equal(graph_op_macs(f.graphs.data, 0), cases[i].macs);
    assert_int_equal(graph_macs(f.graphs.data), cases[i].macs);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_and_valid_axes_agree_with_their_taps),
      cmocka_unit_test(operators_are_read_as_written),
      cmocka_unit_test(channels_may_come_first),
      cmocka_unit_test(lists_of_numbers_are_read),
      cmocka_unit_test(multiplications_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
