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
#include <string.h>

#include "accel/accel_expression.h"
#include "accel/accel_names.h"
#include "accel/accel_nodes.h"

/* Branches in branches, and nodes in all; aliases could make both many. */
enum { MAX_DEPTH = 64, MAX_NODES = 4096 };

static const char *const branch_keys[] = {"nodes"};
static const char *const nothing_keys[] = {"name", "class", "constraints",
                                           "enabled"};
static const char *const top_keys[] = {"version", "nodes"};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

calm_status accel_nodes_evaluate(const accel_yaml **out, const accel_walk *w,
                                 const accel_yaml *value) {
  const accel_scope scope = {{w->outside.inherited, w->outside.variables}};
  return accel_expression_evaluate(out, value, &scope, w->draft->arena);
}

/* ---- Branches ------------------------------------------------------------ */

static calm_status nodes_of(const accel_yaml **out, accel_walk *w,
                            const accel_yaml *node) {
  const accel_yaml *nodes = accel_yaml_get(node, "nodes");
  *out = NULL;
  if (accel_yaml_is_null(nodes)) return CALM_OK;
  if (nodes->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, nodes->place,
                            "'nodes' must be a list");
  *out = nodes;
  return CALM_OK;
}

static calm_status push_nodes(accel_walk *w, const accel_visit *v,
                              const accel_yaml *nodes,
                              const accel_branch *branches) {
  if (!nodes) return CALM_OK;
  if (v->depth == MAX_DEPTH)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, v->node->place,
                            "branches more than %d deep", MAX_DEPTH);
  if (nodes->count > MAX_NODES - w->visits)
    return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, v->node->place,
                            "more than %d nodes", MAX_NODES);
  w->visits += nodes->count;
  for (uint32_t i = nodes->count; i-- > 0;)
    VECTOR_PUSH(w->draft->context, &w->waiting,
                (accel_visit){.node = nodes->items[i],
                              .branch = branches ? branches[i] : v->branch,
                              .in_parallel = branches != NULL,
                              .depth = v->depth + 1});
  return CALM_OK;
}

static calm_status visit_branch(accel_walk *w, const accel_visit *v,
                                bool parallel) {
  const accel_yaml *nodes;
  accel_branch *branches = NULL;
  TRY(accel_nodes_check_keys(w->draft->context, v->node, branch_keys,
                             COUNT(branch_keys)));
  TRY(nodes_of(&nodes, w, v->node));
  if (parallel && nodes)
    TRY(accel_nodes_branches(&branches, v->node, &v->branch, w->draft->arena));
  return push_nodes(w, v, nodes, branches);
}

typedef enum tag {
  COMPONENT,
  CONTAINER,
  PARALLEL,
  HIERARCHICAL,
  PIPELINED, /* read as a !Hierarchical, as the front end reads it */
  NOTHING,
  TAG_COUNT
} tag;

static const char *const tags[TAG_COUNT] = {"!Component", "!Container",
                                            "!Parallel",  "!Hierarchical",
                                            "!Pipelined", "!Nothing"};

static tag tag_of(const accel_yaml *node) {
  uint32_t i = 0;
  while (i < TAG_COUNT && (!node->tag || strcmp(node->tag, tags[i]))) i++;
  return (tag)i;
}

static calm_status unknown_tag(accel_walk *w, const accel_yaml *node) {
  const char *tag = node->tag;
  if (!tag)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, node->place,
                            "a node begins with what it is, such as "
                            "!Component or !Container");
  const char *near = accel_names_nearest(tag, tags, TAG_COUNT);
  if (near)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, node->place,
                            "'%s' is not known; did you mean '%s'?", tag, near);
  return accel_place_fail(w->draft->context, CALM_UNSUPPORTED, node->place,
                          "calm does not read nodes of the kind '%s'", tag);
}

/* A node that says `enabled: false` is not there. */
static calm_status read_enabled(bool *out, accel_walk *w,
                                const accel_yaml *node) {
  const accel_yaml *value = accel_yaml_get(node, "enabled");
  *out = true;
  if (accel_yaml_is_null(value)) return CALM_OK;
  TRY(accel_nodes_evaluate(&value, w, value));
  if (value->kind == ACCEL_YAML_SCALAR &&
      (!strcmp(value->text, "0") || !strcmp(value->text, "1"))) {
    *out = *value->text == '1';
    return CALM_OK;
  }
  return accel_yaml_bool(out, w->draft->context, value, "enabled");
}

static calm_status visit_node(accel_walk *w, const accel_visit *v) {
  const accel_yaml *node = v->node;
  const tag what = tag_of(node);
  bool enabled;
  if (what == TAG_COUNT) return unknown_tag(w, node);
  if (what != COMPONENT && what != CONTAINER && accel_yaml_is_null(node))
    return CALM_OK;
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, node->place,
                            "%s must be a mapping", node->tag);
  TRY(read_enabled(&enabled, w, node));
  if (!enabled) return CALM_OK;
  switch (what) {
    case COMPONENT: return accel_nodes_component(w, v);
    case CONTAINER: return accel_nodes_container(w, v);
    case NOTHING:
      return accel_nodes_check_keys(w->draft->context, node, nothing_keys,
                                    COUNT(nothing_keys));
    default: return visit_branch(w, v, what == PARALLEL);
  }
}

/* ---- The whole ----------------------------------------------------------- */

static calm_status check_version(calm_context *context,
                                 const accel_yaml *section) {
  const accel_yaml *version = accel_yaml_get(section, "version");
  const char *text;
  if (accel_yaml_is_null(version)) return CALM_OK;
  TRY(accel_yaml_text(&text, context, version, "the version"));
  if (strcmp(text, "0.4"))
    return accel_place_fail(context, CALM_UNSUPPORTED, version->place,
                            "'nodes' in version %s; calm reads them in 0.4",
                            text);
  return CALM_OK;
}

static calm_status walk_all(accel_walk *w, const accel_yaml *root,
                            const accel_yaml *section) {
  const accel_yaml *nodes;
  const accel_visit top = {.node = section};
  TRY(check_version(w->draft->context, section));
  TRY(accel_nodes_check_keys(w->draft->context, section, top_keys,
                             COUNT(top_keys)));
  TRY(accel_nodes_mapping(&w->outside.variables, w->draft->context, root,
                          "variables"));
  TRY(nodes_of(&nodes, w, section));
  TRY(push_nodes(w, &top, nodes, NULL));
  while (w->waiting.count > 0) {
    const accel_visit next = w->waiting.data[--w->waiting.count];
    TRY(visit_node(w, &next));
  }
  if (!w->draft->has_compute)
    return accel_place_fail(w->draft->context, CALM_BAD_INPUT, section->place,
                            "no compute units: the last node must be a "
                            "!Component of a class such as intmac");
  return CALM_OK;
}

calm_status accel_arch_read_nodes(accel_arch_draft *d, const accel_yaml *root,
                                  const accel_yaml *section) {
  accel_walk w = {.draft = d, .mesh_x = 1, .mesh_y = 1};
  const calm_status status = walk_all(&w, root, section);
  VECTOR_FREE(d->context, &w.waiting);
  VECTOR_FREE(d->context, &w.named);
  return status;
}
