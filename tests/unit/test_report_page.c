/* Pages: what is refused, and that nothing is lost without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../scarce.h"
#include "calm/calm.h"

static calm_status make(char **out, calm_context *context, const char *json) {
  const calm_document document = {"a.json", json};
  return calm_report(out, context, &document, 1, NULL);
}

static void a_page_needs_documents(void **state) {
  (void)state;
  char *page = NULL;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(calm_report(&page, context, NULL, 0, NULL), CALM_MISUSE);
  assert_int_equal(make(&page, context, "{"), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(context), "a.json:1:"));
  assert_int_equal(make(&page, context, "{\"schema\": 7}"), CALM_BAD_INPUT);
  assert_null(page);
  calm_context_free(context);
}

static void what_is_newer_than_the_page_is_kept(void **state) {
  (void)state;
  char *page;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(make(&page, context,
                        "{\"schema\": \"calm/other/9\", \"x\": 0.1, "
                        "\"n\": 9007199254740993, \"s\": \"<\"}"),
                   CALM_OK);
  assert_non_null(strstr(page, "\"x\":0.1"));
  assert_non_null(strstr(page, "\"n\":9007199254740993"));
  assert_non_null(strstr(page, "\"s\":\"\\u003c\""));
  calm_text_free(context, page);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static calm_status make_scarce(uint64_t granted) {
  char *page = NULL;
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&allocator);
  left = granted;
  const calm_status status =
      make(&page, context, "{\"schema\": \"calm/plan/1\", \"a\": [\"<\"]}");
  if (page) calm_text_free(context, page);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void without_memory_nothing_is_lost(void **state) {
  (void)state;
  uint64_t granted = 0;
  while (make_scarce(granted) == CALM_NO_MEMORY) granted++;
  assert_int_equal(make_scarce(granted), CALM_OK);
  assert_true(granted > 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_page_needs_documents),
      cmocka_unit_test(what_is_newer_than_the_page_is_kept),
      cmocka_unit_test(without_memory_nothing_is_lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
