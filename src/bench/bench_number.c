/* Numbers of tables, for people and for programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_output.h"
#include "report/report_quantity.h"

static report_digits formatted(const char *format, double n) {
  report_digits out;
  snprintf(out.text, sizeof out.text, format, n);
  return out;
}

/* Below this a double holds every tenth of a thousand. */
static const double most_grouped = 1e12;

/* 1,234.5: bytes in units of 1000. */
static report_digits kilobytes(double bytes) {
  report_digits out;
  const double tenths = round(bytes / 100);
  if (tenths >= most_grouped) return formatted("%.6g", bytes / 1000);
  const uint64_t all = (uint64_t)tenths;
  snprintf(out.text, sizeof out.text, "%.28s.%u", report_number(all / 10).text,
           (unsigned)(all % 10));
  return out;
}

static report_digits ratio(double n) {
  if (n >= 999.995 && n < most_grouped)
    return report_number((uint64_t)round(n));
  return formatted(
      n < most_grouped && (n == 0 || n >= 0.0995) ? "%.2f" : "%.3g", n);
}

/* What is almost all is not shown as all. */
static report_digits share(double n) {
  const bool almost = n < 1 && n >= 0.9995;
  return formatted(almost ? "%.5g %%" : "%.3g %%", n * 100);
}

/* Three digits, and none in powers of ten: times stand below each other. */
static report_digits seconds(double n) {
  report_digits out;
  if (n >= 999.5 && n < most_grouped) return report_number((uint64_t)round(n));
  if (n == 0 || n < 1e-9 || n >= most_grouped) return formatted("%.3g", n);
  const int digits = 2 - (int)floor(log10(n));
  snprintf(out.text, sizeof out.text, "%.*f", digits > 0 ? digits : 0, n);
  return out;
}

/* Up to four digits, without zeros at the end. */
static report_digits real(double n) {
  if (n >= 999.95) return report_four(n);
  return formatted("%.4g", n);
}

static report_digits shown_above_zero(bench_kind kind, double n) {
  switch (kind) {
    case BENCH_COUNT: return report_real(n);
    case BENCH_KB: return kilobytes(n);
    case BENCH_RATIO: return ratio(n);
    case BENCH_SHARE: return share(n);
    case BENCH_SECONDS: return seconds(n);
    case BENCH_REAL:
    case BENCH_WORDS: break;
  }
  return real(n);
}

report_digits bench_shown(bench_kind kind, double n) {
  report_digits out;
  if (isnan(n)) return (report_digits){"-"};
  if (isinf(n)) return formatted("%g", n);
  if (n >= 0) return shown_above_zero(kind, fabs(n));
  snprintf(out.text, sizeof out.text, "-%.30s",
           shown_above_zero(kind, -n).text);
  return out;
}

report_digits bench_digits(double n) {
  report_digits out = {""};
  if (isnan(n)) return out;
  if (isinf(n)) return bench_shown(BENCH_REAL, n);
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out.text, sizeof out.text, "%.*g", digits, n);
    if (strtod(out.text, NULL) == n) break;
  }
  return out;
}
