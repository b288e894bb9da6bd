#include "report/report_json.h"

#include <math.h>

#include "report_fixture.h"

static void large_numbers_become_texts(void **state) {
  (void)state;
  json_t *most = report_json_number(INT64_MAX);
  json_t *more = report_json_number(UINT64_C(1) << 63);
  json_t *none = report_json_optional(UINT64_MAX);
  assert_int_equal(json_integer_value(most), INT64_MAX);
  assert_string_equal(json_string_value(more), "9223372036854775808");
  assert_true(json_is_null(none));
  json_decref(most);
  json_decref(more);
  json_decref(none);
}

static void counts_are_whole_where_they_can_be(void **state) {
  (void)state;
  json_t *whole = report_json_count(-3);
  json_t *part = report_json_count(4.5);
  json_t *large = report_json_count(1e300);
  json_t *endless = report_json_count(HUGE_VAL);
  json_t *none = report_json_real(NAN);
  assert_int_equal(json_integer_value(whole), -3);
  assert_true(json_real_value(part) == 4.5);
  assert_true(json_real_value(large) == 1e300);
  assert_true(json_is_null(endless));
  assert_true(json_is_null(none));
  json_decref(whole);
  json_decref(part);
  json_decref(large);
}

static void choices_have_their_names(void **state) {
  (void)state;
  json_t *name = report_json_choice("mapper", 1);
  assert_string_equal(json_string_value(name), "cosa");
  json_decref(name);
}

/* A missing value anywhere makes the whole missing, and leaks nothing. */
static void lack_of_memory_is_passed_on(void **state) {
  (void)state;
  assert_null(report_json_append(json_array(), NULL));
  assert_null(report_json_append(NULL, json_integer(1)));
  assert_null(report_json_member(json_object(), "key", NULL));
  assert_null(report_json_member(NULL, "key", json_integer(1)));
  assert_null(report_json_merge(json_object(), NULL));
  assert_null(report_json_merge(NULL, json_object()));
  text out;
  calm_context *context = calm_context_new(NULL);
  text_init(&out, context);
  assert_int_equal(report_json_write(&out, NULL), CALM_NO_MEMORY);
  text_free(&out);
  calm_context_free(context);
}

static void texts_are_valid_json(void **state) {
  arena a;
  text out;
  calm_context *context = calm_context_new(NULL);
  (void)state;
  arena_init(&a, context);
  text_init(&out, context);
  json_t *list = json_array();
  list = report_json_append(list, report_json_name(&a, "quote\" \\ \n \xff"));
  list = report_json_append(list, report_json_name(&a, NULL));
  assert_int_equal(report_json_write(&out, list), CALM_OK);
  assert_string_equal(out.data,
                      "[\n  \"quote\\\" \\\\ \\n \\\\xff\",\n  null\n]\n");
  text_free(&out);
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_numbers_become_texts),
      cmocka_unit_test(counts_are_whole_where_they_can_be),
      cmocka_unit_test(choices_have_their_names),
      cmocka_unit_test(lack_of_memory_is_passed_on),
      cmocka_unit_test(texts_are_valid_json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
