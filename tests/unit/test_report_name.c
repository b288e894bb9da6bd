#include "report_fixture.h"

static void numbers_have_separators(void **state) {
  (void)state;
  assert_string_equal(report_number(0).text, "0");
  assert_string_equal(report_number(999).text, "999");
  assert_string_equal(report_number(1000).text, "1,000");
  assert_string_equal(report_number(301056).text, "301,056");
  assert_string_equal(report_number(UINT64_MAX).text,
                      "18,446,744,073,709,551,615");
}

static void percents_have_one_digit(void **state) {
  (void)state;
  assert_string_equal(report_percent(50176, 351232).text, "14.3 %");
  assert_string_equal(report_percent(0, 0).text, "0.0 %");
  assert_string_equal(report_percent(3, 3).text, "100.0 %");
}

/* Each byte sequence beside what becomes of it. */
static void only_utf8_stays(void **state) {
  static const struct {
    const char *name, *invalid, *control;
  } cases[] = {
      {"plain", "plain", "plain"},
      {"caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9"},
      {"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80",
       "\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xff", "\\xff", "\\xff"},
      {"a\xc3", "a\\xc3", "a\\xc3"},
      {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"}, /* overlong */
      {"\xe0\x80\x80", "\\xe0\\x80\\x80", "\\xe0\\x80\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}, /* surrogate */
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xe2\x82", "\\xe2\\x82", "\\xe2\\x82"}, /* cut off */
      {"a\nb\033[31m", "a\nb\033[31m", "a\\x0ab\\x1b[31m"},
      {"\xc2\x9b", "\xc2\x9b", "\\xc2\\x9b"}}; /* CSI in one character */
  arena a;
  calm_context *context = calm_context_new(NULL);
  (void)state;
  arena_init(&a, context);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_string_equal(report_name_escaped(&a, cases[i].name, ESCAPE_INVALID),
                        cases[i].invalid);
    assert_string_equal(report_name_escaped(&a, cases[i].name, ESCAPE_CONTROL),
                        cases[i].control);
  }
  arena_free(&a);
  calm_context_free(context);
}

static void long_names_lose_their_middle(void **state) {
  arena a;
  calm_context *context = calm_context_new(NULL);
  (void)state;
  arena_init(&a, context);
  assert_string_equal(report_name_shortened(&a, "abcdefghij", 10),
                      "abcdefghij");
  assert_string_equal(report_name_shortened(&a, "abcdefghij", 9), "abc...hij");
  assert_string_equal(report_name_shortened(&a, "abcdefghij", 8), "ab...hij");
  const char *cut = report_name_shortened(
      &a, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f",
      7);
  assert_string_equal(cut, "\xc3\xa4\xc3\xb6...\xc3\xbc\xc3\x9f");
  assert_int_equal(report_name_columns(cut), 7);
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_have_separators),
      cmocka_unit_test(percents_have_one_digit),
      cmocka_unit_test(only_utf8_stays),
      cmocka_unit_test(long_names_lose_their_middle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
