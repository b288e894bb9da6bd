/* What messages say of names: nearest ones and lists. */
#include "accel/accel_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void near_words_are_found(void **state) {
  (void)state;
  static const char *const names[] = {"datawidth", "depth", "width",
                                      "read_bandwidth"};
  assert_string_equal(accel_names_nearest("data_width", names, 4), "datawidth");
  assert_string_equal(accel_names_nearest("Depth", names, 4), "depth");
  assert_string_equal(accel_names_nearest("read-bandwith", names, 4),
                      "read_bandwidth");
  assert_string_equal(accel_names_nearest("depht", names, 4), "depth");
  assert_string_equal(accel_names_nearest("iwdth", names, 4), "width");
  assert_null(accel_names_nearest("edpht", names, 4));
  assert_null(accel_names_nearest("technology", names, 4));
  assert_null(accel_names_nearest("", names, 4));
  assert_null(accel_names_nearest("depth", names, 0));
  char longest[200];
  memset(longest, 'd', 199);
  longest[199] = '\0';
  assert_null(accel_names_nearest(longest, names, 4));
}

/* With one letter wrong, any letter would be near to any other. */
static void one_letter_is_near_to_itself_only(void **state) {
  (void)state;
  static const char *const names[] = {"R", "", "K"};
  assert_null(accel_names_nearest("Z", names, 3));
  assert_string_equal(accel_names_nearest("k", names, 3), "K");
}

static void hints_end_a_message(void **state) {
  (void)state;
  char longest[64];
  memset(longest, 'd', 63);
  longest[63] = '\0';
  const char *const names[] = {"depth", longest};
  assert_string_equal(accel_names_hint("deph", names, 2).text,
                      "; did you mean 'depth'?");
  assert_string_equal(accel_names_hint("technology", names, 2).text, "");
  const accel_hint hint = accel_names_hint(longest, names, 2);
  assert_int_equal(strlen(hint.text), strlen("; did you mean ''?") + 63);
}

static void keys_are_found_in_either_spelling(void **state) {
  (void)state;
  static const char *const names[] = {"read_write", "name"};
  assert_true(accel_names_have(names, 2, "read-write"));
  assert_false(accel_names_have(names, 1, "name"));
}

static void lists_say_what_finds_no_room(void **state) {
  (void)state;
  char longest[300];
  memset(longest, 'a', 299);
  longest[299] = '\0';
  const char *names[100] = {"R", "S", "P"};
  assert_string_equal(accel_names_list(names, 0).text, "");
  assert_string_equal(accel_names_list(names, 1).text, "R");
  assert_string_equal(accel_names_list(names, 3).text, "R, S, P");
  names[1] = longest;
  assert_int_equal(strlen(accel_names_list(names, 3).text),
                   strlen("R, , P") + 40);
  longest[39] = '\xc3';
  longest[40] = '\xa4';
  assert_int_equal(strlen(accel_names_list(names + 1, 1).text), 39);
  for (uint32_t i = 0; i < 100; i++) names[i] = "ab";
  const accel_listing list = accel_names_list(names, 100);
  const size_t length = strlen(list.text);
  assert_true(length < sizeof list.text && length > sizeof list.text - 10);
  assert_string_equal(list.text + length - strlen("ab, ..."), "ab, ...");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_words_are_found),
      cmocka_unit_test(one_letter_is_near_to_itself_only),
      cmocka_unit_test(hints_end_a_message),
      cmocka_unit_test(keys_are_found_in_either_spelling),
      cmocka_unit_test(lists_say_what_finds_no_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
