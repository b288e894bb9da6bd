/* Words and numbers of YAML files. */
#include <math.h>

#include "accel_yaml_fixture.h"

/* The value of the key `a` in a text. */
static const accel_yaml *value_of(yaml_world *w, const char *text) {
  char line[256];
  snprintf(line, sizeof line, "a: %s\n", text);
  return accel_yaml_get(read_yaml(w, line), "a");
}

static void expect_integer(const char *text, uint64_t expected) {
  yaml_world w;
  uint64_t value = 0;
  world_open(&w);
  if (accel_yaml_integer(&value, w.context, value_of(&w, text), "x"))
    fail_msg("%s", calm_context_message(w.context));
  assert_true(value == expected);
  world_close(&w);
}

static void expect_no_integer(const char *text, const char *part) {
  yaml_world w;
  uint64_t value = 77;
  world_open(&w);
  assert_int_equal(
      accel_yaml_integer(&value, w.context, value_of(&w, text), "depth of X"),
      CALM_BAD_INPUT);
  assert_int_equal(value, 77);
  expect_message(&w, ": depth of X is ");
  expect_message(&w, part);
  world_close(&w);
}

static void whole_numbers_may_be_spelled_as_reals(void **state) {
  (void)state;
  expect_integer("64", 64);
  expect_integer("'64'", 64);
  expect_integer("0", 0);
  expect_integer("007", 7);
  expect_integer("64.0", 64);
  expect_integer("1e3", 1000);
  expect_integer("+5", 5);
  expect_integer("18446744073709551615", UINT64_MAX);
  expect_integer("9007199254740992.0", UINT64_C(1) << 53);
}

static void other_numbers_are_no_whole_ones(void **state) {
  (void)state;
  expect_no_integer("-1",
                    "t.yaml:1:4: depth of X is '-1', which is not a "
                    "whole number");
  expect_no_integer("1.5", "whole number");
  expect_no_integer("18446744073709551616", "whole number");
  expect_no_integer("9007199254740994.0", "whole number");
  expect_no_integer("1e99", "whole number");
  expect_no_integer("", "'', which is not a number");
  expect_no_integer("x", "a number");
  expect_no_integer("0x10", "a number");
  expect_no_integer("nan", "a number");
  expect_no_integer("inf", "a number");
  expect_no_integer("1 2", "a number");
  expect_no_integer("' 1'", "a number");
  expect_no_integer("'1 '", "a number");
  expect_no_integer("[1]", "a list, not a number");
  expect_no_integer("{b: 1}", "a mapping, not a number");
}

/* yaml-cpp reads octal digits after a 0, and other readers do not. */
static void digits_after_a_zero_are_refused(void **state) {
  (void)state;
  expect_no_integer("010",
                    "'010', which Timeloop takes for octal; write 10 or "
                    "8");
  expect_no_integer("'0017'", "write 17 or 15");
  expect_no_integer("+010", "write 10 or 8");
  expect_no_integer("08", "write 8");
  expect_no_integer("0190", "write 190");
  expect_integer("00", 0);
  expect_integer("007", 7);
}

static void reals_are_finite_decimals(void **state) {
  (void)state;
  static const char *const good[] = {"0.5", "5.", ".5", "-2", "1e-9", "1E5"};
  static const double values[] = {0.5, 5, 0.5, -2, 1e-9, 1e5};
  static const char *const bad[] = {"1e999", "Infinity", "NaN", "0x1p3",
                                    "1,5",   "--1",      "1e",  "."};
  yaml_world w;
  double value;
  world_open(&w);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(
        accel_yaml_real(&value, w.context, value_of(&w, good[i]), "x"),
        CALM_OK);
    assert_true(value == values[i]);
  }
  for (size_t i = 0; i < 8; i++)
    assert_int_equal(
        accel_yaml_real(&value, w.context, value_of(&w, bad[i]), "x"),
        CALM_BAD_INPUT);
  world_close(&w);
}

static void truth_has_the_words_of_yaml(void **state) {
  (void)state;
  yaml_world w;
  bool value = false;
  world_open(&w);
  assert_int_equal(accel_yaml_bool(&value, w.context, value_of(&w, "Yes"), "x"),
                   CALM_OK);
  assert_true(value);
  assert_int_equal(accel_yaml_bool(&value, w.context, value_of(&w, "off"), "x"),
                   CALM_OK);
  assert_false(value);
  assert_int_equal(accel_yaml_bool(&value, w.context, value_of(&w, "1"), "x"),
                   CALM_BAD_INPUT);
  expect_message(&w, "x is '1', which is not true or false");
  assert_int_equal(accel_yaml_bool(&value, w.context, value_of(&w, "[]"), "x"),
                   CALM_BAD_INPUT);
  world_close(&w);
}

static void texts_are_scalars(void **state) {
  (void)state;
  yaml_world w;
  const char *text;
  world_open(&w);
  assert_int_equal(accel_yaml_text(&text, w.context, value_of(&w, "b c"), "x"),
                   CALM_OK);
  assert_string_equal(text, "b c");
  assert_int_equal(accel_yaml_text(&text, w.context, value_of(&w, "[b]"), "x"),
                   CALM_BAD_INPUT);
  expect_message(&w, "x is a list, not a word");
  world_close(&w);
}

static void long_texts_are_cut_in_messages(void **state) {
  (void)state;
  char text[300];
  memset(text, 'x', 200);
  text[200] = '\0';
  yaml_world w;
  double value;
  world_open(&w);
  assert_int_equal(accel_yaml_real(&value, w.context, value_of(&w, text), "x"),
                   CALM_BAD_INPUT);
  assert_true(strlen(calm_context_message(w.context)) < 150);
  expect_message(&w, "which is not a number");
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_numbers_may_be_spelled_as_reals),
      cmocka_unit_test(other_numbers_are_no_whole_ones),
      cmocka_unit_test(digits_after_a_zero_are_refused),
      cmocka_unit_test(reals_are_finite_decimals),
      cmocka_unit_test(truth_has_the_words_of_yaml),
      cmocka_unit_test(texts_are_scalars),
      cmocka_unit_test(long_texts_are_cut_in_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
