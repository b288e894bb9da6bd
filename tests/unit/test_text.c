/* Texts that grow, and where they go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After those it needs. */
#include <cmocka.h>
#include <string.h>

#include "base/text.h"

typedef struct fixture {
  calm_context *context;
  arena arena;
  text text;
} fixture;

static int open_fixture(void **state) {
  static fixture f;
  f.context = calm_context_new(NULL);
  assert_non_null(f.context);
  arena_init(&f.arena, f.context);
  text_init(&f.text, f.context);
  *state = &f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  text_free(&f->text);
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  return 0;
}

static void a_text_grows(void **state) {
  fixture *f = *state;
  char *out;
  for (int i = 0; i < 1000; i++) text_format(&f->text, "%d;", i % 10);
  text_add(&f->text, "end\0of it", 3);
  assert_int_equal(f->text.length, 2003);
  assert_int_equal(text_finish(&f->text, &out), CALM_OK);
  assert_int_equal(strlen(out), 2003);
  assert_int_equal(strncmp(out, "0;1;2;", 6), 0);
  assert_string_equal(out + 2000, "end");
  assert_null(f->text.data);
  calm_text_free(f->context, out);
}

static void a_text_moves_into_an_arena(void **state) {
  fixture *f = *state;
  const char *out = NULL;
  text_format(&f->text, "%s", "words");
  assert_int_equal(text_keep(&f->text, &out, &f->arena), CALM_OK);
  assert_string_equal(out, "words");
  assert_null(f->text.data);
  assert_int_equal(text_keep(&f->text, &out, &f->arena), CALM_OK);
  assert_string_equal(out, "");
}

/* What went wrong on the way is told once, at its end. */
static void a_text_that_failed_goes_nowhere(void **state) {
  fixture *f = *state;
  const char *kept = "before";
  char *finished = NULL;
  text_format(&f->text, "words");
  f->text.failed = true;
  assert_int_equal(text_keep(&f->text, &kept, &f->arena), CALM_NO_MEMORY);
  assert_string_equal(kept, "before");
  text_format(&f->text, "words");
  f->text.failed = true;
  assert_int_equal(text_finish(&f->text, &finished), CALM_NO_MEMORY);
  assert_null(finished);
}

#define TEST(test) \
  cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(a_text_grows),
                                     TEST(a_text_moves_into_an_arena),
                                     TEST(a_text_that_failed_goes_nowhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
