/* Physical quantities as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "report/report_quantity.h"

static void units_suit_the_largest(void **state) {
  (void)state;
  static const struct {
    double largest_pj;
    const char *name, *title;
    double pj;
  } known[] = {
      {0, "pJ", "energy pJ", 1},      {999.9, "pJ", "energy pJ", 1},
      {1000, "nJ", "energy nJ", 1e3}, {123456789, "uJ", "energy uJ", 1e6},
      {1e9, "mJ", "energy mJ", 1e9},  {1e30, "J", "energy J", 1e12}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const report_unit unit = report_energy_unit(known[i].largest_pj);
    assert_string_equal(unit.name, known[i].name);
    assert_string_equal(unit.title, known[i].title);
    assert_true(unit.pj == known[i].pj);
  }
}

static void energies_have_three_digits(void **state) {
  (void)state;
  const report_unit nano = report_energy_unit(1000);
  assert_string_equal(report_energy(1234.5678, nano).text, "1.235");
  assert_string_equal(report_energy(1234567890, nano).text, "1,234,567.890");
  assert_string_equal(report_energy(0, nano).text, "0.000");
  assert_string_equal(report_energy(0.5, nano).text, "0.001");
  assert_string_equal(report_energy(0.4, nano).text, "<0.001");
  assert_string_equal(report_energy(-1500, nano).text, "-1.5");
  assert_string_equal(report_energy(1e30, nano).text, "1e+27");
}

/* "+0.000" would say that nothing changed. */
static void changes_of_energy_can_be_seen(void **state) {
  (void)state;
  const report_unit nano = report_energy_unit(1000);
  assert_string_equal(report_energy_change(1234.5678, nano).text, "+1.235");
  assert_string_equal(report_energy_change(-0.5, nano).text, "-0.001");
  assert_string_equal(report_energy_change(-0.4, nano).text, "-<0.001");
  assert_string_equal(report_energy_change(0, nano).text, "0");
}

static void four_digits_have_no_bare_point(void **state) {
  (void)state;
  assert_string_equal(report_four(1958.35).text, "1,958");
  assert_string_equal(report_four(999.96).text, "1,000");
  assert_string_equal(report_four(999.94).text, "999.9");
  assert_string_equal(report_four(54).text, "54.00");
  assert_string_equal(report_four(2.406e-7).text, "2.406e-07");
  assert_string_equal(report_four(1e20).text, "1.000e+20");
}

/* A sum that is off by its last bits is as whole as it was meant to be. */
static void counts_are_whole_where_they_are(void **state) {
  (void)state;
  assert_string_equal(report_real(301056).text, "301,056");
  assert_string_equal(report_real(7 + 1e-12).text, "7");
  assert_string_equal(report_real(7 - 1e-12).text, "7");
  assert_string_equal(report_real(4.5).text, "4.500");
  assert_string_equal(report_real(1e20).text, "1e+20");
  assert_string_equal(report_real(-2).text, "-2");
}

static void changes_have_signs(void **state) {
  (void)state;
  assert_string_equal(report_signed(1024).text, "+1,024");
  assert_string_equal(report_signed(-7).text, "-7");
  assert_string_equal(report_signed(-4.5).text, "-4.500");
  assert_string_equal(report_signed(0).text, "0");
  assert_string_equal(report_change(7, 8).text, "+14.3 %");
  assert_string_equal(report_change(8, 4).text, "-50.0 %");
  assert_string_equal(report_change(0, 4).text, "new");
  assert_string_equal(report_change(4, 4).text, "");
}

static void shares_are_of_something(void **state) {
  (void)state;
  assert_string_equal(report_share(1, 7).text, "14.3 %");
  assert_string_equal(report_share(0, 7).text, "0.0 %");
  assert_string_equal(report_share(1, 0).text, "0.0 %");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(units_suit_the_largest),
      cmocka_unit_test(energies_have_three_digits),
      cmocka_unit_test(changes_of_energy_can_be_seen),
      cmocka_unit_test(four_digits_have_no_bare_point),
      cmocka_unit_test(counts_are_whole_where_they_are),
      cmocka_unit_test(changes_have_signs),
      cmocka_unit_test(shares_are_of_something),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
