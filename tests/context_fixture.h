/* One context for all tests of a program, which gives everything back. */
#ifndef CALM_TESTS_CONTEXT_FIXTURE_H
#define CALM_TESTS_CONTEXT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "calm/calm.h"

static calm_context *context;

static int set_up(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  return context == NULL;
}

static int tear_down(void **state) {
  (void)state;
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return 0;
}

#endif
