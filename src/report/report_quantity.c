#include "report/report_quantity.h"

#include <math.h>
#include <stdio.h>

report_unit report_energy_unit(double largest_pj) {
  static const report_unit units[] = {{"pJ", "energy pJ", 1},
                                      {"nJ", "energy nJ", 1e3},
                                      {"uJ", "energy uJ", 1e6},
                                      {"mJ", "energy mJ", 1e9},
                                      {"J", "energy J", 1e12}};
  size_t i = 0;
  while (i + 1 < sizeof units / sizeof *units && largest_pj >= units[i + 1].pj)
    i++;
  return units[i];
}

/* Beyond what a whole number holds exactly, figures stand as they are. */
static bool has_digits(double n) { return fabs(n) < 9e15; }

static report_digits in_powers(double n) {
  report_digits out;
  snprintf(out.text, sizeof out.text, "%.6g", n);
  return out;
}

/* Thousands apart, and three digits behind the point. */
static report_digits with_point(double n) {
  report_digits out;
  const double thousandths = round(n * 1000);
  if (!has_digits(thousandths)) return in_powers(n);
  const uint64_t all = (uint64_t)thousandths;
  snprintf(out.text, sizeof out.text, "%.26s.%03u",
           report_number(all / 1000).text, (unsigned)(all % 1000));
  return out;
}

/* As far as three digits show, and the last bits of a sum do not. */
static bool is_whole(double n) { return fabs(n - round(n)) < 0.0005; }

report_digits report_energy(double pj, report_unit unit) {
  const double n = pj / unit.pj;
  if (n > 0 && n < 0.0005) return (report_digits){"<0.001"};
  return n < 0 ? in_powers(n) : with_point(n);
}

report_digits report_four(double n) {
  report_digits out;
  if (n >= 999.95 && has_digits(n)) return report_number((uint64_t)round(n));
  snprintf(out.text, sizeof out.text, "%#.4g", n);
  return out;
}

report_digits report_real(double n) {
  if (n < 0 || !has_digits(n)) return in_powers(n);
  return is_whole(n) ? report_number((uint64_t)round(n)) : with_point(n);
}

report_digits report_signed(double n) {
  report_digits out;
  if (n == 0) return (report_digits){"0"};
  snprintf(out.text, sizeof out.text, "%c%.30s", n < 0 ? '-' : '+',
           report_real(fabs(n)).text);
  return out;
}

report_digits report_energy_change(double pj, report_unit unit) {
  report_digits out;
  if (pj == 0) return (report_digits){"0"};
  snprintf(out.text, sizeof out.text, "%c%.30s", pj < 0 ? '-' : '+',
           report_energy(fabs(pj), unit).text);
  return out;
}

report_digits report_change(double before, double after) {
  report_digits out;
  if (before == after) return (report_digits){""};
  if (before == 0) return (report_digits){"new"};
  snprintf(out.text, sizeof out.text, "%+.1f %%",
           100 * (after - before) / before);
  return out;
}

report_digits report_share(double part, double whole) {
  report_digits out;
  snprintf(out.text, sizeof out.text, "%.1f %%",
           whole > 0 ? 100 * part / whole : 0.0);
  return out;
}
