#include "report/report_chart_axis.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_name.h"

enum { WANTED_TICKS = 5, MOST_DECADES = 8 };

/* ---- Labels -------------------------------------------------------------- */

static char *add(char *to, const char *words) {
  const size_t length = strlen(words);
  memcpy(to, words, length + 1);
  return to + length;
}

/* "3e+07" as 3×10⁷, "1e-12" as 10⁻¹². */
static chart_label in_powers(const char *plain) {
  static const char *const high[] = {"⁰", "¹", "²", "³", "⁴",
                                     "⁵", "⁶", "⁷", "⁸", "⁹"};
  chart_label out;
  const char *e = strchr(plain, 'e');
  const size_t length = strcspn(plain, "e");
  snprintf(out.text, sizeof out.text, "%.*s", (int)length, plain);
  if (!e) return out;
  char *to = strcmp(out.text, "1") ? add(out.text + length, "×") : out.text;
  to = add(to, "10");
  if (e[1] == '-') to = add(to, "⁻");
  for (e += 2; *e == '0' && e[1];) e++;
  for (; *e; e++) to = add(to, high[*e - '0']);
  return out;
}

/* With so many digits behind the point, thousands apart; below 10 million. */
static chart_label in_digits(double value, int digits) {
  chart_label out;
  char plain[32];
  snprintf(plain, sizeof plain, "%.*f", digits, fabs(value));
  const bool zero = !plain[strspn(plain, "0.")];
  const char *behind = plain + strcspn(plain, ".");
  snprintf(out.text, sizeof out.text, "%s%.10s%.12s",
           value < 0 && !zero ? "-" : "",
           report_number(strtoull(plain, NULL, 10)).text, behind);
  return out;
}

static bool is_plain(double value) {
  return value == 0 || (fabs(value) >= 0.000995 && fabs(value) < 9999999.5);
}

chart_label chart_label_of(double value) {
  char plain[32];
  snprintf(plain, sizeof plain, "%.3g", value);
  if (!is_plain(value)) return in_powers(plain);
  const double shown = fabs(value) < 1000 ? strtod(plain, NULL) : round(value);
  int digits = 0;
  while (digits < 6 &&
         fabs(shown * pow(10, digits) - round(shown * pow(10, digits))) > 1e-6)
    digits++;
  return in_digits(shown, digits);
}

/* ---- Extents ------------------------------------------------------------- */

bool chart_shows(bool log, double value) {
  return isfinite(value) && !(log && value <= 0);
}

void chart_extent_add(chart_extent *e, bool log, double value) {
  if (!chart_shows(log, value)) return;
  if (!e->any || value < e->least) e->least = value;
  if (!e->any || value > e->most) e->most = value;
  e->any = true;
}

/* ---- Linear axes --------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, for about as many ticks as are wanted. */
static double step_of(double span) {
  const double wanted = span / WANTED_TICKS;
  const double power = pow(10, floor(log10(wanted)));
  const double factor = wanted / power;
  return power * (factor <= 1.2 ? 1 : factor <= 2.4 ? 2 : factor <= 6 ? 5 : 10);
}

static void add_tick(chart_axis *axis, double at, chart_label label) {
  if (axis->tick_count == CHART_MOST_TICKS || at < -1e-9 || at > 1 + 1e-9)
    return;
  axis->ticks[axis->tick_count++] = (chart_tick){at, label};
}

/* 0.0001 as 10⁻⁴, among others that are as small or smaller. */
static chart_label label_as_power(double value) {
  char plain[32];
  if (value == 0) return (chart_label){"0"};
  snprintf(plain, sizeof plain, "%.2e", value);
  char *end = strchr(plain, 'e'), *kept = end;
  while (kept[-1] == '0') kept--;
  if (kept[-1] == '.') kept--;
  memmove(kept, end, strlen(end) + 1);
  return in_powers(plain);
}

static chart_label label_of_tick(double value, double step, double largest) {
  if (!is_plain(largest) || !is_plain(step)) return label_as_power(value);
  const int digits = (int)-floor(log10(step) + 1e-9);
  return in_digits(value, digits > 0 ? digits : 0);
}

/* Halves, so that a span between the largest numbers is one as well. */
static double share_between(double value, double low, double high) {
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

static void put_ticks(chart_axis *axis, double step) {
  const double largest = fmax(fabs(axis->low), fabs(axis->high));
  const double first = ceil(axis->low / step - 1e-9);
  for (int i = 0; i < CHART_MOST_TICKS; i++) {
    const double value = (first + i) * step;
    if (value > axis->high + step * 1e-6) break;
    add_tick(axis, share_between(value, axis->low, axis->high),
             label_of_tick(value, step, largest));
  }
}

/* Where no step can be: between numbers that differ too little, or by more
   than a number holds. */
static void put_ends(chart_axis *axis) {
  add_tick(axis, 0, chart_label_of(axis->low));
  add_tick(axis, 1, chart_label_of(axis->high));
}

static void fit_linear(chart_axis *axis, const chart_extent *e, bool from_zero,
                       bool tight) {
  double low = e->least, high = e->most;
  if (from_zero) {
    low = fmin(low, 0);
    high = fmax(high, 0);
  }
  if (!(high - low > fmax(fabs(high), 1e-290) * 1e-12)) {
    high += high == 0 ? 1 : fabs(high) * 0.5;
    if (!from_zero) low -= low == 0 ? 0 : fabs(low) * 0.5;
  }
  const double step = isfinite(high - low) ? step_of(high - low) : 0;
  const bool stepped = isnormal(step) && isfinite(step * WANTED_TICKS * 4);
  axis->low = stepped && !tight ? floor(low / step + 1e-9) * step : low;
  axis->high = stepped && !tight ? ceil(high / step - 1e-9) * step : high;
  if (stepped)
    put_ticks(axis, step);
  else
    put_ends(axis);
}

/* ---- Logarithmic axes ---------------------------------------------------- */

/* The next of 1, 2 and 5 times powers of ten at or below a logarithm, or at or
   above it. */
static double snap(double logarithm, bool up) {
  static const double parts[] = {0, 0.30102999566398120, 0.69897000433601880,
                                 1};
  const double power = floor(logarithm + 1e-9);
  for (int i = 0; i < 4; i++) {
    const double below = parts[i], above = i < 3 ? parts[i + 1] : 1;
    if (up && power + below >= logarithm - 1e-9) return power + below;
    if (!up && power + above > logarithm + 1e-9) return power + below;
  }
  return power + 1;
}

/* In digits as long as that suits the whole axis. */
static chart_label label_of_power(const chart_axis *axis, int factor,
                                  int power) {
  char plain[32];
  const int most = axis->high > 6.5 ? 4 : 7;
  if (power >= -3 && power < most)
    return chart_label_of(factor * pow(10, power));
  snprintf(plain, sizeof plain, "%de%c%d", factor, power < 0 ? '-' : '+',
           abs(power));
  return in_powers(plain);
}

static void put_powers(chart_axis *axis) {
  static const int factors[] = {1, 2, 5};
  const double length = axis->high - axis->low;
  const int first = (int)floor(axis->low), last = (int)ceil(axis->high);
  const int stride = 1 + (int)(length / MOST_DECADES);
  for (int power = first; power <= last; power++) {
    if (length > 2.5 && power % stride) continue;
    for (int i = 0; i < (length > 2.5 ? 1 : 3); i++)
      add_tick(axis, (power + log10(factors[i]) - axis->low) / length,
               label_of_power(axis, factors[i], power));
  }
}

static void fit_logarithmic(chart_axis *axis, const chart_extent *e,
                            bool from_zero, bool tight) {
  const double least = log10(e->least), most = log10(e->most);
  axis->low = tight ? least : snap(from_zero ? least - 0.1 : least, false);
  axis->high = tight ? most : snap(most, true);
  if (axis->high - axis->low > 3 && !tight) {
    axis->low = floor(axis->low + 1e-9);
    axis->high = ceil(axis->high - 1e-9);
  }
  if (axis->high - axis->low < 1e-9) {
    axis->low = snap(least - 0.01, false);
    axis->high = snap(most + 0.01, true);
  }
  put_powers(axis);
}

/* ---- Both ---------------------------------------------------------------- */

void chart_axis_fit(chart_axis *out, bool log, const chart_extent *extent,
                    bool from_zero, bool tight) {
  const chart_extent none = {true, 1, 10};
  *out = (chart_axis){.log = log};
  if (!extent->any) {
    extent = &none;
    from_zero = !log;
  }
  if (log)
    fit_logarithmic(out, extent, from_zero, tight);
  else
    fit_linear(out, extent, from_zero, tight);
}

double chart_axis_place(const chart_axis *axis, double value) {
  if (axis->log) return (log10(value) - axis->low) / (axis->high - axis->low);
  return share_between(value, axis->low, axis->high);
}
