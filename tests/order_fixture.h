/* One context and one problem builder for all tests of a program; tear_down
   fails in an asserting build if the context still holds anything. */
#ifndef CALM_TESTS_ORDER_FIXTURE_H
#define CALM_TESTS_ORDER_FIXTURE_H

#include "order_cases.h"

static calm_context *context;
static problem_builder builder;

static int set_up(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  return context == NULL;
}

static int tear_down(void **state) {
  (void)state;
  calm_context_free(context);
  return 0;
}

#endif
