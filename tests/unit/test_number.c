#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/number.h"

static void test_decimals(void **state) {
  static const char *const bad[] = {"",    ".",   "1.2.3", "-1",
                                    "1e3", "inf", "1 ",    "1234567890.12345"};
  (void)state;
  double x;
  assert_true(number_parse_decimal(&x, "0.5") && x == 0.5);
  assert_true(number_parse_decimal(&x, "12") && x == 12);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(number_parse_decimal(&x, bad[i]));
}

static void sizes_as_people_write_them(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0},        {"65536", 65536},
              {"64K", 65536},  {"64KiB", 65536},
              {"1M", 1048576}, {"2GiB", UINT64_C(2) << 30},
              {"512B", 512},   {"4096G", UINT64_C(4096) << 30}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    uint64_t bytes = 1;
    assert_true(number_parse_size(&bytes, good[i].text));
    assert_int_equal(bytes, good[i].bytes);
  }
  static const char *const bad[] = {"",        "K",    "-1",
                                    "1.5M",    "64 K", "1k",
                                    "0x",      "1KB",  "99999999999999999999",
                                    "8388608T"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t bytes;
    assert_false(number_parse_size(&bytes, bad[i]));
  }
}

static void arithmetic_stops_at_the_limit(void **state) {
  (void)state;
  uint64_t out = 7;
  assert_true(number_add(&out, NUMBER_MAX_BYTES - 1, 1));
  assert_int_equal(out, NUMBER_MAX_BYTES);
  assert_false(number_add(&out, NUMBER_MAX_BYTES, 1));
  assert_false(number_multiply(&out, UINT64_C(1) << 32, UINT64_C(1) << 31));
  assert_true(number_multiply(&out, UINT64_C(1) << 31, UINT64_C(1) << 31));
  assert_int_equal(number_round_up(17, 16), 32);
  assert_int_equal(number_round_up(32, 16), 32);
  assert_int_equal(number_gcd(12, 18), 6);
  assert_int_equal(number_gcd(0, 5), 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_as_people_write_them),
      cmocka_unit_test(test_decimals),
      cmocka_unit_test(arithmetic_stops_at_the_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
