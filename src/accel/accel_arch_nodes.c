/*
 * Version 0.4: `architecture: nodes`.  Levels and their order are those that
 * Timeloop's front end makes: the nodes one after the other, outermost first,
 * in whatever branches they stand.
 *
 *     !Container {spatial: {meshX: 14}}   a level inter_NAME_spatial that holds
 *                                         nothing; below it 14 of everything
 *     !Component {spatial: {meshY: 4}}    the same, then the level itself,
 *                                         4 times
 *     !Parallel                           the levels of its branches one after
 *                                         the other, each tensor in one branch
 *
 * Attributes of a container go to all that follows it, unless that has its own.
 */
#include <stdio.h>
#include <string.h>

#include "accel/accel_arch_attributes.h"
#include "accel/accel_expression.h"
#include "accel/accel_names.h"
#include "accel/accel_nodes.h"

/* Branches in branches, and nodes in all; aliases could make both many. */
enum { MAX_DEPTH = 64, MAX_NODES = 4096 };

typedef struct visit {
  const accel_yaml *node;
  accel_branch branch;
  bool in_parallel; /* directly */
  uint32_t depth;
} visit;

typedef struct walk {
  accel_arch_draft *draft;
  accel_outside outside; /* what the containers so far hand on; variables */
  uint64_t mesh_x, mesh_y;
  VECTOR(visit) waiting; /* the next one is last */
  VECTOR(const accel_yaml *) named;
  uint32_t visits;
} walk;

typedef struct mesh {
  uint64_t x, y;
} mesh;

static calm_context *context_of(const walk *w) { return w->draft->context; }

/* ---- Keys ---------------------------------------------------------------- */

static const char *const component_keys[] = {
    "name",        "class",   "subclass",
    "attributes",  "spatial", "constraints",
    "area_scale",  "enabled", "required_actions",
    "energy_scale"};
static const char *const container_keys[] = {"name", "attributes", "spatial",
                                             "constraints", "enabled"};
static const char *const branch_keys[] = {"nodes"};
static const char *const nothing_keys[] = {"name", "class", "constraints",
                                           "enabled"};
static const char *const top_keys[] = {"version", "nodes"};
static const char *const mesh_keys[] = {"meshX", "meshY"};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* ---- Leaves -------------------------------------------------------------- */

static accel_scope scope_of(const walk *w) {
  return (accel_scope){{w->outside.inherited, w->outside.variables}};
}

static calm_status read_name(const char **out, walk *w,
                             const accel_yaml *node) {
  const accel_yaml *name = accel_yaml_get(node, "name");
  if (accel_nodes_is_null(name))
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "a %s without a name", node->tag + 1);
  TRY(accel_yaml_text(out, context_of(w), name, "a name"));
  if (strchr(*out, '['))
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, name->place,
                            "'%s': version 0.4 says how many there are under "
                            "'spatial', not in brackets",
                            *out);
  for (uint32_t i = 0; i < w->named.count; i++)
    if (!strcmp(w->named.data[i]->text, *out))
      return accel_place_fail(context_of(w), CALM_BAD_INPUT, name->place,
                              "'%s' is the name of the node in line %u already",
                              *out, w->named.data[i]->place.line);
  VECTOR_PUSH(context_of(w), &w->named, name);
  return CALM_OK;
}

static calm_status read_side(uint64_t *out, walk *w, const accel_yaml *spatial,
                             const char *key) {
  const accel_yaml *value = accel_yaml_get(spatial, key);
  const accel_scope scope = scope_of(w);
  if (accel_nodes_is_null(value)) return CALM_OK;
  TRY(accel_expression_evaluate(&value, value, &scope, w->draft->arena));
  TRY(accel_yaml_integer(out, context_of(w), value, key));
  if (*out == 0)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, value->place,
                            "%s must be at least 1", key);
  return CALM_OK;
}

static calm_status read_mesh(mesh *out, walk *w, const accel_yaml *node) {
  const accel_yaml *spatial;
  *out = (mesh){1, 1};
  TRY(accel_nodes_mapping(&spatial, context_of(w), node, "spatial"));
  if (!spatial) return CALM_OK;
  TRY(accel_nodes_check_keys(context_of(w), spatial, mesh_keys,
                             COUNT(mesh_keys)));
  TRY(read_side(&out->x, w, spatial, "meshX"));
  return read_side(&out->y, w, spatial, "meshY");
}

static bool has_fanout(mesh m) { return m.x > 1 || m.y > 1; }

/* From here on there are so many times more of everything. */
static calm_status spread(walk *w, mesh m, const accel_yaml *node) {
  uint64_t x, y, all;
  if (__builtin_mul_overflow(w->mesh_x, m.x, &x) ||
      __builtin_mul_overflow(w->mesh_y, m.y, &y) ||
      __builtin_mul_overflow(x, y, &all) || all > UINT32_MAX)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "more than 2^32 instances");
  w->mesh_x = x;
  w->mesh_y = y;
  return CALM_OK;
}

static accel_component describe(const walk *w, const char *name,
                                const char *class_name,
                                const accel_yaml *node) {
  return (accel_component){.name = name,
                           .class_name = class_name,
                           .place = node->place,
                           .instances = w->mesh_x * w->mesh_y,
                           .mesh_x = w->mesh_x,
                           .mesh_y = w->mesh_y};
}

static calm_status add_level(walk *w, const accel_component *c,
                             const accel_yaml *constraints, const visit *v,
                             bool virtual_level) {
  accel_level level = {0};
  if (w->draft->has_compute)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, c->place,
                            "'%s' stands below the compute units, which must "
                            "be last",
                            c->name);
  TRY(accel_arch_make_level(&level, context_of(w), c, w->draft->arena));
  level.constraints = constraints;
  level.virtual_level = virtual_level;
  level.branch = v->branch;
  VECTOR_PUSH(context_of(w), &w->draft->levels, level);
  return CALM_OK;
}

/* The level that a mesh makes, of as many instances as there are above it. */
static calm_status add_mesh(walk *w, const char *name, const visit *v) {
  enum { LONGEST = 200 };
  char buffer[LONGEST + 16];
  const accel_yaml *constraints;
  arena *a = w->draft->arena;
  if (strlen(name) > LONGEST)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, v->node->place,
                            "a name of more than %d letters", LONGEST);
  if (v->in_parallel)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, v->node->place,
                            "'%s' has a mesh directly in a !Parallel; put it "
                            "into a !Hierarchical there",
                            name);
  snprintf(buffer, sizeof buffer, "inter_%s_spatial", name);
  const char *full = arena_string(a, buffer, strlen(buffer));
  if (!full) return context_no_memory(context_of(w));
  accel_component c = describe(w, full, "dummy_storage", v->node);
  TRY(accel_nodes_attributes(&c.attributes, NULL, &w->outside, ACCEL_NODE_MESH,
                             v->node->place, a));
  TRY(accel_nodes_mapping(&constraints, context_of(w), v->node, "constraints"));
  TRY(accel_nodes_only(&constraints, constraints, "spatial", a));
  return add_level(w, &c, constraints, v, true);
}

static void warn_of_dropped(walk *w, const accel_yaml *constraints) {
  for (uint32_t i = 0; constraints && i < constraints->count; i++)
    if (!accel_yaml_same_key(constraints->keys[i], "spatial"))
      context_log(context_of(w), CALM_LOG_WARNING,
                  "%s:%u: a container holds nothing, so its '%s' constraints "
                  "say nothing",
                  constraints->key_places[i].file,
                  constraints->key_places[i].line, constraints->keys[i]);
}

/* A container may hold quantities of the author's own; one that looks like a
   misspelt attribute is told. */
static void warn_of_misspelt(walk *w, const accel_yaml *own) {
  for (uint32_t i = 0; own && i < own->count; i++) {
    const char *key = own->keys[i];
    if (accel_arch_knows_key(key)) continue;
    const char *near = accel_attributes_nearest(key, ACCEL_KEY_BOTH);
    if (near)
      context_log(
          context_of(w), CALM_LOG_WARNING,
          "%s:%u: '%s' is no attribute of a component; did you mean '%s'?",
          own->key_places[i].file, own->key_places[i].line, key, near);
  }
}

/* What a container says comes before what those before it said. */
static calm_status hand_on(walk *w, const accel_yaml *own, accel_place place) {
  return accel_nodes_attributes(&w->outside.inherited, own, &w->outside,
                                ACCEL_NODE_CONTAINER, place, w->draft->arena);
}

static calm_status visit_container(walk *w, const visit *v) {
  const char *name;
  mesh m;
  const accel_yaml *own, *constraints;
  TRY(accel_nodes_check_keys(context_of(w), v->node, container_keys,
                             COUNT(container_keys)));
  TRY(read_name(&name, w, v->node));
  if (v->in_parallel)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, v->node->place,
                            "a !Container directly in a !Parallel; put it "
                            "into a !Hierarchical there");
  TRY(accel_nodes_mapping(&own, context_of(w), v->node, "attributes"));
  TRY(accel_nodes_mapping(&constraints, context_of(w), v->node, "constraints"));
  warn_of_dropped(w, constraints);
  warn_of_misspelt(w, own);
  TRY(hand_on(w, own, v->node->place));
  TRY(read_mesh(&m, w, v->node));
  if (has_fanout(m)) TRY(add_mesh(w, name, v));
  return spread(w, m, v->node);
}

static bool is_network(const char *class_name) {
  static const char *const parts[] = {"XY_NoC", "Legacy", "ReductionTree",
                                      "SimpleMulticast"};
  for (uint32_t i = 0; i < COUNT(parts); i++)
    if (strstr(class_name, parts[i])) return true;
  return false;
}

static calm_status unknown_class(walk *w, const accel_yaml *class_node) {
  if (is_network(class_node->text))
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, class_node->place,
                            "calm does not read networks of class '%s'",
                            class_node->text);
  return accel_place_fail(
      context_of(w), CALM_BAD_INPUT, class_node->place,
      "class '%s' is neither a memory (its name has DRAM, SRAM, regfile, "
      "smartbuffer or storage in it) nor a compute unit (mac, compute)",
      class_node->text);
}

static calm_status add_compute(walk *w, accel_component *c,
                               const accel_yaml *own, const visit *v) {
  if (w->draft->has_compute)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, c->place,
                            "a second kind of compute units, '%s' after '%s'",
                            c->name, w->draft->compute.name);
  TRY(accel_nodes_attributes(&c->attributes, own, &w->outside,
                             ACCEL_NODE_COMPUTE, v->node->place,
                             w->draft->arena));
  TRY(accel_arch_make_compute(&w->draft->compute, context_of(w), c));
  w->draft->has_compute = true;
  return CALM_OK;
}

static calm_status add_storage(walk *w, accel_component *c,
                               const accel_yaml *own, bool meshed,
                               const visit *v) {
  const accel_yaml *constraints;
  arena *a = w->draft->arena;
  TRY(accel_nodes_attributes(&c->attributes, own, &w->outside,
                             ACCEL_NODE_STORAGE, v->node->place, a));
  TRY(accel_nodes_mapping(&constraints, context_of(w), v->node, "constraints"));
  if (meshed) TRY(accel_nodes_without(&constraints, constraints, "spatial", a));
  return add_level(w, c, constraints, v, false);
}

static calm_status read_class(const accel_yaml **out, walk *w,
                              const accel_yaml *node, const char *name) {
  *out = accel_yaml_get(node, "class");
  if (accel_nodes_is_null(*out))
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "'%s' has no class", name);
  const char *text;
  return accel_yaml_text(&text, context_of(w), *out, "a class");
}

static calm_status visit_component(walk *w, const visit *v) {
  const char *name;
  mesh m;
  const accel_yaml *class_node, *own;
  TRY(accel_nodes_check_keys(context_of(w), v->node, component_keys,
                             COUNT(component_keys)));
  TRY(read_name(&name, w, v->node));
  TRY(read_class(&class_node, w, v->node, name));
  const char *class_name = class_node->text;
  const bool memory = accel_arch_is_memory(class_name);
  const bool compute = !memory && accel_arch_is_compute(class_name);
  if (!memory && !compute) {
    if (!is_network(class_name) && strstr(class_name, "nothing"))
      return CALM_OK;
    return unknown_class(w, class_node);
  }
  TRY(accel_nodes_mapping(&own, context_of(w), v->node, "attributes"));
  TRY(read_mesh(&m, w, v->node));
  if (has_fanout(m)) TRY(add_mesh(w, name, v));
  TRY(spread(w, m, v->node));
  accel_component c = describe(w, name, class_name, v->node);
  return memory ? add_storage(w, &c, own, has_fanout(m), v)
                : add_compute(w, &c, own, v);
}

/* ---- Branches ------------------------------------------------------------ */

static calm_status nodes_of(const accel_yaml **out, walk *w,
                            const accel_yaml *node) {
  const accel_yaml *nodes = accel_yaml_get(node, "nodes");
  *out = NULL;
  if (accel_nodes_is_null(nodes)) return CALM_OK;
  if (nodes->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, nodes->place,
                            "'nodes' must be a list");
  *out = nodes;
  return CALM_OK;
}

static calm_status push_nodes(walk *w, const visit *v, const accel_yaml *nodes,
                              const accel_branch *branches) {
  if (!nodes) return CALM_OK;
  if (v->depth == MAX_DEPTH)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, v->node->place,
                            "branches more than %d deep", MAX_DEPTH);
  if (nodes->count > MAX_NODES - w->visits)
    return accel_place_fail(context_of(w), CALM_UNSUPPORTED, v->node->place,
                            "more than %d nodes", MAX_NODES);
  w->visits += nodes->count;
  for (uint32_t i = nodes->count; i-- > 0;)
    VECTOR_PUSH(context_of(w), &w->waiting,
                (visit){.node = nodes->items[i],
                        .branch = branches ? branches[i] : v->branch,
                        .in_parallel = branches != NULL,
                        .depth = v->depth + 1});
  return CALM_OK;
}

static calm_status visit_branch(walk *w, const visit *v, bool parallel) {
  const accel_yaml *nodes;
  accel_branch *branches = NULL;
  TRY(accel_nodes_check_keys(context_of(w), v->node, branch_keys,
                             COUNT(branch_keys)));
  TRY(nodes_of(&nodes, w, v->node));
  if (parallel && nodes)
    TRY(accel_nodes_branches(&branches, v->node, &v->branch, w->draft->arena));
  return push_nodes(w, v, nodes, branches);
}

static const char *const tags[] = {"!Component",    "!Container", "!Parallel",
                                   "!Hierarchical", "!Pipelined", "!Nothing"};

static calm_status unknown_tag(walk *w, const accel_yaml *node) {
  const char *tag = node->tag;
  if (!tag)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "a node begins with what it is, such as "
                            "!Component or !Container");
  const char *near = accel_names_nearest(tag, tags, COUNT(tags));
  if (near)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "'%s' is not known; did you mean '%s'?", tag, near);
  return accel_place_fail(context_of(w), CALM_UNSUPPORTED, node->place,
                          "calm does not read nodes of the kind '%s'", tag);
}

/* A node that says `enabled: false` is not there. */
static calm_status read_enabled(bool *out, walk *w, const accel_yaml *node) {
  const accel_yaml *value = accel_yaml_get(node, "enabled");
  const accel_scope scope = scope_of(w);
  *out = true;
  if (accel_nodes_is_null(value)) return CALM_OK;
  TRY(accel_expression_evaluate(&value, value, &scope, w->draft->arena));
  if (value->kind == ACCEL_YAML_SCALAR &&
      (!strcmp(value->text, "0") || !strcmp(value->text, "1"))) {
    *out = *value->text == '1';
    return CALM_OK;
  }
  return accel_yaml_bool(out, context_of(w), value, "enabled");
}

static calm_status visit_node(walk *w, const visit *v) {
  const accel_yaml *node = v->node;
  uint32_t kind = 0;
  bool enabled;
  while (kind < COUNT(tags) && (!node->tag || strcmp(node->tag, tags[kind])))
    kind++;
  if (kind == COUNT(tags)) return unknown_tag(w, node);
  if (kind >= 2 && accel_nodes_is_null(node)) return CALM_OK;
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, node->place,
                            "%s must be a mapping", node->tag);
  TRY(read_enabled(&enabled, w, node));
  if (!enabled) return CALM_OK;
  switch (kind) {
    case 0: return visit_component(w, v);
    case 1: return visit_container(w, v);
    case 5:
      return accel_nodes_check_keys(context_of(w), node, nothing_keys,
                                    COUNT(nothing_keys));
    default: return visit_branch(w, v, kind == 2);
  }
}

/* ---- The whole ----------------------------------------------------------- */

static calm_status check_version(calm_context *context,
                                 const accel_yaml *section) {
  const accel_yaml *version = accel_yaml_get(section, "version");
  const char *text;
  if (accel_nodes_is_null(version)) return CALM_OK;
  TRY(accel_yaml_text(&text, context, version, "the version"));
  if (strcmp(text, "0.4"))
    return accel_place_fail(context, CALM_UNSUPPORTED, version->place,
                            "'nodes' in version %s; calm reads them in 0.4",
                            text);
  return CALM_OK;
}

static calm_status walk_all(walk *w, const accel_yaml *root,
                            const accel_yaml *section) {
  const accel_yaml *nodes;
  const visit top = {.node = section};
  TRY(check_version(context_of(w), section));
  TRY(accel_nodes_check_keys(context_of(w), section, top_keys,
                             COUNT(top_keys)));
  TRY(accel_nodes_mapping(&w->outside.variables, context_of(w), root,
                          "variables"));
  TRY(nodes_of(&nodes, w, section));
  TRY(push_nodes(w, &top, nodes, NULL));
  while (w->waiting.count > 0) {
    const visit next = w->waiting.data[--w->waiting.count];
    TRY(visit_node(w, &next));
  }
  if (!w->draft->has_compute)
    return accel_place_fail(context_of(w), CALM_BAD_INPUT, section->place,
                            "no compute units: the last node must be a "
                            "!Component of a class such as intmac");
  return CALM_OK;
}

calm_status accel_arch_read_nodes(accel_arch_draft *d, const accel_yaml *root,
                                  const accel_yaml *section) {
  walk w = {.draft = d, .mesh_x = 1, .mesh_y = 1};
  const calm_status status = walk_all(&w, root, section);
  VECTOR_FREE(d->context, &w.waiting);
  VECTOR_FREE(d->context, &w.named);
  return status;
}
