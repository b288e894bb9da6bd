#include "accel/accel_arch_attributes.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_expression.h"
#include "accel/accel_names.h"

enum { MAX_NAMES = 6, MAX_WHAT = 160 };

typedef enum key_type {
  INTEGER,
  REAL,
  BOOL,
  WORD,
  MAPPING,
  IDLE,
  FOREIGN
} key_type;

typedef struct key_row {
  const char *names[MAX_NAMES]; /* up to the first NULL */
  key_type type;
  accel_key_where where;
  size_t offset;    /* of the field in accel_attributes */
  const char *what; /* FOREIGN: which construct */
} key_row;

static const key_row rows[] = {
#define KEY(field, type, where, ...)  \
  {{__VA_ARGS__},                     \
   (type),                            \
   ACCEL_KEY_##where,                 \
   offsetof(accel_attributes, field), \
   NULL},
#define IDLE(where, ...) {{__VA_ARGS__}, IDLE, ACCEL_KEY_##where, 0, NULL},
#define FOREIGN(where, what, ...) \
  {{__VA_ARGS__}, FOREIGN, ACCEL_KEY_##where, 0, (what)},
#include "accel/accel_arch_keys.def"
#undef KEY
#undef IDLE
#undef FOREIGN
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* The row of a key and which of its names it is; NULL: unknown there. */
static const key_row *find_row(uint32_t *rank, const char *key,
                               accel_key_where where) {
  for (uint32_t r = 0; r < ROW_COUNT; r++) {
    if (!(rows[r].where & where)) continue;
    for (uint32_t n = 0; n < MAX_NAMES && rows[r].names[n]; n++)
      if (accel_yaml_same_key(rows[r].names[n], key)) {
        *rank = n;
        return &rows[r];
      }
  }
  return NULL;
}

bool accel_attributes_know(const char *key, accel_key_where where) {
  uint32_t rank;
  return find_row(&rank, key, where) != NULL;
}

bool accel_attributes_matter(const char *key) {
  uint32_t rank;
  const key_row *row = find_row(&rank, key, ACCEL_KEY_BOTH);
  return row && row->type != IDLE && row->type != FOREIGN;
}

const char *accel_attributes_nearest(const char *key, accel_key_where where) {
  const char *names[ROW_COUNT * MAX_NAMES];
  uint32_t count = 0;
  for (uint32_t r = 0; r < ROW_COUNT; r++)
    for (uint32_t n = 0; n < MAX_NAMES && rows[r].names[n]; n++)
      if (rows[r].where & where) names[count++] = rows[r].names[n];
  return accel_names_nearest(key, names, count);
}

static calm_status unknown_key(calm_context *context, const accel_component *c,
                               uint32_t at, accel_key_where where) {
  const char *key = c->attributes->keys[at];
  const accel_place place = c->attributes->key_places[at];
  const char *near = accel_attributes_nearest(key, where);
  if (near)
    return accel_place_fail(context, CALM_BAD_INPUT, place,
                            "unknown attribute '%s' of %s; did you mean '%s'?",
                            key, c->name, near);
  return accel_place_fail(context, CALM_BAD_INPUT, place,
                          "unknown attribute '%s' of %s; remove it if no cost "
                          "depends on it",
                          key, c->name);
}

/* Does the value say that the construct is not used?  Power is gated at a
   component itself when it is not gated elsewhere. */
static bool turns_off(const accel_yaml *value, const accel_component *c) {
  static const char *const off[] = {"",   "0",    "false", "False", "FALSE",
                                    "no", "off",  "null",  "Null",  "NULL",
                                    "~",  "None", "none",  NULL};
  if (value->kind != ACCEL_YAML_SCALAR) return value->count == 0;
  for (uint32_t i = 0; off[i]; i++)
    if (!strcmp(value->text, off[i])) return true;
  return !strcmp(value->text, c->name);
}

static calm_status refuse_foreign(calm_context *context, const key_row *row,
                                  const accel_component *c, uint32_t at) {
  if (turns_off(c->attributes->items[at], c)) return CALM_OK;
  return accel_place_fail(context, CALM_UNSUPPORTED,
                          c->attributes->key_places[at],
                          "'%s' of %s: calm does not cost %s",
                          c->attributes->keys[at], c->name, row->what);
}

calm_status accel_arch_check_figure(calm_context *context,
                                    const accel_yaml *node, const char *what,
                                    double figure) {
  if (figure < 0)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "%s is %s; it cannot be negative", what,
                            node->text);
  if (figure > ACCEL_MAX_FIGURE)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "%s is %s; more than %g is too large to be summed",
                            what, node->text, ACCEL_MAX_FIGURE);
  return CALM_OK;
}

static calm_status take_real(accel_value *out, calm_context *context,
                             const accel_yaml *node, const char *what) {
  TRY(accel_yaml_real(&out->real, context, node, what));
  return accel_arch_check_figure(context, node, what, out->real);
}

static calm_status take_value(accel_value *out, calm_context *context,
                              key_type type, const accel_yaml *node,
                              const char *what) {
  switch (type) {
    case INTEGER: return accel_yaml_integer(&out->integer, context, node, what);
    case REAL: return take_real(out, context, node, what);
    case BOOL: return accel_yaml_bool(&out->truth, context, node, what);
    case WORD: return accel_yaml_text(&out->word, context, node, what);
    case MAPPING:
      if (node->kind == ACCEL_YAML_MAPPING) return CALM_OK;
      return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                              "%s is not a mapping", what);
    default: return CALM_OK;
  }
}

/* Two spellings of one attribute: odd if they disagree, the first counts. */
static void weigh(accel_value *field, const accel_value *more,
                  calm_context *context, const char *what) {
  const accel_value *wins = more->rank < field->rank ? more : field;
  if (field->node->kind == ACCEL_YAML_SCALAR &&
      strcmp(field->node->text, more->node->text))
    context_log(context, CALM_LOG_WARNING,
                "%s:%u: %s stands here under two names, as %s and %s; %s "
                "counts, as in Timeloop",
                more->node->place.file, more->node->place.line, what,
                field->node->text, more->node->text, wins->node->text);
  *field = *wins;
}

static calm_status take_key(accel_attributes *out, calm_context *context,
                            const accel_component *c, uint32_t at,
                            accel_key_where where) {
  const accel_yaml *node = c->attributes->items[at];
  accel_value value = {.node = node};
  const key_row *row = find_row(&value.rank, c->attributes->keys[at], where);
  if (!row) return unknown_key(context, c, at, where);
  if (row->type == IDLE) return CALM_OK;
  if (row->type == FOREIGN) return refuse_foreign(context, row, c, at);
  char what[MAX_WHAT];
  snprintf(what, sizeof what, "%s of %s", c->attributes->keys[at], c->name);
  TRY(take_value(&value, context, row->type, node, what));
  accel_value *field = (accel_value *)((char *)out + row->offset);
  if (field->node)
    weigh(field, &value, context, what);
  else
    *field = value;
  return CALM_OK;
}

calm_status accel_attributes_read(accel_attributes *out, calm_context *context,
                                  const accel_component *c,
                                  accel_key_where where) {
  accel_attributes t = {0};
  const accel_yaml *all = c->attributes;
  if (!accel_yaml_is_null(all) && all->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(
        context, CALM_BAD_INPUT, all->place,
        "the attributes of %s are no mapping of keys, such as "
        "'entries: 1024'",
        c->name);
  for (uint32_t i = 0; c->attributes && i < c->attributes->count; i++)
    TRY(take_key(&t, context, c, i, where));
  *out = t;
  return CALM_OK;
}

/* Timeloop itself knows variables only, and no arithmetic; its front end and
   Accelergy know more. */
calm_status accel_attributes_evaluate(const accel_yaml **out,
                                      const accel_arch_draft *d,
                                      const accel_yaml *attributes) {
  const accel_scope scope = {{attributes, d->variables}};
  *out = attributes;
  if (!attributes || attributes->kind != ACCEL_YAML_MAPPING) return CALM_OK;
  accel_yaml *copy, **items;
  ARENA_ARRAY(d->arena, copy, 1);
  ARENA_ARRAY(d->arena, items, attributes->count);
  *copy = *attributes;
  copy->items = items;
  for (uint32_t i = 0; i < attributes->count; i++) {
    const accel_yaml *value;
    TRY(accel_expression_evaluate(&value, attributes->items[i], &scope,
                                  d->arena));
    ARENA_ARRAY(d->arena, items[i], 1);
    *items[i] = *value;
  }
  *out = copy;
  return CALM_OK;
}
