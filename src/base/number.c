#include "base/number.h"

#include <stdlib.h>
#include <string.h>

bool number_add(uint64_t *out, uint64_t a, uint64_t b) {
  if (a > NUMBER_MAX_BYTES || b > NUMBER_MAX_BYTES - a) return false;
  *out = a + b;
  return true;
}

bool number_multiply(uint64_t *out, uint64_t a, uint64_t b) {
  if (b && a > NUMBER_MAX_BYTES / b) return false;
  *out = a * b;
  return true;
}

uint64_t number_round_up(uint64_t bytes, uint64_t unit) {
  uint64_t rest = bytes % unit;
  return rest ? bytes + (unit - rest) : bytes;
}

uint64_t number_gcd(uint64_t a, uint64_t b) {
  while (a) {
    uint64_t rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}

bool number_parse(uint64_t *out, const char *text, size_t length) {
  uint64_t value = 0;
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

bool number_parse_decimal(double *out, const char *text) {
  const size_t length = strspn(text, "0123456789.");
  const char *point = strchr(text, '.');
  if (length == 0 || text[length] || length > 15) return false;
  if (point && (strchr(point + 1, '.') || length == 1)) return false;
  *out = strtod(text, NULL);
  return true;
}

bool number_parse_size(uint64_t *out, const char *text) {
  static const struct {
    const char *suffix;
    unsigned shift;
  } units[] = {{"", 0},     {"B", 0},  {"K", 10},   {"KiB", 10}, {"M", 20},
               {"MiB", 20}, {"G", 30}, {"GiB", 30}, {"T", 40},   {"TiB", 40}};
  size_t digits = strspn(text, "0123456789");
  uint64_t value;
  if (!number_parse(&value, text, digits)) return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!strcmp(text + digits, units[i].suffix))
      return number_multiply(out, value, UINT64_C(1) << units[i].shift);
  return false;
}
