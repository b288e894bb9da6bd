/* What can be a region, and what becomes of a small one, in text. */
#include "graph_fixture.h"
#include "scarce.h"
#include "tile/tile.h"

#define HEAD "calm-graph 1\ngraph g\n"
#define HEAD_NCHW "calm-graph 1\ngraph g layout=nchw\n"

/* ---- Refusals ------------------------------------------------------------ */

static const char *refusal(fixture *f, const char *lines, uint32_t first,
                           uint32_t last) {
  char whole[2048];
  uint32_t rows, columns;
  fixture_open(f, NULL);
  snprintf(whole, sizeof whole, HEAD "%s", lines);
  fixture_must_read(f, whole);
  return tile_refuse(&f->graphs.data[0], first, last, &rows, &columns);
}

static void expect_refusal(const char *lines, uint32_t first, uint32_t last,
                           const char *expected) {
  fixture f;
  const char *reason = refusal(&f, lines, first, last);
  if (expected)
    assert_string_equal(reason ? reason : "none", expected);
  else
    assert_null(reason);
  fixture_close(&f);
}

#define CONV                      \
  "tensor x i8[1,8,8,2] input\n"  \
  "tensor w i8[2,3,3,2] const\n"  \
  "tensor b i32[2] const\n"       \
  "tensor y i8[1,8,8,2]\n"        \
  "tensor z i8[1,8,8,2] output\n" \
  "op c conv2d ( x w b ) -> ( y ) stride=1,1 pad=same\n"

static void convolutions_and_points_are_regions(void **state) {
  (void)state;
  expect_refusal(CONV "op r relu ( y ) -> ( z )\n", 0, 1, NULL);
  expect_refusal(CONV "op a add ( y x ) -> ( z )\n", 0, 1, NULL);
  expect_refusal("tensor s i8[1,1,1,1] const\n" CONV
                 "op m mul ( y s ) -> ( z )\n",
                 0, 1, NULL);
  expect_refusal("tensor s i8[2] const\n" CONV "op m mul ( s y ) -> ( z )\n", 0,
                 1, NULL);
}

static void what_is_no_region_says_why(void **state) {
  (void)state;
  expect_refusal(CONV "op s softmax ( y ) -> ( z )\n", 0, 1,
                 "it is no convolution, no pooling and not element by element");
  expect_refusal(CONV "op r relu ( y ) -> ( z )\n", 0, 2,
                 "the graph has no such operators");
  expect_refusal("tensor s i8[8,2] const\n" CONV "op m mul ( y s ) -> ( z )\n",
                 0, 1, "its operands have other sizes than its output");
  expect_refusal("tensor u i8[1,8,8,2] input\n" CONV
                 "op a add ( y u ) -> ( z )\n",
                 0, 1, "more than one tensor comes from outside");
  expect_refusal("tensor v i8[1,8,8,2] output\n" CONV
                 "op r relu ( y ) -> ( z )\nop q relu ( y ) -> ( v )\n",
                 0, 1, "more than one tensor is read outside");
  expect_refusal("tensor v i8[1,8,8,2]\n" CONV
                 "op r relu ( y ) -> ( z )\nop q relu ( y ) -> ( v )\n",
                 0, 2, "nobody reads one of its tensors");
  expect_refusal(CONV "op r relu ( y ) -> ( z ) after ( c )\n", 0, 1,
                 "it must keep its place");
  expect_refusal(
      "tensor x i8[2,8,8,2] input\ntensor z i8[2,8,8,2] output\n"
      "op r relu ( x ) -> ( z )\n",
      0, 0, "it reads no picture of one batch and known size");
  expect_refusal(
      "tensor x 100 input\ntensor z 100 output\n"
      "op r relu ( x ) -> ( z )\n",
      0, 0, "it reads no picture of one batch and known size");
}

static void pads_must_be_of_rows_and_columns(void **state) {
  (void)state;
#define PAD(shape, before, after)                                           \
  "tensor x i8[1,8,8,2] input\ntensor p i32[4,2] const\n"                   \
  "tensor z i8[" shape "] output\nop p pad ( x p ) -> ( z ) before=" before \
  " after=" after "\n"
  expect_refusal(PAD("1,9,10,2", "0,1,0,0", "0,0,2,0"), 0, 0, NULL);
  expect_refusal(PAD("1,8,8,3", "0,0,0,1", "0,0,0,0"), 0, 0,
                 "it pads something else than rows and columns");
  expect_refusal(PAD("1,9,10,2", "0,1,0,0", "0,0,3,0"), 0, 0,
                 "it pads something else than rows and columns");
  expect_refusal(PAD("1,9,10,2", "0,1,0,0", "0,0,2,0 mode=reflect"), 0, 0,
                 "it pads by something else than zeros");
  expect_refusal(
      "tensor x i8[1,8,8,2] input\ntensor p i32[4,2] const\n"
      "tensor z i8[1,9,9,2] output\nop p pad ( x p ) -> ( z )\n",
      0, 0, "its padding is not known");
}

/* ---- What is made -------------------------------------------------------- */

static calm_status tile_text(fixture *f, const char *head, const char *lines,
                             const char *regions, const tile_options *options,
                             char **out) {
  char whole[2048];
  tile_region *list;
  uint32_t count;
  graph_edit edit;
  text t;
  snprintf(whole, sizeof whole, "%s%s", head, lines);
  TRY(fixture_read(f, whole, strlen(whole)));
  TRY(tile_parse(&list, &count, regions, &f->arena));
  TRY(tile_apply(&edit, &f->graphs.data[0], list, count, options, &f->arena));
  calm_status status = tile_check(&edit, f->context);
  text_init(&t, f->context);
  if (!status) graph_text_write(&t, &edit.after, 1);
  if (!status) status = text_finish(&t, out);
  text_free(&t);
  graph_edit_free(&edit);
  return status;
}

static void expect_lines(const char *head, const char *lines,
                         const char *regions, bool pads, const char *expected) {
  const tile_options options = {
      .most_operands = 10, .pads = pads, .row_align = 1};
  fixture f;
  char *out = NULL;
  fixture_open(&f, NULL);
  if (tile_text(&f, head, lines, regions, &options, &out))
    fail_msg("%s", calm_context_message(f.context));
  assert_string_equal(strchr(out + strlen("calm-graph 1\n"), '\n') + 1,
                      expected);
  calm_text_free(f.context, out);
  fixture_close(&f);
}

static void strips_are_padded_where_the_picture_ends(void **state) {
  (void)state;
  expect_lines(
      HEAD, CONV "op r relu ( y ) -> ( z )\n", "0-1:2:pad", false,
      "tensor x i8[1,8,8,2] input\n"
      "tensor w i8[2,3,3,2] const\n"
      "tensor b i32[2] const\n"
      "tensor z i8[1,8,8,2] output\n"
      "tensor x/tile1/part i8[1,5,8,2]\n"
      "tensor begin/0-0-0-0 i32[4] const\n"
      "tensor size/1-5-8-2 i32[4] const\n"
      "tensor x/tile1/padded i8[1,6,10,2]\n"
      "tensor paddings/0-0-1-0-1-1-0-0 i32[4,2] const\n"
      "tensor y/tile1 i8[1,4,8,2]\n"
      "tensor z/tile1 i8[1,4,8,2]\n"
      "tensor x/tile2/part i8[1,5,8,2]\n"
      "tensor begin/0-3-0-0 i32[4] const\n"
      "tensor x/tile2/padded i8[1,6,10,2]\n"
      "tensor paddings/0-0-0-1-1-1-0-0 i32[4,2] const\n"
      "tensor y/tile2 i8[1,4,8,2]\n"
      "tensor z/tile2 i8[1,4,8,2]\n"
      "op c/tile1/slice slice ( x begin/0-0-0-0 size/1-5-8-2 ) -> "
      "( x/tile1/part ) begin=0,0,0,0 size=1,5,8,2\n"
      "op c/tile1/pad pad ( x/tile1/part paddings/0-0-1-0-1-1-0-0 ) -> "
      "( x/tile1/padded ) before=0,1,1,0 after=0,0,1,0\n"
      "op c/tile1 conv2d ( x/tile1/padded w b ) -> ( y/tile1 ) stride=1,1 "
      "pad=valid\n"
      "op r/tile1 relu ( y/tile1 ) -> ( z/tile1 )\n"
      "op c/tile2/slice slice ( x begin/0-3-0-0 size/1-5-8-2 ) -> "
      "( x/tile2/part ) begin=0,3,0,0 size=1,5,8,2\n"
      "op c/tile2/pad pad ( x/tile2/part paddings/0-0-0-1-1-1-0-0 ) -> "
      "( x/tile2/padded ) before=0,0,1,0 after=0,1,1,0\n"
      "op c/tile2 conv2d ( x/tile2/padded w b ) -> ( y/tile2 ) stride=1,1 "
      "pad=valid\n"
      "op r/tile2 relu ( y/tile2 ) -> ( z/tile2 )\n"
      "op r/join concat ( z/tile1 z/tile2 ) -> ( z ) axis=1\n");
}

static void garbage_is_cut_off(void **state) {
  (void)state;
  expect_lines(HEAD, CONV "op r relu ( y ) -> ( z )\n", "0-1:2:same", false,
               "tensor x i8[1,8,8,2] input\n"
               "tensor w i8[2,3,3,2] const\n"
               "tensor b i32[2] const\n"
               "tensor z i8[1,8,8,2] output\n"
               "tensor x/tile1/part i8[1,5,8,2]\n"
               "tensor begin/0-0-0-0 i32[4] const\n"
               "tensor size/1-5-8-2 i32[4] const\n"
               "tensor y/tile1 i8[1,5,8,2]\n"
               "tensor z/tile1 i8[1,5,8,2]\n"
               "tensor z/tile1/part i8[1,4,8,2]\n"
               "tensor size/1-4-8-2 i32[4] const\n"
               "tensor x/tile2/part i8[1,5,8,2]\n"
               "tensor begin/0-3-0-0 i32[4] const\n"
               "tensor y/tile2 i8[1,5,8,2]\n"
               "tensor z/tile2 i8[1,5,8,2]\n"
               "tensor z/tile2/part i8[1,4,8,2]\n"
               "tensor begin/0-1-0-0 i32[4] const\n"
               "op c/tile1/slice slice ( x begin/0-0-0-0 size/1-5-8-2 ) -> "
               "( x/tile1/part ) begin=0,0,0,0 size=1,5,8,2\n"
               "op c/tile1 conv2d ( x/tile1/part w b ) -> ( y/tile1 ) "
               "stride=1,1 pad=same\n"
               "op r/tile1 relu ( y/tile1 ) -> ( z/tile1 )\n"
               "op r/tile1/slice slice ( z/tile1 begin/0-0-0-0 size/1-4-8-2 ) "
               "-> ( z/tile1/part ) begin=0,0,0,0 size=1,4,8,2\n"
               "op c/tile2/slice slice ( x begin/0-3-0-0 size/1-5-8-2 ) -> "
               "( x/tile2/part ) begin=0,3,0,0 size=1,5,8,2\n"
               "op c/tile2 conv2d ( x/tile2/part w b ) -> ( y/tile2 ) "
               "stride=1,1 pad=same\n"
               "op r/tile2 relu ( y/tile2 ) -> ( z/tile2 )\n"
               "op r/tile2/slice slice ( z/tile2 begin/0-1-0-0 size/1-4-8-2 ) "
               "-> ( z/tile2/part ) begin=0,1,0,0 size=1,4,8,2\n"
               "op r/join concat ( z/tile1/part z/tile2/part ) -> ( z ) "
               "axis=1\n");
}

static void kept_rows_are_joined(void **state) {
  (void)state;
  expect_lines(
      HEAD,
      "tensor x i8[1,6,4,1] input\n"
      "tensor y i8[1,6,4,1]\n"
      "tensor z i8[1,5,4,1] output\n"
      "op r relu ( x ) -> ( y )\n"
      "op m max_pool2d ( y ) -> ( z ) filter=2,1 stride=1,1 pad=valid\n",
      "0-1:2:cache", false,
      "tensor x i8[1,6,4,1] input\n"
      "tensor z i8[1,5,4,1] output\n"
      "tensor x/tile1/part i8[1,4,4,1]\n"
      "tensor begin/0-0-0-0 i32[4] const\n"
      "tensor size/1-4-4-1 i32[4] const\n"
      "tensor y/tile1 i8[1,4,4,1]\n"
      "tensor z/tile1 i8[1,3,4,1]\n"
      "tensor y/tile1/part i8[1,1,4,1]\n"
      "tensor begin/0-3-0-0 i32[4] const\n"
      "tensor size/1-1-4-1 i32[4] const\n"
      "tensor x/tile2/part i8[1,2,4,1]\n"
      "tensor begin/0-4-0-0 i32[4] const\n"
      "tensor size/1-2-4-1 i32[4] const\n"
      "tensor y/tile2 i8[1,2,4,1]\n"
      "tensor y/tile2/joined i8[1,3,4,1]\n"
      "tensor z/tile2 i8[1,2,4,1]\n"
      "op r/tile1/slice slice ( x begin/0-0-0-0 size/1-4-4-1 ) -> "
      "( x/tile1/part ) begin=0,0,0,0 size=1,4,4,1\n"
      "op r/tile1 relu ( x/tile1/part ) -> ( y/tile1 )\n"
      "op m/tile1 max_pool2d ( y/tile1 ) -> ( z/tile1 ) filter=2,1 stride=1,1 "
      "pad=valid\n"
      "op m/tile1/slice slice ( y/tile1 begin/0-3-0-0 size/1-1-4-1 ) -> "
      "( y/tile1/part ) begin=0,3,0,0 size=1,1,4,1\n"
      "op r/tile2/slice slice ( x begin/0-4-0-0 size/1-2-4-1 ) -> "
      "( x/tile2/part ) begin=0,4,0,0 size=1,2,4,1\n"
      "op r/tile2 relu ( x/tile2/part ) -> ( y/tile2 )\n"
      "op r/tile2/join concat ( y/tile1/part y/tile2 ) -> ( y/tile2/joined ) "
      "axis=1\n"
      "op m/tile2 max_pool2d ( y/tile2/joined ) -> ( z/tile2 ) filter=2,1 "
      "stride=1,1 pad=valid\n"
      "op m/join concat ( z/tile1 z/tile2 ) -> ( z ) axis=1\n");
}

static void onnx_has_padding_per_side(void **state) {
  (void)state;
  expect_lines(
      HEAD_NCHW,
      "tensor x f32[1,2,6,4] input\n"
      "tensor w f32[3,2,3,3] const\n"
      "tensor y f32[1,3,6,4] output\n"
      "op c conv2d ( x w ) -> ( y ) filter=3,3 stride=1,1 pads=1,1,1,1\n",
      "0-0:2:pad", true,
      "tensor x f32[1,2,6,4] input\n"
      "tensor w f32[3,2,3,3] const\n"
      "tensor y f32[1,3,6,4] output\n"
      "tensor x/tile1/part f32[1,2,4,4]\n"
      "tensor index/0 i64[1] const\n"
      "tensor index/4 i64[1] const\n"
      "tensor index/2 i64[1] const\n"
      "tensor y/tile1 f32[1,3,3,4]\n"
      "tensor x/tile2/part f32[1,2,4,4]\n"
      "tensor index/6 i64[1] const\n"
      "tensor y/tile2 f32[1,3,3,4]\n"
      "op c/tile1/slice slice ( x index/0 index/4 index/2 ) -> "
      "( x/tile1/part ) begin=0,0,0,0 size=1,2,4,4\n"
      "op c/tile1 conv2d ( x/tile1/part w ) -> ( y/tile1 ) filter=3,3 "
      "stride=1,1 pads=1,1,0,1\n"
      "op c/tile2/slice slice ( x index/2 index/6 index/2 ) -> "
      "( x/tile2/part ) begin=0,0,2,0 size=1,2,4,4\n"
      "op c/tile2 conv2d ( x/tile2/part w ) -> ( y/tile2 ) filter=3,3 "
      "stride=1,1 pads=0,1,1,1\n"
      "op c/join concat ( y/tile1 y/tile2 ) -> ( y ) axis=2\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_and_points_are_regions),
      cmocka_unit_test(what_is_no_region_says_why),
      cmocka_unit_test(pads_must_be_of_rows_and_columns),
      cmocka_unit_test(strips_are_padded_where_the_picture_ends),
      cmocka_unit_test(garbage_is_cut_off),
      cmocka_unit_test(kept_rows_are_joined),
      cmocka_unit_test(onnx_has_padding_per_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
