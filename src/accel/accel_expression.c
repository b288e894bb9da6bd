#include "accel/accel_expression.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses in parentheses and names of names together. */
enum { MAX_DEPTH = 48, MAX_LENGTH = 1024 };
/* Of names that stand for expressions of names, a few lines can ask for many
   evaluations. */
enum { MAX_STEPS = 20000 };
#define EXHAUSTED "nested too deep, or names that stand for each other"

typedef enum value_kind {
  INTEGER,
  REAL,
  WORD, /* a text, which can be handed on but not calculated with */
  FLAW  /* no value: `text` says why */
} value_kind;

/* Values without a value pass through what is done with them, so that of
   `1 / n if n else 0` only the part counts that is chosen. */
typedef struct value {
  value_kind kind;
  bool unsupported; /* the flaw is that calm does not do it */
  int64_t integer;
  double real;
  const char *text;
} value;

/* One evaluation with all that it looks up. */
typedef struct evaluation {
  arena *arena;
  const accel_scope *scope;
  uint32_t layer; /* names are looked up from here outwards */
  uint32_t depth, steps;
  bool no_memory;
  bool exhausted; /* too deep or too long: the flaw of all */
} evaluation;

/* A text that is being read. */
typedef struct reader {
  evaluation *e;
  const char *at;
  value broken; /* what is wrong with the syntax; its text is NULL if nothing */
} reader;

static value whole(int64_t integer) {
  return (value){.kind = INTEGER, .integer = integer};
}

static value real(double number) {
  return (value){.kind = REAL, .real = number};
}

PRINTF_LIKE(3, 4)
static value flaw(evaluation *e, bool unsupported, const char *format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  value v = {.kind = FLAW, .unsupported = unsupported};
  v.text = arena_string(e->arena, line, strlen(line));
  if (!v.text) {
    e->no_memory = true;
    v.text = "";
  }
  return v;
}

/* ---- Arithmetic ---------------------------------------------------------- */

static double number_of(value v) {
  return v.kind == INTEGER ? (double)v.integer : v.real;
}

/* The first that is no number, if there is one. */
static bool lacks_number(evaluation *e, value *out, value a, value b) {
  const value *first = a.kind == FLAW || a.kind == WORD ? &a : &b;
  if (first->kind == INTEGER || first->kind == REAL) return false;
  *out = first->kind == FLAW
             ? *first
             : flaw(e, false, "'%s' is not a number", first->text);
  return true;
}

static value checked_real(evaluation *e, double number) {
  if (isfinite(number)) return real(number);
  return flaw(e, false, "a result is not a finite number");
}

static value checked_whole(evaluation *e, bool overflow, int64_t integer) {
  if (!overflow) return whole(integer);
  return flaw(e, false, "a whole number beyond 64 bits");
}

static value add(evaluation *e, value a, value b) {
  int64_t sum;
  if (a.kind != INTEGER || b.kind != INTEGER)
    return checked_real(e, number_of(a) + number_of(b));
  const bool over = __builtin_add_overflow(a.integer, b.integer, &sum);
  return checked_whole(e, over, sum);
}

static value subtract(evaluation *e, value a, value b) {
  int64_t difference;
  if (a.kind != INTEGER || b.kind != INTEGER)
    return checked_real(e, number_of(a) - number_of(b));
  const bool over = __builtin_sub_overflow(a.integer, b.integer, &difference);
  return checked_whole(e, over, difference);
}

static value multiply(evaluation *e, value a, value b) {
  int64_t product;
  if (a.kind != INTEGER || b.kind != INTEGER)
    return checked_real(e, number_of(a) * number_of(b));
  const bool over = __builtin_mul_overflow(a.integer, b.integer, &product);
  return checked_whole(e, over, product);
}

/* The quotient rounded down, and the remainder of the divisor's sign. */
static value divide_down(evaluation *e, value a, value b, bool remainder) {
  if (number_of(b) == 0) return flaw(e, false, "a division by zero");
  if (a.kind != INTEGER || b.kind != INTEGER) {
    const double x = number_of(a), y = number_of(b);
    const double quotient = floor(x / y);
    if (!remainder) return checked_real(e, quotient);
    const double rest = fmod(x, y);
    return checked_real(e,
                        rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  }
  if (b.integer == -1) return remainder ? whole(0) : subtract(e, whole(0), a);
  const int64_t rest = a.integer % b.integer;
  const bool down = rest != 0 && (rest < 0) != (b.integer < 0);
  if (remainder) return whole(down ? rest + b.integer : rest);
  return whole(a.integer / b.integer - down);
}

static value power(evaluation *e, value a, value b) {
  if (a.kind != INTEGER || b.kind != INTEGER || b.integer < 0) {
    if (number_of(a) == 0 && number_of(b) < 0)
      return flaw(e, false, "a division by zero");
    return checked_real(e, pow(number_of(a), number_of(b)));
  }
  int64_t product = 1, base = a.integer;
  bool over = false;
  for (int64_t left = b.integer; left > 0 && !over;) {
    if (left & 1) over |= __builtin_mul_overflow(product, base, &product);
    left >>= 1;
    if (left) over |= __builtin_mul_overflow(base, base, &base);
  }
  return checked_whole(e, over, product);
}

typedef enum operation {
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  DIVIDE_DOWN,
  REMAINDER,
  POWER,
  NO_OPERATION
} operation;

static value operate(evaluation *e, operation op, value a, value b) {
  value out;
  if (lacks_number(e, &out, a, b)) return out;
  switch (op) {
    case ADD: return add(e, a, b);
    case SUBTRACT: return subtract(e, a, b);
    case MULTIPLY: return multiply(e, a, b);
    case DIVIDE:
      if (number_of(b) == 0) return flaw(e, false, "a division by zero");
      return checked_real(e, number_of(a) / number_of(b));
    case DIVIDE_DOWN: return divide_down(e, a, b, false);
    case REMAINDER: return divide_down(e, a, b, true);
    default: return power(e, a, b);
  }
}

/* ---- Functions ----------------------------------------------------------- */

enum { MAX_ARGUMENTS = 16 };

static value rounded(evaluation *e, value v, double (*how)(double)) {
  if (v.kind == INTEGER) return v;
  const double number = how(v.real);
  if (fabs(number) > 9007199254740992.0)
    return flaw(e, false, "a whole number beyond 2^53");
  return whole((int64_t)number);
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
    const double a = number_of(v[i]), b = number_of(v[best]);
    if (largest ? a > b : a < b) best = i;
  }
  return v[best];
}

static value call_one(evaluation *e, const char *name, value v) {
  const double x = number_of(v);
  if (!strcmp(name, "ceil")) return rounded(e, v, ceil);
  if (!strcmp(name, "floor")) return rounded(e, v, floor);
  if (!strcmp(name, "round")) return rounded(e, v, round_half_even);
  if (!strcmp(name, "abs")) return x < 0 ? subtract(e, whole(0), v) : v;
  if (!strcmp(name, "sqrt"))
    return x < 0 ? flaw(e, false, "sqrt of a negative number") : real(sqrt(x));
  return x <= 0 ? flaw(e, false, "log2 of a number that is not positive")
                : real(log2(x));
}

static bool is_one_of(const char *text, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}

static const char *const of_one[] = {"ceil", "floor", "round", "log2",
                                     "sqrt", "abs",   NULL};
static const char *const of_many[] = {"min", "max", NULL};

static value call(evaluation *e, const char *name, const value *arguments,
                  uint32_t count) {
  value out;
  const bool many = is_one_of(name, of_many);
  if (count == 0 || (!many && count > 1))
    return flaw(e, true, "'%s' with %u arguments", name, count);
  for (uint32_t i = 0; i < count; i++)
    if (lacks_number(e, &out, arguments[i], arguments[i])) return out;
  return many ? extreme(arguments, count, !strcmp(name, "max"))
              : call_one(e, name, arguments[0]);
}

/* ---- Names --------------------------------------------------------------- */

static value evaluate_text(evaluation *e, const char *text);

static const char *const truths[] = {"True", "true", "TRUE", NULL};
static const char *const falsehoods[] = {"False", "false", "FALSE", NULL};

/* What an expression means that stands in the given layer. */
static value evaluate_from(evaluation *e, uint32_t layer, const char *text) {
  const uint32_t here = e->layer;
  e->layer = layer;
  const value v = evaluate_text(e, text);
  e->layer = here;
  return v;
}

/* What a name stands for: the nearest value that is not the one that asks for
   it (`width: width` means the width outside). */
static value look_up(evaluation *e, const char *name) {
  if (is_one_of(name, truths)) return whole(1);
  if (is_one_of(name, falsehoods)) return whole(0);
  for (uint32_t i = e->layer; i < ACCEL_SCOPE_LAYERS; i++) {
    const accel_yaml *found = accel_yaml_get(e->scope->layers[i], name);
    if (!found) continue;
    if (found->kind != ACCEL_YAML_SCALAR)
      return flaw(e, true, "'%s' is a list or a mapping", name);
    if (found->quoted) return (value){.kind = WORD, .text = found->text};
    if (!strcmp(found->text, name)) continue;
    return evaluate_from(e, i, found->text);
  }
  return flaw(e, false, "no variable or attribute is named '%s'", name);
}

/* ---- Syntax -------------------------------------------------------------- */

static value read_choice(reader *r);

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static value broken(reader *r, value why) {
  if (!r->broken.text) r->broken = why;
  return why;
}

/* One more reader inside of the others; the caller takes it back. */
static bool enter(reader *r) {
  r->e->depth++;
  if (r->e->depth <= MAX_DEPTH && ++r->e->steps <= MAX_STEPS) return true;
  r->e->exhausted = true;
  broken(r, flaw(r->e, true, "%s", EXHAUSTED));
  return false;
}

/* How many bytes of a text to show, so that no character is cut. */
static int shown(const char *text) {
  enum { MOST = 12 };
  int count = 0;
  while (text[count] && count < MOST) count++;
  while (count > 1 && ((unsigned char)text[count] & 0xc0) == 0x80) count--;
  return count;
}

static void skip_blanks(reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
    r->at++;
}

/* Take a sign, unless it is the beginning of a longer one. */
static bool take(reader *r, const char *sign) {
  const size_t length = strlen(sign);
  skip_blanks(r);
  if (strncmp(r->at, sign, length)) return false;
  const char next = r->at[length];
  if (is_letter(*sign) && (is_letter(next) || is_digit(next))) return false;
  if (length == 1 && (next == *sign) && strchr("*/=", next)) return false;
  r->at += length;
  return true;
}

static value read_number(reader *r) {
  char *end;
  const char *digits = r->at;
  size_t length = 0;
  while (is_digit(digits[length])) length++;
  if (!strchr(".eE_xX", digits[length]) || !digits[length]) {
    errno = 0;
    const int64_t integer = strtoll(digits, &end, 10);
    r->at = end;
    return checked_whole(r->e, errno == ERANGE, integer);
  }
  if (strchr("_xX", digits[length]))
    return broken(r,
                  flaw(r->e, false, "'%.20s' is not a decimal number", digits));
  const double number = strtod(digits, &end);
  r->at = end;
  return checked_real(r->e, number);
}

static value read_call(reader *r, const char *name) {
  value arguments[MAX_ARGUMENTS];
  uint32_t count = 0;
  if (!is_one_of(name, of_one) && !is_one_of(name, of_many))
    return broken(
        r, flaw(r->e, true, "calm does not know the function '%s'", name));
  while (!take(r, ")")) {
    if (count == MAX_ARGUMENTS)
      return broken(r, flaw(r->e, true, "'%s' with more than %d arguments",
                            name, MAX_ARGUMENTS));
    arguments[count++] = read_choice(r);
    if (r->broken.text) return r->broken;
    if (take(r, ")")) break;
    if (!take(r, ","))
      return broken(r, flaw(r->e, false,
                            "')' is missing after the arguments "
                            "of '%s'",
                            name));
  }
  return call(r->e, name, arguments, count);
}

static value read_name(reader *r) {
  char name[64];
  uint32_t length = 0;
  for (; is_letter(*r->at) || is_digit(*r->at); r->at++) {
    if (length + 1 == sizeof name)
      return broken(r, flaw(r->e, true, "a name of more than 63 letters"));
    name[length++] = *r->at;
  }
  name[length] = '\0';
  if (take(r, "(")) return read_call(r, name);
  if (*r->at == '.' || *r->at == '[')
    return broken(r, flaw(r->e, true, "calm does not look into '%s'", name));
  return look_up(r->e, name);
}

static value read_primary(reader *r) {
  skip_blanks(r);
  if (is_digit(*r->at) || (*r->at == '.' && is_digit(r->at[1])))
    return read_number(r);
  if (is_letter(*r->at)) return read_name(r);
  if (take(r, "(")) {
    const value inside = read_choice(r);
    if (!r->broken.text && !take(r, ")"))
      return broken(r, flaw(r->e, false, "')' is missing"));
    return inside;
  }
  if (*r->at)
    return broken(
        r, flaw(r->e, false, "'%.*s' cannot stand here", shown(r->at), r->at));
  return broken(r, flaw(r->e, false, "something is missing at its end"));
}

static value read_unary(reader *r);

/* ** binds stronger than a sign before it, and weaker than one after it. */
static value read_power(reader *r) {
  const value base = read_primary(r);
  if (r->broken.text || !take(r, "**")) return base;
  const value exponent = enter(r) ? read_unary(r) : r->broken;
  r->e->depth--;
  return operate(r->e, POWER, base, exponent);
}

static value read_unary(reader *r) {
  bool negative = false;
  for (;;) {
    if (take(r, "-"))
      negative = !negative;
    else if (!take(r, "+"))
      break;
  }
  const value v = read_power(r);
  return negative ? operate(r->e, SUBTRACT, whole(0), v) : v;
}

static operation take_product_sign(reader *r) {
  if (take(r, "//")) return DIVIDE_DOWN;
  if (take(r, "*")) return MULTIPLY;
  if (take(r, "/")) return DIVIDE;
  return take(r, "%") ? REMAINDER : NO_OPERATION;
}

static value read_product(reader *r) {
  value v = read_unary(r);
  for (operation op;
       !r->broken.text && (op = take_product_sign(r)) != NO_OPERATION;)
    v = operate(r->e, op, v, read_unary(r));
  return v;
}

static value read_sum(reader *r) {
  value v = read_product(r);
  while (!r->broken.text) {
    if (take(r, "+"))
      v = operate(r->e, ADD, v, read_product(r));
    else if (take(r, "-"))
      v = operate(r->e, SUBTRACT, v, read_product(r));
    else
      break;
  }
  return v;
}

static value compare(reader *r, uint32_t sign, value a, value b) {
  value out;
  if ((sign == 2 || sign == 3) && a.kind == WORD && b.kind == WORD)
    return whole(!strcmp(a.text, b.text) == (sign == 2));
  if (lacks_number(r->e, &out, a, b)) return out;
  const double x = number_of(a), y = number_of(b);
  const bool results[] = {x <= y, x >= y, x == y, x != y, x<y, x> y};
  return whole(results[sign]);
}

static value read_comparison(reader *r) {
  static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"};
  const value left = read_sum(r);
  for (uint32_t i = 0; i < 6 && !r->broken.text; i++)
    if (take(r, signs[i])) return compare(r, i, left, read_sum(r));
  return left;
}

/* `a if c else b`, where b may be such a choice again. */
static value choose(reader *r, value chosen) {
  const value condition = read_comparison(r);
  if (!r->broken.text && !take(r, "else"))
    broken(r, flaw(r->e, false, "'else' is missing"));
  const value other = r->broken.text ? condition : read_choice(r);
  value out;
  if (lacks_number(r->e, &out, condition, condition)) return out;
  return number_of(condition) == 0 ? other : chosen;
}

static value read_choice(reader *r) {
  value v = r->broken;
  if (enter(r)) v = read_comparison(r);
  if (!r->broken.text && take(r, "if")) v = choose(r, v);
  r->e->depth--;
  return v;
}

static value evaluate_text(evaluation *e, const char *text) {
  reader r = {.e = e, .at = text};
  if (strlen(text) > MAX_LENGTH)
    return flaw(e, true, "longer than %d characters", MAX_LENGTH);
  const value v = read_choice(&r);
  skip_blanks(&r);
  if (!r.broken.text && *r.at)
    broken(&r, flaw(e, false, "'%.*s' cannot stand there", shown(r.at), r.at));
  return r.broken.text ? r.broken : v;
}

/* ---- Values of files ----------------------------------------------------- */

static bool needs_evaluation(const accel_yaml *node) {
  char *end;
  if (node->kind != ACCEL_YAML_SCALAR || node->quoted || !*node->text)
    return false;
  if (is_one_of(node->text, truths) || is_one_of(node->text, falsehoods))
    return false;
  strtod(node->text, &end);
  return *end != '\0';
}

/* A scalar that says what was found, where the expression stood. */
static calm_status new_scalar(const accel_yaml **out, const accel_yaml *node,
                              value v, arena *a) {
  char digits[32];
  accel_yaml *copy;
  const char *text = v.text;
  if (v.kind == INTEGER)
    snprintf(digits, sizeof digits, "%lld", (long long)v.integer);
  if (v.kind == REAL) snprintf(digits, sizeof digits, "%.17g", v.real);
  if (v.kind == INTEGER || v.kind == REAL) text = digits;
  if (v.kind == FLAW) text = node->text;
  ARENA_ARRAY(a, copy, 1);
  *copy = *node;
  copy->text = arena_string(a, text, strlen(text));
  if (!copy->text) return context_no_memory(a->context);
  copy->quoted = v.kind == WORD;
  copy->flaw = v.kind == FLAW ? v.text : NULL;
  copy->unsupported = v.kind == FLAW && v.unsupported;
  *out = copy;
  return CALM_OK;
}

calm_status accel_expression_evaluate(const accel_yaml **out,
                                      const accel_yaml *node,
                                      const accel_scope *scope, arena *a) {
  evaluation e = {.arena = a, .scope = scope};
  *out = node;
  if (!needs_evaluation(node)) return CALM_OK;
  value v = evaluate_text(&e, node->text);
  if (e.exhausted) v = flaw(&e, true, "%s", EXHAUSTED);
  if (e.no_memory) return context_no_memory(a->context);
  return new_scalar(out, node, v, a);
}
