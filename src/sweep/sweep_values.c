/*
 * The values of a parameter: a list of them, one alone, or a range
 *
 *     {from: 16, to: 64, times: 2}    16, 32, 64
 *     {from: 4, to: 16, plus: 4}      4, 8, 12, 16
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_names.h"
#include "sweep/sweep.h"

enum { MOST_VALUES = 100000 };

static calm_status take_text(const char **out, const accel_yaml *node,
                             const char *name, arena *a) {
  if (node->kind != ACCEL_YAML_SCALAR || !*node->text)
    return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                            "a value of %s is a number or a word", name);
  *out = node->text;
  return CALM_OK;
}

static calm_status read_list(sweep_parameter *out, const accel_yaml *node,
                             arena *a) {
  if (node->count == 0)
    return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                            "%s has no value", out->name);
  ARENA_ARRAY(a, out->values, node->count);
  for (; out->count < node->count; out->count++)
    TRY(take_text(&out->values[out->count], node->items[out->count], out->name,
                  a));
  return CALM_OK;
}

/* ---- Ranges -------------------------------------------------------------- */

typedef struct range {
  uint64_t from, to, step;
  bool times;
} range;

static calm_status check_keys(const accel_yaml *node, calm_context *context) {
  static const char *const known[] = {"from", "to", "plus", "times"};
  for (uint32_t i = 0; i < node->count; i++)
    if (!accel_names_have(known, 4, node->keys[i]))
      return accel_place_fail(context, CALM_BAD_INPUT, node->key_places[i],
                              "unknown key '%s'%s; a range is {from: 16, to: "
                              "64, times: 2} or {from: 4, to: 16, plus: 4}",
                              node->keys[i],
                              accel_names_hint(node->keys[i], known, 4).text);
  return CALM_OK;
}

static calm_status refuse_range(const accel_yaml *node, calm_context *context,
                                const char *name) {
  return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                          "%s: a range goes up, as {from: 16, to: 64, times: "
                          "2} or {from: 4, to: 16, plus: 4}",
                          name);
}

static calm_status read_range(range *out, const accel_yaml *node,
                              const char *name, calm_context *context) {
  const accel_yaml *from = accel_yaml_get(node, "from");
  const accel_yaml *to = accel_yaml_get(node, "to");
  const accel_yaml *plus = accel_yaml_get(node, "plus");
  const accel_yaml *times = accel_yaml_get(node, "times");
  range r = {.times = times != NULL};
  TRY(check_keys(node, context));
  if (!from || !to || !plus == !times) return refuse_range(node, context, name);
  TRY(accel_yaml_integer(&r.from, context, from, "from"));
  TRY(accel_yaml_integer(&r.to, context, to, "to"));
  TRY(accel_yaml_integer(&r.step, context, plus ? plus : times,
                         plus ? "plus" : "times"));
  if (r.to < r.from || r.step < (plus ? 1u : 2u) || (times && !r.from))
    return refuse_range(node, context, name);
  *out = r;
  return CALM_OK;
}

/* The next value; false past the end. */
static bool advance(uint64_t *value, const range *r) {
  if (r->times ? *value > r->to / r->step : r->to - *value < r->step)
    return false;
  *value = r->times ? *value * r->step : *value + r->step;
  return true;
}

static calm_status add_number(sweep_parameter *out, uint64_t value, arena *a) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  out->values[out->count] = arena_string(a, digits, strlen(digits));
  return out->values[out->count++] ? CALM_OK : context_no_memory(a->context);
}

static calm_status spread(sweep_parameter *out, const accel_yaml *node,
                          arena *a) {
  range r;
  uint32_t count = 1;
  TRY(read_range(&r, node, out->name, a->context));
  for (uint64_t value = r.from; advance(&value, &r);)
    if (++count > MOST_VALUES)
      return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                              "%s has more than %d values", out->name,
                              MOST_VALUES);
  ARENA_ARRAY(a, out->values, count);
  uint64_t value = r.from;
  do TRY(add_number(out, value, a));
  while (advance(&value, &r));
  return CALM_OK;
}

calm_status sweep_values_read(sweep_parameter *out, const accel_yaml *node,
                              const char *name, arena *a) {
  sweep_parameter p = {.name = name};
  switch (node->kind) {
    case ACCEL_YAML_SEQUENCE: TRY(read_list(&p, node, a)); break;
    case ACCEL_YAML_MAPPING: TRY(spread(&p, node, a)); break;
    case ACCEL_YAML_SCALAR:
      ARENA_ARRAY(a, p.values, 1);
      TRY(take_text(&p.values[p.count++], node, name, a));
  }
  *out = p;
  return CALM_OK;
}
