#include "accel/accel_arithmetic.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_count.h"

typedef accel_quantity value;

accel_quantity accel_make_whole(int64_t integer) {
  return (value){.kind = ACCEL_WHOLE, .integer = integer};
}

accel_quantity accel_make_flaw(arena *texts, bool unsupported,
                               const char *format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  value v = {.kind = ACCEL_FLAW, .unsupported = unsupported};
  v.text = arena_string(texts, line, strlen(line));
  v.no_memory = !v.text;
  if (!v.text) v.text = "";
  return v;
}

/* ---- Operators ----------------------------------------------------------- */

double accel_double_of(value v) {
  return v.kind == ACCEL_WHOLE ? (double)v.integer : v.real;
}

/* The first that is no number, if there is one. */
bool accel_lacks_number(arena *texts, value *out, value a, value b) {
  const value *first = a.kind == ACCEL_FLAW || a.kind == ACCEL_WORD ? &a : &b;
  if (first->kind == ACCEL_WHOLE || first->kind == ACCEL_REAL) return false;
  *out =
      first->kind == ACCEL_FLAW
          ? *first
          : accel_make_flaw(texts, false, "'%s' is not a number", first->text);
  return true;
}

accel_quantity accel_check_real(arena *texts, double number) {
  if (isfinite(number)) return (value){.kind = ACCEL_REAL, .real = number};
  return accel_make_flaw(texts, false, "a result is not a finite number");
}

accel_quantity accel_check_whole(arena *texts, bool overflow, int64_t integer) {
  if (!overflow) return accel_make_whole(integer);
  return accel_make_flaw(texts, false, "a whole number beyond 64 bits");
}

static value add(arena *texts, value a, value b) {
  int64_t sum;
  if (a.kind != ACCEL_WHOLE || b.kind != ACCEL_WHOLE)
    return accel_check_real(texts, accel_double_of(a) + accel_double_of(b));
  const bool over = __builtin_add_overflow(a.integer, b.integer, &sum);
  return accel_check_whole(texts, over, sum);
}

static value subtract(arena *texts, value a, value b) {
  int64_t difference;
  if (a.kind != ACCEL_WHOLE || b.kind != ACCEL_WHOLE)
    return accel_check_real(texts, accel_double_of(a) - accel_double_of(b));
  const bool over = __builtin_sub_overflow(a.integer, b.integer, &difference);
  return accel_check_whole(texts, over, difference);
}

static value multiply(arena *texts, value a, value b) {
  int64_t product;
  if (a.kind != ACCEL_WHOLE || b.kind != ACCEL_WHOLE)
    return accel_check_real(texts, accel_double_of(a) * accel_double_of(b));
  const bool over = __builtin_mul_overflow(a.integer, b.integer, &product);
  return accel_check_whole(texts, over, product);
}

/* The quotient rounded down, and the remainder of the divisor's sign. */
static value divide_down(arena *texts, value a, value b, bool remainder) {
  if (accel_double_of(b) == 0)
    return accel_make_flaw(texts, false, "a division by zero");
  if (a.kind != ACCEL_WHOLE || b.kind != ACCEL_WHOLE) {
    const double x = accel_double_of(a), y = accel_double_of(b);
    const double quotient = floor(x / y);
    if (!remainder) return accel_check_real(texts, quotient);
    const double rest = fmod(x, y);
    return accel_check_real(
        texts, rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  }
  if (b.integer == -1)
    return remainder ? accel_make_whole(0)
                     : subtract(texts, accel_make_whole(0), a);
  const int64_t rest = a.integer % b.integer;
  const bool down = rest != 0 && (rest < 0) != (b.integer < 0);
  if (remainder) return accel_make_whole(down ? rest + b.integer : rest);
  return accel_make_whole(a.integer / b.integer - down);
}

static value power(arena *texts, value a, value b) {
  if (a.kind != ACCEL_WHOLE || b.kind != ACCEL_WHOLE || b.integer < 0) {
    if (accel_double_of(a) == 0 && accel_double_of(b) < 0)
      return accel_make_flaw(texts, false, "a division by zero");
    return accel_check_real(texts, pow(accel_double_of(a), accel_double_of(b)));
  }
  int64_t product = 1, base = a.integer;
  bool over = false;
  for (int64_t left = b.integer; left > 0 && !over;) {
    if (left & 1) over |= __builtin_mul_overflow(product, base, &product);
    left >>= 1;
    if (left) over |= __builtin_mul_overflow(base, base, &base);
  }
  return accel_check_whole(texts, over, product);
}

accel_quantity accel_operate(arena *texts, accel_operation op, value a,
                             value b) {
  value out;
  if (accel_lacks_number(texts, &out, a, b)) return out;
  switch (op) {
    case ACCEL_ADD: return add(texts, a, b);
    case ACCEL_SUBTRACT: return subtract(texts, a, b);
    case ACCEL_MULTIPLY: return multiply(texts, a, b);
    case ACCEL_DIVIDE:
      if (accel_double_of(b) == 0)
        return accel_make_flaw(texts, false, "a division by zero");
      return accel_check_real(texts, accel_double_of(a) / accel_double_of(b));
    case ACCEL_DIVIDE_DOWN: return divide_down(texts, a, b, false);
    case ACCEL_REMAINDER: return divide_down(texts, a, b, true);
    default: return power(texts, a, b);
  }
}

/* ---- Functions ----------------------------------------------------------- */

static value rounded(arena *texts, value v, double (*how)(double)) {
  if (v.kind == ACCEL_WHOLE) return v;
  const double number = how(v.real);
  if (fabs(number) > (double)ACCEL_MAX_COUNT)
    return accel_make_flaw(texts, false, "a whole number beyond 2^53");
  return accel_make_whole((int64_t)number);
}

/* Halves to the even neighbour, whatever rounding the machine is set to. */
static double round_half_even(double x) {
  const double down = floor(x), rest = x - down;
  if (rest < 0.5) return down;
  if (rest > 0.5) return down + 1;
  return fmod(down, 2) == 0 ? down : down + 1;
}

static value extreme(const value *v, uint32_t count, bool largest) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; i++) {
    const double a = accel_double_of(v[i]), b = accel_double_of(v[best]);
    if (largest ? a > b : a < b) best = i;
  }
  return v[best];
}

static value call_one(arena *texts, const char *name, value v) {
  const double x = accel_double_of(v);
  if (!strcmp(name, "ceil")) return rounded(texts, v, ceil);
  if (!strcmp(name, "floor")) return rounded(texts, v, floor);
  if (!strcmp(name, "round")) return rounded(texts, v, round_half_even);
  if (!strcmp(name, "abs"))
    return x < 0 ? subtract(texts, accel_make_whole(0), v) : v;
  if (!strcmp(name, "sqrt"))
    return x < 0 ? accel_make_flaw(texts, false, "sqrt of a negative number")
                 : accel_check_real(texts, sqrt(x));
  return x <= 0 ? accel_make_flaw(texts, false,
                                  "log2 of a number that is not positive")
                : accel_check_real(texts, log2(x));
}

static bool is_one_of(const char *text, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}

static const char *const of_one[] = {"ceil", "floor", "round", "log2",
                                     "sqrt", "abs",   NULL};
static const char *const of_many[] = {"min", "max", NULL};

bool accel_knows_function(const char *name) {
  return is_one_of(name, of_one) || is_one_of(name, of_many);
}

accel_quantity accel_call_function(arena *texts, const char *name,
                                   const value *arguments, uint32_t count) {
  value out;
  const bool many = is_one_of(name, of_many);
  if (count == 0 || (!many && count > 1))
    return accel_make_flaw(texts, true, "'%s' with %u arguments", name, count);
  for (uint32_t i = 0; i < count; i++)
    if (accel_lacks_number(texts, &out, arguments[i], arguments[i])) return out;
  return many ? extreme(arguments, count, !strcmp(name, "max"))
              : call_one(texts, name, arguments[0]);
}
