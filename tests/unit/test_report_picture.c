#include "report/report_picture.h"
#include "report_fixture.h"

/* The text of a picture; the caller frees it with its context. */
static char *draw(calm_context *context, const picture *p, bool color) {
  char *out;
  text t;
  text_init(&t, context);
  assert_int_equal(report_picture(&t, p, color), CALM_OK);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  return out;
}

static void a_small_arena_is_drawn_to_scale(void **state) {
  static const picture_block blocks[] = {
      {"low", 0, 2, 0, 2}, {"high", 2, 5, 1, 2}, {"late", 0, 1, 2, 3}};
  const picture p = {blocks, 3, 5, 3, 10};
  calm_context *context = calm_context_new(NULL);
  (void)state;
  char *drawn = draw(context, &p, false);
  assert_string_equal(
      drawn,
      "  5 |            AAAAAAAAAAAA\n"
      "    |            AAAAAAAAAAAA\n"
      "    |            AAAAAAAAAAAA\n"
      "    |BBBBBBBBBBBBBBBBBBBBBBBB\n"
      "    |BBBBBBBBBBBBBBBBBBBBBBBBCCCCCCCCCCCC\n"
      "  0 +------------------------------------\n"
      "     10          11          12\n"
      "\n"
      "     largest  bytes  offset  steps           bytes  offset  steps\n"
      "  A  high         3       2  11-11  C  late      1       0  12-12\n"
      "  B  low          2       0  10-11\n");
  calm_text_free(context, drawn);
  calm_context_free(context);
}

static void nothing_is_drawn_of_nothing(void **state) {
  static const picture_block block = {"x", 0, 1, 0, 1};
  const picture empty[] = {
      {&block, 0, 1, 1, 0}, {&block, 1, 0, 1, 0}, {&block, 1, 1, 0, 0}};
  calm_context *context = calm_context_new(NULL);
  (void)state;
  for (int i = 0; i < 3; i++) {
    char *drawn = draw(context, &empty[i], true);
    assert_string_equal(drawn, "");
    calm_text_free(context, drawn);
  }
  calm_context_free(context);
}

/* A staircase of many blocks, wide as the numbers may become. */
static void large_arenas_fit_the_line(void **state) {
  enum { COUNT = 5000 };
  static picture_block blocks[COUNT];
  const uint64_t unit = (UINT64_C(1) << 62) / COUNT;
  calm_context *context = calm_context_new(NULL);
  (void)state;
  for (uint64_t i = 0; i < COUNT; i++)
    blocks[i] = (picture_block){"a name of some length for a block", i * unit,
                                (i + 1) * unit, i * 800000, (i + 40) * 800000};
  const picture p = {blocks, COUNT, COUNT * unit, 4294967295, 0};
  for (int color = 0; color <= 1; color++) {
    char *drawn = draw(context, &p, color);
    assert_true(longest_line(drawn) <= 100);
    assert_true(color == (strchr(drawn, '\033') != NULL));
    calm_text_free(context, drawn);
  }
  calm_context_free(context);
}

/* Two blocks without letters that lie on each other can be told apart. */
static void neighbours_differ_in_shade(void **state) {
  enum { COUNT = 20 };
  picture_block blocks[COUNT];
  calm_context *context = calm_context_new(NULL);
  (void)state;
  for (uint64_t i = 0; i < COUNT; i++)
    blocks[i] = (picture_block){"b", i, i + 1, 0, 50};
  const picture p = {blocks, COUNT, COUNT, 50, 0};
  char *drawn = draw(context, &p, false);
  char before = 0;
  const char *line = drawn;
  for (int row = 0; row < COUNT; row++, line = strchr(line, '\n') + 1) {
    const char glyph = strchr(line, '|')[1];
    assert_true(glyph != before && glyph != ' ');
    before = glyph;
  }
  calm_text_free(context, drawn);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_arena_is_drawn_to_scale),
      cmocka_unit_test(nothing_is_drawn_of_nothing),
      cmocka_unit_test(large_arenas_fit_the_line),
      cmocka_unit_test(neighbours_differ_in_shade)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
