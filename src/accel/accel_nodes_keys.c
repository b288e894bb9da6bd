/* Mappings of version 0.4 files: which keys they have, and parts of them. */
#include <string.h>

#include "accel/accel_names.h"
#include "accel/accel_nodes.h"
#include "accel/accel_yaml_parts.h"

calm_status accel_nodes_mapping(const accel_yaml **out, calm_context *context,
                                const accel_yaml *node, const char *key) {
  const accel_yaml *value = accel_yaml_get(node, key);
  *out = NULL;
  if (accel_yaml_is_null(value)) return CALM_OK;
  if (value->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(context, CALM_BAD_INPUT, value->place,
                            "'%s' must be a mapping", key);
  if (value->count) *out = value;
  return CALM_OK;
}

/* ---- Mappings in the making ---------------------------------------------- */

calm_status accel_nodes_new_mapping(accel_yaml **out, accel_place place,
                                    uint32_t room, arena *a) {
  const accel_yaml like = {.kind = ACCEL_YAML_MAPPING, .place = place};
  return accel_yaml_new_mapping(out, &like, room, a);
}

void accel_nodes_put(accel_yaml *m, const char *key, accel_place place,
                     const accel_yaml *value) {
  m->keys[m->count] = key;
  m->key_places[m->count] = place;
  m->items[m->count++] = (accel_yaml *)(uintptr_t)value;
}

/* The keys of a mapping that are, or are not, the given one. */
static calm_status filter(const accel_yaml **out, const accel_yaml *map,
                          const char *key, bool wanted, arena *a) {
  accel_yaml *m;
  *out = NULL;
  if (!map) return CALM_OK;
  TRY(accel_nodes_new_mapping(&m, map->place, map->count, a));
  for (uint32_t i = 0; i < map->count; i++)
    if (accel_yaml_same_key(map->keys[i], key) == wanted)
      accel_nodes_put(m, map->keys[i], map->key_places[i], map->items[i]);
  if (m->count) *out = m;
  return CALM_OK;
}

calm_status accel_nodes_without(const accel_yaml **out, const accel_yaml *map,
                                const char *key, arena *a) {
  return filter(out, map, key, false, a);
}

calm_status accel_nodes_only(const accel_yaml **out, const accel_yaml *map,
                             const char *key, arena *a) {
  return filter(out, map, key, true, a);
}

/* ---- Keys ---------------------------------------------------------------- */

/* Constructs that exist, and that calm does not do. */
static bool is_beyond(const char *key) {
  return accel_yaml_same_key(key, "networks") ||
         accel_yaml_same_key(key, "sparse_optimizations");
}

static bool is_empty(const accel_yaml *node) {
  return accel_yaml_is_null(node) ||
         (node->kind != ACCEL_YAML_SCALAR && node->count == 0);
}

/* What says `ignore` is passed over, by the front end's convention. */
static bool is_known(const char *key, const char *const *keys, uint32_t count) {
  return accel_names_have(keys, count, key) || strstr(key, "ignore");
}

calm_status accel_nodes_check_keys(calm_context *context,
                                   const accel_yaml *node,
                                   const char *const *keys, uint32_t count) {
  for (uint32_t i = 0; i < node->count; i++) {
    const char *key = node->keys[i];
    if (is_known(key, keys, count)) continue;
    if (is_beyond(key) && is_empty(node->items[i])) continue;
    if (is_beyond(key))
      return accel_place_fail(context, CALM_UNSUPPORTED, node->key_places[i],
                              "calm does not read '%s'", key);
    return accel_place_fail(context, CALM_BAD_INPUT, node->key_places[i],
                            "no key '%s' is known here%s", key,
                            accel_names_hint(key, keys, count).text);
  }
  return CALM_OK;
}
