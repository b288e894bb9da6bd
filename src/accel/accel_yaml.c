/* Trees of YAML: looking up, merging, joining. */
#include "accel/accel_yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "accel/accel_yaml_parts.h"

calm_status accel_place_fail(calm_context *context, calm_status status,
                             accel_place place, const char *format, ...) {
  char what[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (!place.file) return context_fail(context, status, "%s", what);
  return context_fail(context, status, "%s:%u:%u: %s", place.file, place.line,
                      place.column, what);
}

bool accel_yaml_same_key(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
      return false;
  return *a == *b;
}

/* The number of a key, CALM_NONE if there is none. */
static uint32_t find_key(const accel_yaml *mapping, const char *key) {
  for (uint32_t i = 0; i < mapping->count; i++)
    if (accel_yaml_same_key(mapping->keys[i], key)) return i;
  return CALM_NONE;
}

accel_yaml *accel_yaml_get(const accel_yaml *node, const char *key) {
  if (!node || node->kind != ACCEL_YAML_MAPPING) return NULL;
  const uint32_t i = find_key(node, key);
  return i == CALM_NONE ? NULL : node->items[i];
}

/* ---- Merging ------------------------------------------------------------- */

calm_status accel_yaml_spend(uint32_t *left, uint64_t more,
                             calm_context *context, accel_place place) {
  if (more > *left)
    return accel_place_fail(context, CALM_UNSUPPORTED, place,
                            "more than %d keys and values, those that are "
                            "merged or repeated included",
                            ACCEL_YAML_NODES);
  *left -= (uint32_t)more;
  return CALM_OK;
}

calm_status accel_yaml_new_mapping(accel_yaml **out, const accel_yaml *like,
                                   uint32_t count, arena *a) {
  accel_yaml *m;
  ARENA_ARRAY(a, m, 1);
  *m = *like;
  m->count = 0;
  ARENA_ARRAY(a, m->keys, count);
  ARENA_ARRAY(a, m->key_places, count);
  ARENA_ARRAY(a, m->items, count);
  *out = m;
  return CALM_OK;
}

void accel_yaml_put(accel_yaml *mapping, const accel_yaml *from, uint32_t i) {
  mapping->keys[mapping->count] = from->keys[i];
  mapping->key_places[mapping->count] = from->key_places[i];
  mapping->items[mapping->count++] = from->items[i];
}

void accel_yaml_measure(accel_yaml *node) {
  node->height = 1;
  node->weight = 1;
  for (uint32_t i = 0; i < node->count; i++) {
    const accel_yaml *item = node->items[i];
    if (node->height <= item->height) node->height = item->height + 1;
    node->weight += item->weight;
  }
}

static bool are_mappings(const accel_yaml *a, const accel_yaml *b) {
  return a->kind == ACCEL_YAML_MAPPING && b->kind == ACCEL_YAML_MAPPING;
}

/* Goes no deeper than the shallower of the two trees. */
calm_status accel_yaml_merge(accel_yaml **into, const accel_yaml *more,
                             bool deep, uint32_t *left, arena *a) {
  const accel_yaml *own = *into;
  accel_yaml *m;
  const uint32_t room = own->count + more->count;
  if (room > ACCEL_YAML_KEYS)
    return accel_place_fail(a->context, CALM_UNSUPPORTED, own->place,
                            "a mapping of more than %d keys", ACCEL_YAML_KEYS);
  TRY(accel_yaml_spend(left, 1 + (uint64_t)room, a->context, own->place));
  TRY(accel_yaml_new_mapping(&m, own, room, a));
  for (uint32_t i = 0; i < own->count; i++) accel_yaml_put(m, own, i);
  for (uint32_t i = 0; i < more->count; i++) {
    const uint32_t at = find_key(m, more->keys[i]);
    if (at == CALM_NONE)
      accel_yaml_put(m, more, i);
    else if (deep && are_mappings(m->items[at], more->items[i]))
      TRY(accel_yaml_merge(&m->items[at], more->items[i], true, left, a));
  }
  accel_yaml_measure(m);
  *into = m;
  return CALM_OK;
}

/* ---- Joining ------------------------------------------------------------- */

/* Two values of one top-level key. */
static calm_status join_values(accel_yaml **into, accel_yaml *more, arena *a) {
  uint32_t left = ACCEL_YAML_NODES;
  if (!are_mappings(*into, more))
    return accel_place_fail(a->context, CALM_BAD_INPUT, more->place,
                            "%s:%u has this section already",
                            (*into)->place.file, (*into)->place.line);
  for (uint32_t i = 0; i < more->count; i++) {
    const uint32_t at = find_key(*into, more->keys[i]);
    if (at != CALM_NONE && !accel_yaml_same_key(more->keys[i], "version"))
      return accel_place_fail(a->context, CALM_BAD_INPUT, more->key_places[i],
                              "%s:%u has '%s' already",
                              (*into)->key_places[at].file,
                              (*into)->key_places[at].line, more->keys[i]);
  }
  return accel_yaml_merge(into, more, false, &left, a);
}

/* `all` and one file more. */
static calm_status join_one(accel_yaml **out, const accel_yaml *all,
                            const accel_yaml *more, arena *a) {
  accel_yaml *both;
  TRY(accel_yaml_new_mapping(&both, all, all->count + more->count, a));
  for (uint32_t i = 0; i < all->count; i++) accel_yaml_put(both, all, i);
  for (uint32_t i = 0; i < more->count; i++) {
    const uint32_t at = find_key(all, more->keys[i]);
    if (at == CALM_NONE)
      accel_yaml_put(both, more, i);
    else
      TRY(join_values(&both->items[at], more->items[i], a));
  }
  accel_yaml_measure(both);
  *out = both;
  return CALM_OK;
}

calm_status accel_yaml_join(accel_yaml **out, accel_yaml *const *roots,
                            uint32_t count, arena *a) {
  accel_yaml *all = roots[0];
  for (uint32_t r = 1; r < count; r++) TRY(join_one(&all, all, roots[r], a));
  *out = all;
  return CALM_OK;
}
