/*
 * The attributes of a node of version 0.4: its own, evaluated, and what it
 * inherits.  Timeloop's front end does not let everything flow down; what it
 * holds back is held back here, so that figures compare.
 */
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "accel/accel_expression.h"
#include "accel/accel_nodes.h"

static bool is_listed(const char *key, const char *const *keys) {
  for (; *keys; keys++)
    if (accel_yaml_same_key(key, *keys)) return true;
  return false;
}

/* A storage of Timeloop's front end has values for these from the beginning, so
   that a container's do not reach it. */
static const char *const never_inherited[] = {"n_banks",
                                              "cluster_size",
                                              "reduction_supported",
                                              "min_utilization",
                                              "multiple_buffering",
                                              "allow_overbooking",
                                              "has_power_gating",
                                              NULL};

/* The level of a mesh holds nothing; only the network below it can matter. */
static const char *const of_networks[] = {"network_word_bits",
                                          "router_energy",
                                          "wire_energy",
                                          "tile_width",
                                          "energy_per_hop",
                                          "energy_per_ingress",
                                          "fill_latency",
                                          "drain_latency",
                                          "network_fill_latency",
                                          "network_drain_latency",
                                          NULL};

/* What a container hands on beyond that are quantities of the author's own, for
   expressions, or of no interest to this kind of node. */
static bool is_inherited(const char *key, accel_node_kind kind) {
  switch (kind) {
    case ACCEL_NODE_MESH: return is_listed(key, of_networks);
    case ACCEL_NODE_STORAGE:
      return accel_attributes_know(key, ACCEL_KEY_LEVEL) &&
             !is_listed(key, never_inherited);
    case ACCEL_NODE_COMPUTE:
      return accel_attributes_know(key, ACCEL_KEY_COMPUTE);
    default: return true;
  }
}

static void warn_of_lost(calm_context *context, const accel_yaml *inherited,
                         uint32_t i) {
  const accel_place at = inherited->key_places[i];
  context_log(context, CALM_LOG_WARNING,
              "%s:%u: '%s' of a container does not reach memories (as in "
              "Timeloop); give it to each",
              at.file, at.line, inherited->keys[i]);
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= '0' && c <= '9');
}

static bool mentions(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = text; length && (at = strstr(at, name)); at++)
    if ((at == text || !is_letter(at[-1])) && !is_letter(at[length]))
      return true;
  return false;
}

/* A key that no component knows, but from which another value follows. */
static bool serves_expressions(const accel_yaml *own, uint32_t key) {
  if (accel_attributes_know(own->keys[key], ACCEL_KEY_BOTH)) return false;
  for (uint32_t i = 0; i < own->count; i++) {
    const accel_yaml *value = own->items[i];
    if (i != key && value->kind == ACCEL_YAML_SCALAR && !value->quoted &&
        mentions(value->text, own->keys[key]))
      return true;
  }
  return false;
}

/* A key without a value says nothing, but has to be one that there is. */
static void put_unknown(accel_yaml *m, const accel_yaml *own, uint32_t key,
                        accel_node_kind kind) {
  const accel_key_where where =
      kind == ACCEL_NODE_COMPUTE ? ACCEL_KEY_COMPUTE : ACCEL_KEY_LEVEL;
  if (kind != ACCEL_NODE_CONTAINER &&
      !accel_attributes_know(own->keys[key], where))
    accel_nodes_put(m, own->keys[key], own->key_places[key], own->items[key]);
}

static calm_status put_own(accel_yaml *m, const accel_yaml *own,
                           const accel_outside *outside, accel_node_kind kind,
                           arena *a) {
  const accel_scope scope = {{own, outside->inherited, outside->variables}};
  for (uint32_t i = 0; own && i < own->count; i++) {
    const accel_yaml *value;
    if (kind != ACCEL_NODE_CONTAINER && serves_expressions(own, i)) continue;
    if (accel_yaml_is_null(own->items[i])) {
      put_unknown(m, own, i, kind);
      continue;
    }
    TRY(accel_expression_evaluate(&value, own->items[i], &scope, a));
    accel_nodes_put(m, own->keys[i], own->key_places[i], value);
  }
  return CALM_OK;
}

static void put_inherited(accel_yaml *m, const accel_yaml *inherited,
                          accel_node_kind kind, calm_context *context) {
  for (uint32_t i = 0; inherited && i < inherited->count; i++) {
    const char *key = inherited->keys[i];
    if (accel_yaml_get(m, key)) continue;
    if (is_inherited(key, kind))
      accel_nodes_put(m, key, inherited->key_places[i], inherited->items[i]);
    else if (kind == ACCEL_NODE_STORAGE && accel_attributes_matter(key) &&
             is_listed(key, never_inherited))
      warn_of_lost(context, inherited, i);
  }
}

/* An attribute that nobody wrote. */
static calm_status put_given(accel_yaml *m, const char *key, const char *text,
                             accel_place place, arena *a) {
  accel_yaml *value;
  if (accel_yaml_get(m, key)) return CALM_OK;
  ARENA_ARRAY(a, value, 1);
  value->place = place;
  value->text = text;
  accel_nodes_put(m, key, place, value);
  return CALM_OK;
}

/* What nobody wrote; a mesh stands as a buffer of one bit. */
static calm_status put_all_given(accel_yaml *m, accel_node_kind kind,
                                 accel_place place, arena *a) {
  if (kind == ACCEL_NODE_MESH) {
    TRY(put_given(m, "width", "1", place, a));
    TRY(put_given(m, "depth", "1", place, a));
    TRY(put_given(m, "datawidth", "1", place, a));
  }
  /* Other than in earlier versions, where DRAM cannot add. */
  if (kind == ACCEL_NODE_STORAGE)
    TRY(put_given(m, "reduction_supported", "true", place, a));
  return CALM_OK;
}

calm_status accel_nodes_attributes(const accel_yaml **out, const accel_walk *w,
                                   const accel_yaml *node,
                                   accel_node_kind kind) {
  enum { MOST_GIVEN = 3 };
  const accel_yaml *own = NULL, *inherited = w->outside.inherited;
  arena *a = w->draft->arena;
  accel_yaml *m;
  if (kind != ACCEL_NODE_MESH)
    TRY(accel_nodes_mapping(&own, a->context, node, "attributes"));
  TRY(accel_nodes_new_mapping(
      &m, own ? own->place : node->place,
      (own ? own->count : 0) + (inherited ? inherited->count : 0) + MOST_GIVEN,
      a));
  TRY(put_own(m, own, &w->outside, kind, a));
  put_inherited(m, inherited, kind, a->context);
  TRY(put_all_given(m, kind, node->place, a));
  *out = m;
  return CALM_OK;
}
