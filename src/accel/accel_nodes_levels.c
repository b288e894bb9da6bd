/*
 * What a container or a component of version 0.4 makes of the machine: a level
 * for its mesh, a level or the compute units for itself, and so many times more
 * of all that follows.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "accel/accel_nodes.h"

typedef struct mesh {
  uint64_t x, y;
} mesh;

static const char *const component_keys[] = {
    "name",        "class",   "subclass",
    "attributes",  "spatial", "constraints",
    "area_scale",  "enabled", "required_actions",
    "energy_scale"};
static const char *const container_keys[] = {"name", "attributes", "spatial",
                                             "constraints", "enabled"};
static const char *const mesh_keys[] = {"meshX", "meshY"};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* ---- Names and meshes ---------------------------------------------------- */

static calm_status read_name(const char **out, accel_walk *w,
                             const accel_yaml *node) {
  const accel_yaml *name = accel_yaml_get(node, "name");
  if (accel_yaml_is_null(name))
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, node->place,
                            "a %s without a name", node->tag + 1);
  TRY(accel_yaml_text(out, w->draft->context, name, "a name"));
  if (strchr(*out, '['))
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, name->place,
                            "'%s': version 0.4 says how many there are under "
                            "'spatial', not in brackets",
                            *out);
  for (uint32_t i = 0; i < w->named.count; i++)
    if (!strcmp(w->named.data[i]->text, *out))
      return accel_place_fail(w->draft->context, CALM_BAD_INPUT, name->place,
                              "'%s' is the name of the node in line %u already",
                              *out, w->named.data[i]->place.line);
  VECTOR_PUSH(w->draft->context, &w->named, name);
  return CALM_OK;
}

static calm_status read_side(uint64_t *out, accel_walk *w,
                             const accel_yaml *spatial, const char *key) {
  const accel_yaml *value = accel_yaml_get(spatial, key);
  if (accel_yaml_is_null(value)) return CALM_OK;
  TRY(accel_nodes_evaluate(&value, w, value));
  TRY(accel_yaml_integer(out, w->draft->context, value, key));
  if (*out == 0)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, value->place,
                            "%s must be at least 1", key);
  return CALM_OK;
}

static calm_status read_mesh(mesh *out, accel_walk *w, const accel_yaml *node) {
  const accel_yaml *spatial;
  *out = (mesh){1, 1};
  TRY(accel_nodes_mapping(&spatial, w->draft->context, node, "spatial"));
  if (!spatial) return CALM_OK;
  TRY(accel_nodes_check_keys(w->draft->context, spatial, mesh_keys,
                             COUNT(mesh_keys)));
  TRY(read_side(&out->x, w, spatial, "meshX"));
  return read_side(&out->y, w, spatial, "meshY");
}

static bool has_fanout(mesh m) { return m.x > 1 || m.y > 1; }

/* From here on there are so many times more of everything. */
static calm_status spread(accel_walk *w, mesh m, const accel_yaml *node) {
  uint64_t x, y, all;
  if (__builtin_mul_overflow(w->mesh_x, m.x, &x) ||
      __builtin_mul_overflow(w->mesh_y, m.y, &y) ||
      __builtin_mul_overflow(x, y, &all) || all > UINT32_MAX)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, node->place,
                            "more than 2^32 instances");
  w->mesh_x = x;
  w->mesh_y = y;
  return CALM_OK;
}

/* ---- Levels -------------------------------------------------------------- */

static accel_component describe(const accel_walk *w, const char *name,
                                const char *class_name,
                                const accel_yaml *node) {
  return (accel_component){.name = name,
                           .class_name = class_name,
                           .place = node->place,
                           .instances = w->mesh_x * w->mesh_y,
                           .mesh_x = w->mesh_x,
                           .mesh_y = w->mesh_y};
}

static calm_status add_level(accel_walk *w, const accel_component *c,
                             const accel_yaml *constraints,
                             const accel_visit *v, bool virtual_level) {
  accel_level level = {0};
  if (w->draft->has_compute)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, c->place,
                            "'%s' stands below the compute units, which must "
                            "be last",
                            c->name);
  TRY(accel_arch_make_level(&level, w->draft->context, c, w->draft->arena));
  level.constraints = constraints;
  level.virtual_level = virtual_level;
  level.branch = v->branch;
  VECTOR_PUSH(w->draft->context, &w->draft->levels, level);
  return CALM_OK;
}

/* The level that a mesh makes, of as many instances as there are above it. */
static calm_status add_mesh(accel_walk *w, const char *name,
                            const accel_visit *v) {
  enum { LONGEST = 200 };
  char buffer[LONGEST + 16];
  const accel_yaml *constraints;
  arena *a = w->draft->arena;
  if (strlen(name) > LONGEST)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, v->node->place,
                            "a name of more than %d letters", LONGEST);
  if (v->in_parallel)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, v->node->place,
                            "'%s' has a mesh directly in a !Parallel; put it "
                            "into a !Hierarchical there",
                            name);
  snprintf(buffer, sizeof buffer, "inter_%s_spatial", name);
  const char *full = arena_string(a, buffer, strlen(buffer));
  if (!full) return context_no_memory(w->draft->context);
  accel_component c = describe(w, full, "dummy_storage", v->node);
  TRY(accel_nodes_attributes(&c.attributes, w, v->node, ACCEL_NODE_MESH));
  TRY(accel_nodes_mapping(&constraints, w->draft->context, v->node,
                          "constraints"));
  TRY(accel_nodes_only(&constraints, constraints, "spatial", a));
  return add_level(w, &c, constraints, v, true);
}

/* ---- Containers ---------------------------------------------------------- */

static void warn_of_dropped(accel_walk *w, const accel_yaml *constraints) {
  for (uint32_t i = 0; constraints && i < constraints->count; i++)
    if (!accel_yaml_same_key(constraints->keys[i], "spatial"))
      context_log(w->draft->context, CALM_LOG_WARNING,
                  "%s:%u: a container holds nothing, so its '%s' constraints "
                  "say nothing",
                  constraints->key_places[i].file,
                  constraints->key_places[i].line, constraints->keys[i]);
}

/* A container may hold quantities of the author's own; one that looks like a
   misspelt attribute is told. */
static void warn_of_misspelt(accel_walk *w, const accel_yaml *own) {
  for (uint32_t i = 0; own && i < own->count; i++) {
    const char *key = own->keys[i];
    if (accel_attributes_know(key, ACCEL_KEY_BOTH)) continue;
    const char *near = accel_attributes_nearest(key, ACCEL_KEY_BOTH);
    if (near)
      context_log(
          w->draft->context, CALM_LOG_WARNING,
          "%s:%u: '%s' is no attribute of a component; did you mean '%s'?",
          own->key_places[i].file, own->key_places[i].line, key, near);
  }
}

calm_status accel_nodes_container(accel_walk *w, const accel_visit *v) {
  const char *name;
  mesh m;
  const accel_yaml *own, *constraints;
  TRY(accel_nodes_check_keys(w->draft->context, v->node, container_keys,
                             COUNT(container_keys)));
  TRY(read_name(&name, w, v->node));
  if (v->in_parallel)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, v->node->place,
                            "a !Container directly in a !Parallel; put it "
                            "into a !Hierarchical there");
  TRY(accel_nodes_mapping(&own, w->draft->context, v->node, "attributes"));
  TRY(accel_nodes_mapping(&constraints, w->draft->context, v->node,
                          "constraints"));
  warn_of_dropped(w, constraints);
  warn_of_misspelt(w, own);
  /* What it says comes before what those around it said. */
  TRY(accel_nodes_attributes(&w->outside.inherited, w, v->node,
                             ACCEL_NODE_CONTAINER));
  TRY(read_mesh(&m, w, v->node));
  if (has_fanout(m)) TRY(add_mesh(w, name, v));
  return spread(w, m, v->node);
}

/* ---- Components ---------------------------------------------------------- */

static calm_status unknown_class(accel_walk *w, const accel_yaml *class_node) {
  if (accel_arch_is_network(class_node->text))
    return accel_place_fail(
        w->draft->context, CALM_UNSUPPORTED, class_node->place,
        "calm does not read networks of class '%s'", class_node->text);
  return accel_place_fail(
      w->draft->context, CALM_BAD_INPUT, class_node->place,
      "class '%s' is neither a memory (its name has DRAM, SRAM, regfile, "
      "smartbuffer or storage in it) nor a compute unit (mac, compute)",
      class_node->text);
}

static calm_status add_compute(accel_walk *w, accel_component *c,
                               const accel_visit *v) {
  if (w->draft->has_compute)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, c->place,
                            "a second kind of compute units, '%s' after '%s'",
                            c->name, w->draft->compute.name);
  TRY(accel_nodes_attributes(&c->attributes, w, v->node, ACCEL_NODE_COMPUTE));
  TRY(accel_arch_make_compute(&w->draft->compute, w->draft->context, c));
  w->draft->has_compute = true;
  return CALM_OK;
}

static calm_status add_storage(accel_walk *w, accel_component *c, bool meshed,
                               const accel_visit *v) {
  const accel_yaml *constraints;
  arena *a = w->draft->arena;
  TRY(accel_nodes_attributes(&c->attributes, w, v->node, ACCEL_NODE_STORAGE));
  TRY(accel_nodes_mapping(&constraints, w->draft->context, v->node,
                          "constraints"));
  if (meshed) TRY(accel_nodes_without(&constraints, constraints, "spatial", a));
  return add_level(w, c, constraints, v, false);
}

static calm_status read_class(const accel_yaml **out, accel_walk *w,
                              const accel_yaml *node, const char *name) {
  *out = accel_yaml_get(node, "class");
  if (accel_yaml_is_null(*out))
    return accel_place_fail(
        w->draft->context, CALM_BAD_INPUT, node->place,
        "'%s' has no class; it says what it is, such as SRAM or intmac", name);
  const char *text;
  return accel_yaml_text(&text, w->draft->context, *out, "a class");
}

calm_status accel_nodes_component(accel_walk *w, const accel_visit *v) {
  const char *name;
  mesh m;
  const accel_yaml *class_node;
  TRY(accel_nodes_check_keys(w->draft->context, v->node, component_keys,
                             COUNT(component_keys)));
  TRY(read_name(&name, w, v->node));
  TRY(read_class(&class_node, w, v->node, name));
  const char *class_name = class_node->text;
  const bool memory = accel_arch_is_memory(class_name);
  const bool compute = !memory && accel_arch_is_compute(class_name);
  if (!memory && !compute) {
    if (!accel_arch_is_network(class_name) && strstr(class_name, "nothing"))
      return CALM_OK;
    return unknown_class(w, class_node);
  }
  TRY(read_mesh(&m, w, v->node));
  if (has_fanout(m)) TRY(add_mesh(w, name, v));
  TRY(spread(w, m, v->node));
  accel_component c = describe(w, name, class_name, v->node);
  return memory ? add_storage(w, &c, has_fanout(m), v) : add_compute(w, &c, v);
}
