#include "accel/accel_expression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel_arithmetic.h"

/* Parentheses in parentheses and names of names together. */
enum { MAX_DEPTH = 48, MAX_LENGTH = 1024, MAX_ARGUMENTS = 16 };
/* Of names that stand for expressions of names, a few lines can ask for many
   evaluations. */
enum { MAX_STEPS = 20000 };
#define EXHAUSTED "nested too deep, or names that stand for each other"

typedef accel_quantity value;

/* One evaluation with all that it looks up. */
typedef struct evaluation {
  arena *arena;
  const accel_scope *scope;
  uint32_t layer; /* names are looked up from here outwards */
  uint32_t depth, steps;
  bool exhausted; /* too deep or too long: the flaw of all */
} evaluation;

/* A text that is being read. */
typedef struct reader {
  evaluation *e;
  const char *at;
  value broken; /* what is wrong with the syntax; its text is NULL if nothing */
} reader;

/* ---- Names --------------------------------------------------------------- */

static bool is_one_of(const char *text, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}

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
  if (is_one_of(name, truths)) return accel_make_whole(1);
  if (is_one_of(name, falsehoods)) return accel_make_whole(0);
  for (uint32_t i = e->layer; i < ACCEL_SCOPE_LAYERS; i++) {
    const accel_yaml *found = accel_yaml_get(e->scope->layers[i], name);
    if (!found) continue;
    if (found->kind != ACCEL_YAML_SCALAR)
      return accel_make_flaw(e->arena, true, "'%s' is a list or a mapping",
                             name);
    if (found->quoted) return (value){.kind = ACCEL_WORD, .text = found->text};
    if (!strcmp(found->text, name)) continue;
    return evaluate_from(e, i, found->text);
  }
  return accel_make_flaw(e->arena, false,
                         "no variable or attribute is named '%s'", name);
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
  broken(r, accel_make_flaw(r->e->arena, true, "%s", EXHAUSTED));
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
    if (*digits == '0' && length > 1)
      return broken(r, accel_make_flaw(r->e->arena, false,
                                       "'%.20s' begins with 0, which some take "
                                       "for octal",
                                       digits));
    errno = 0;
    const int64_t integer = strtoll(digits, &end, 10);
    r->at = end;
    return accel_check_whole(r->e->arena, errno == ERANGE, integer);
  }
  if (strchr("_xX", digits[length]))
    return broken(r,
                  accel_make_flaw(r->e->arena, false,
                                  "'%.20s' is not a decimal number", digits));
  const double number = strtod(digits, &end);
  r->at = end;
  return accel_check_real(r->e->arena, number);
}

static value read_call(reader *r, const char *name) {
  value arguments[MAX_ARGUMENTS];
  uint32_t count = 0;
  if (!accel_knows_function(name))
    return broken(
        r, accel_make_flaw(r->e->arena, true,
                           "calm does not know the function '%s'", name));
  while (!take(r, ")")) {
    if (count == MAX_ARGUMENTS)
      return broken(r, accel_make_flaw(r->e->arena, true,
                                       "'%s' with more than %d arguments", name,
                                       MAX_ARGUMENTS));
    arguments[count++] = read_choice(r);
    if (r->broken.text) return r->broken;
    if (take(r, ")")) break;
    if (!take(r, ","))
      return broken(r, accel_make_flaw(r->e->arena, false,
                                       "')' is missing after the arguments "
                                       "of '%s'",
                                       name));
  }
  return accel_call_function(r->e->arena, name, arguments, count);
}

static value read_name(reader *r) {
  char name[64];
  uint32_t length = 0;
  for (; is_letter(*r->at) || is_digit(*r->at); r->at++) {
    if (length + 1 == sizeof name)
      return broken(r, accel_make_flaw(r->e->arena, true,
                                       "a name of more than 63 letters"));
    name[length++] = *r->at;
  }
  name[length] = '\0';
  if (take(r, "(")) return read_call(r, name);
  if (*r->at == '.' || *r->at == '[')
    return broken(r, accel_make_flaw(r->e->arena, true,
                                     "calm does not look into '%s'", name));
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
      return broken(r, accel_make_flaw(r->e->arena, false, "')' is missing"));
    return inside;
  }
  if (*r->at)
    return broken(
        r, accel_make_flaw(r->e->arena, false, "'%.*s' cannot stand here",
                           shown(r->at), r->at));
  return broken(r, accel_make_flaw(r->e->arena, false,
                                   "something is missing at its end"));
}

static value read_unary(reader *r);

/* ** binds stronger than a sign before it, and weaker than one after it. */
static value read_power(reader *r) {
  const value base = read_primary(r);
  if (r->broken.text || !take(r, "**")) return base;
  const value exponent = enter(r) ? read_unary(r) : r->broken;
  r->e->depth--;
  return accel_operate(r->e->arena, ACCEL_POWER, base, exponent);
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
  return negative ? accel_operate(r->e->arena, ACCEL_SUBTRACT,
                                  accel_make_whole(0), v)
                  : v;
}

static accel_operation take_product_sign(reader *r) {
  if (take(r, "//")) return ACCEL_DIVIDE_DOWN;
  if (take(r, "*")) return ACCEL_MULTIPLY;
  if (take(r, "/")) return ACCEL_DIVIDE;
  return take(r, "%") ? ACCEL_REMAINDER : ACCEL_NO_OPERATION;
}

static value read_product(reader *r) {
  value v = read_unary(r);
  for (accel_operation op;
       !r->broken.text && (op = take_product_sign(r)) != ACCEL_NO_OPERATION;)
    v = accel_operate(r->e->arena, op, v, read_unary(r));
  return v;
}

static value read_sum(reader *r) {
  value v = read_product(r);
  while (!r->broken.text) {
    if (take(r, "+"))
      v = accel_operate(r->e->arena, ACCEL_ADD, v, read_product(r));
    else if (take(r, "-"))
      v = accel_operate(r->e->arena, ACCEL_SUBTRACT, v, read_product(r));
    else
      break;
  }
  return v;
}

static value compare(reader *r, uint32_t sign, value a, value b) {
  value out;
  if ((sign == 2 || sign == 3) && a.kind == ACCEL_WORD && b.kind == ACCEL_WORD)
    return accel_make_whole(!strcmp(a.text, b.text) == (sign == 2));
  if (accel_lacks_number(r->e->arena, &out, a, b)) return out;
  const double x = accel_double_of(a), y = accel_double_of(b);
  const bool results[] = {x <= y, x >= y, x == y, x != y, x<y, x> y};
  return accel_make_whole(results[sign]);
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
    broken(r, accel_make_flaw(r->e->arena, false, "'else' is missing"));
  const value other = r->broken.text ? condition : read_choice(r);
  value out;
  if (accel_lacks_number(r->e->arena, &out, condition, condition)) return out;
  return accel_double_of(condition) == 0 ? other : chosen;
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
    return accel_make_flaw(e->arena, true, "longer than %d characters",
                           MAX_LENGTH);
  const value v = read_choice(&r);
  skip_blanks(&r);
  if (!r.broken.text && *r.at)
    broken(&r, accel_make_flaw(e->arena, false, "'%.*s' cannot stand here",
                               shown(r.at), r.at));
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
  if (v.kind == ACCEL_WHOLE)
    snprintf(digits, sizeof digits, "%lld", (long long)v.integer);
  if (v.kind == ACCEL_REAL) snprintf(digits, sizeof digits, "%.17g", v.real);
  if (v.kind == ACCEL_WHOLE || v.kind == ACCEL_REAL) text = digits;
  if (v.kind == ACCEL_FLAW) text = node->text;
  ARENA_ARRAY(a, copy, 1);
  *copy = *node;
  copy->text = arena_string(a, text, strlen(text));
  if (!copy->text) return context_no_memory(a->context);
  copy->quoted = v.kind == ACCEL_WORD;
  copy->flaw = v.kind == ACCEL_FLAW ? v.text : NULL;
  copy->unsupported = v.kind == ACCEL_FLAW && v.unsupported;
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
  if (e.exhausted) v = accel_make_flaw(a, true, "%s", EXHAUSTED);
  if (v.kind == ACCEL_FLAW && v.no_memory) return context_no_memory(a->context);
  return new_scalar(out, node, v, a);
}
