#include "report/report_chart_axis.h"

#include <math.h>

#include "report_fixture.h"

static chart_axis axis_of(bool log, double least, double most, bool from_zero) {
  chart_axis axis;
  const chart_extent e = {true, least, most};
  chart_axis_fit(&axis, log, &e, from_zero, false);
  return axis;
}

static void assert_ticks(const chart_axis *axis, const char *expected) {
  char found[512] = "";
  for (uint32_t i = 0; i < axis->tick_count; i++) {
    if (i) strcat(found, " ");
    strcat(found, axis->ticks[i].label.text);
  }
  assert_string_equal(found, expected);
}

static void ticks_are_round(void **state) {
  static const struct {
    bool log, from_zero;
    double least, most;
    const char *ticks;
  } rows[] = {
      {false, true, 3, 97, "0 20 40 60 80 100"},
      {false, true, 16.9, 1656, "0 500 1,000 1,500 2,000"},
      {false, false, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
      {false, false, -1, 3.2, "-1 0 1 2 3 4"},
      {false, false, 200704, 250880,
       "200,000 210,000 220,000 230,000 240,000 250,000 260,000"},
      {false, true, 5e8, 3e9, "0 5×10⁸ 10⁹ 1.5×10⁹ 2×10⁹ 2.5×10⁹ 3×10⁹"},
      {false, true, 0, 0.0003, "0 5×10⁻⁵ 10⁻⁴ 1.5×10⁻⁴ 2×10⁻⁴ 2.5×10⁻⁴ 3×10⁻⁴"},
      {false, true, 0, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
      {true, false, 32, 256, "20 50 100 200 500"},
      {true, false, 1, 1e6, "1 10 100 1,000 10,000 100,000 1,000,000"},
      {true, false, 1e3, 1e8, "1,000 10⁴ 10⁵ 10⁶ 10⁷ 10⁸"},
      {true, false, 1e-4, 1, "10⁻⁴ 0.001 0.01 0.1 1"},
      {true, true, 10, 20, "5 10 20"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const chart_axis axis =
        axis_of(rows[i].log, rows[i].least, rows[i].most, rows[i].from_zero);
    assert_ticks(&axis, rows[i].ticks);
  }
}

static void values_lie_on_the_axis(void **state) {
  (void)state;
  const double values[] = {1e-300, 0.001, 0.5, 1, 3, 77, 1e5, 1e300};
  for (int i = 0; i < 8; i++)
    for (int k = i; k < 8; k++)
      for (int way = 0; way < 4; way++) {
        const chart_axis axis = axis_of(way & 1, values[i], values[k], way & 2);
        const double low = chart_axis_place(&axis, values[i]);
        const double high = chart_axis_place(&axis, values[k]);
        assert_true(low >= -1e-9 && low <= high && high <= 1 + 1e-9);
        assert_true(axis.tick_count >= 1);
        for (uint32_t t = 1; t < axis.tick_count; t++)
          assert_true(axis.ticks[t].at > axis.ticks[t - 1].at);
      }
}

static void labels_are_short(void **state) {
  static const struct {
    double value;
    const char *label;
  } rows[] = {
      {0, "0"},          {-0.0, "0"},           {200.704, "201"},
      {16.856, "16.9"},  {1656, "1,656"},       {0.25, "0.25"},
      {1.68, "1.68"},    {-0.7, "-0.7"},        {0.0044, "0.0044"},
      {1e-5, "10⁻⁵"},    {3.456e7, "3.46×10⁷"}, {94740105460000.0, "9.47×10¹³"},
      {-2e10, "-2×10¹⁰"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(chart_label_of(rows[i].value).text, rows[i].label);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ticks_are_round),
                                     cmocka_unit_test(values_lie_on_the_axis),
                                     cmocka_unit_test(labels_are_short)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
