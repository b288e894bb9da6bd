/* Words and numbers of YAML files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel_count.h"
#include "accel/accel_yaml.h"
#include "base/number.h"

static const char *const kinds[] = {"a word", "a list", "a mapping"};

static calm_status wrong(calm_context *context, const accel_yaml *node,
                         const char *what, const char *wanted) {
  if (node->kind == ACCEL_YAML_SCALAR && node->flaw)
    return accel_place_fail(
        context, node->unsupported ? CALM_UNSUPPORTED : CALM_BAD_INPUT,
        node->place, "%s is '%.80s', which is not %s: %s", what, node->text,
        wanted, node->flaw);
  if (node->kind == ACCEL_YAML_SCALAR)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "%s is '%.80s', which is not %s", what, node->text,
                            wanted);
  return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                          "%s is %s, not %s", what, kinds[node->kind], wanted);
}

calm_status accel_yaml_text(const char **out, calm_context *context,
                            const accel_yaml *node, const char *what) {
  if (node->kind != ACCEL_YAML_SCALAR)
    return wrong(context, node, what, "a word");
  *out = node->text;
  return CALM_OK;
}

calm_status accel_yaml_real(double *out, calm_context *context,
                            const accel_yaml *node, const char *what) {
  if (node->kind != ACCEL_YAML_SCALAR || !*node->text ||
      strchr(" \t\n", *node->text) || strpbrk(node->text, "xXnNiI"))
    return wrong(context, node, what, "a number");
  char *end;
  const double value = strtod(node->text, &end);
  if (*end || !isfinite(value)) return wrong(context, node, what, "a number");
  *out = value;
  return CALM_OK;
}

/* Digits after a 0, which Timeloop reads as octal and others do not: only where
   both give the same are they taken. */
static bool is_ambiguous(const char *text) {
  if (*text != '0') return false;
  while (*text == '0') text++;
  const size_t digits = strspn(text, "0123456789");
  return !text[digits] && (digits > 1 || *text > '7');
}

static calm_status fail_ambiguous(calm_context *context, const accel_yaml *node,
                                  const char *text, const char *what) {
  char *end;
  const char *decimal = text + strspn(text, "0");
  const unsigned long long octal = strtoull(text, &end, 8);
  if (*end)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "%s is '%.80s', which Timeloop takes for octal; "
                            "write %.80s",
                            what, node->text, decimal);
  return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                          "%s is '%.80s', which Timeloop takes for octal; "
                          "write %.80s or %llu",
                          what, node->text, decimal, octal);
}

/* "64" up to 64 bits, and "64.0" or "1e3" where that is a whole number of which
   the double is exact. */
calm_status accel_yaml_integer(uint64_t *out, calm_context *context,
                               const accel_yaml *node, const char *what) {
  if (node->kind == ACCEL_YAML_SCALAR) {
    const char *digits = node->text + (*node->text == '+');
    if (is_ambiguous(digits))
      return fail_ambiguous(context, node, digits, what);
  }
  if (node->kind == ACCEL_YAML_SCALAR &&
      number_parse(out, node->text, strlen(node->text)))
    return CALM_OK;
  double real;
  TRY(accel_yaml_real(&real, context, node, what));
  if (real < 0 || real != floor(real) || real > (double)ACCEL_MAX_COUNT)
    return wrong(context, node, what, "a whole number");
  *out = (uint64_t)real;
  return CALM_OK;
}

bool accel_yaml_is_null(const accel_yaml *node) {
  static const char *const words[] = {"", "~", "null", "Null", "NULL"};
  if (!node || node->kind != ACCEL_YAML_SCALAR || node->quoted) return !node;
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(node->text, words[i])) return true;
  return false;
}

/* The words of YAML 1.1, as yaml-cpp takes them. */
calm_status accel_yaml_bool(bool *out, calm_context *context,
                            const accel_yaml *node, const char *what) {
  static const char *const words[] = {
      "true",  "True",  "TRUE",  "yes", "Yes", "YES", "on",  "On",  "ON",
      "false", "False", "FALSE", "no",  "No",  "NO",  "off", "Off", "OFF"};
  for (uint32_t i = 0; i < 18; i++)
    if (node->kind == ACCEL_YAML_SCALAR && !strcmp(node->text, words[i])) {
      *out = i < 9;
      return CALM_OK;
    }
  return wrong(context, node, what, "true or false");
}
