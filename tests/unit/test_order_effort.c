#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order/order_effort.h"

static void two_deaths_foretell(void **state) {
  (void)state;
  order_effort e = {0};
  assert_int_equal(order_effort_predict(&e, 10), UINT64_MAX);
  order_effort_note(&e, 4, 100);
  assert_int_equal(order_effort_predict(&e, 10), UINT64_MAX);
  order_effort_note(&e, 6, 200);
  assert_int_equal(order_effort_predict(&e, 5), UINT64_MAX);
  assert_int_equal(order_effort_predict(&e, 6), 200);
  assert_int_equal(order_effort_predict(&e, 7), 300);
  assert_int_equal(order_effort_predict(&e, 8), 400);
  assert_int_equal(order_effort_predict(&e, 12), 1600);
  assert_int_equal(order_effort_predict(&e, 1000), UINT64_MAX);
}

/* Only a death above the last one says something new; effort never falls. */
static void the_last_two_count(void **state) {
  (void)state;
  order_effort e = {0};
  order_effort_note(&e, 4, 100);
  order_effort_note(&e, 4, 7);
  order_effort_note(&e, 3, 7);
  assert_int_equal(e.deaths, 1);
  order_effort_note(&e, 8, 50);
  assert_int_equal(order_effort_predict(&e, UINT64_MAX), 50);
  order_effort_note(&e, 9, 150);
  assert_int_equal(order_effort_predict(&e, 10), 450);
}

static void extremes(void **state) {
  (void)state;
  order_effort e = {0};
  order_effort_note(&e, 0, 0);
  order_effort_note(&e, UINT64_C(1) << 61, 1);
  assert_int_equal(order_effort_predict(&e, UINT64_C(1) << 62), 1);
  e = (order_effort){0};
  order_effort_note(&e, 1, 1);
  order_effort_note(&e, 2, UINT64_MAX);
  assert_int_equal(order_effort_predict(&e, 3), UINT64_MAX);
  e = (order_effort){0};
  order_effort_note(&e, 1, 1024);
  order_effort_note(&e, 2, 1025);
  assert_true(order_effort_predict(&e, UINT64_C(1) << 62) > 1025);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_deaths_foretell),
                                     cmocka_unit_test(the_last_two_count),
                                     cmocka_unit_test(extremes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
