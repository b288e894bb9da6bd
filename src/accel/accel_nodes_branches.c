/*
 * Who keeps what in a !Parallel.  A tensor that some node below a branch says
 * to keep is that branch's, and bypassed in the others; two branches cannot
 * have the same one.
 */
#include <string.h>

#include "accel/accel_nodes.h"
#include "base/vector.h"

/* Nodes looked at for one !Parallel; aliases could make them many. */
enum { MAX_NODES = 4096, MAX_BRANCHES = 256, MAX_NAMES = 64 };

typedef VECTOR(const char *) name_list;
typedef VECTOR(const accel_yaml *) node_list;

static bool has_name(const char *const *names, uint32_t count,
                     const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

static calm_status add_kept(name_list *keeps, calm_context *context,
                            const accel_yaml *list) {
  const char *name;
  if (accel_yaml_is_null(list)) return CALM_OK;
  if (list->kind != ACCEL_YAML_SEQUENCE)
    return accel_place_fail(context, CALM_BAD_INPUT, list->place,
                            "what is kept must be a list of tensors");
  if (list->count > MAX_NAMES)
    return accel_place_fail(context, CALM_UNSUPPORTED, list->place,
                            "more than %d tensors", MAX_NAMES);
  for (uint32_t i = 0; i < list->count; i++) {
    TRY(accel_yaml_text(&name, context, list->items[i], "a tensor to keep"));
    if (!has_name(keeps->data, keeps->count, name))
      VECTOR_PUSH(context, keeps, name);
  }
  return CALM_OK;
}

static calm_status add_kept_of(name_list *keeps, calm_context *context,
                               const accel_yaml *node) {
  const accel_yaml *constraints, *dataspace;
  TRY(accel_nodes_mapping(&constraints, context, node, "constraints"));
  TRY(accel_nodes_mapping(&dataspace, context, constraints, "dataspace"));
  const accel_yaml *except = accel_yaml_get(dataspace, "bypass_only");
  if (!accel_yaml_is_null(except))
    return accel_place_fail(context, CALM_UNSUPPORTED, except->place,
                            "'bypass_only' inside a !Parallel; say what is "
                            "kept with 'keep_only'");
  TRY(add_kept(keeps, context, accel_yaml_get(dataspace, "keep")));
  return add_kept(keeps, context, accel_yaml_get(dataspace, "keep_only"));
}

/* All that is kept at `top` and below; `stack` is room for the way down. */
static calm_status collect_kept(name_list *keeps, node_list *stack,
                                calm_context *context, const accel_yaml *top) {
  stack->count = 0;
  VECTOR_PUSH(context, stack, top);
  for (uint32_t seen = 0; stack->count > 0; seen++) {
    const accel_yaml *node = stack->data[--stack->count];
    if (seen == MAX_NODES)
      return accel_place_fail(context, CALM_UNSUPPORTED, top->place,
                              "a branch of more than %d nodes", MAX_NODES);
    TRY(add_kept_of(keeps, context, node));
    const accel_yaml *below = accel_yaml_get(node, "nodes");
    if (!below || below->kind != ACCEL_YAML_SEQUENCE) continue;
    for (uint32_t i = 0; i < below->count; i++)
      VECTOR_PUSH(context, stack, below->items[i]);
  }
  return CALM_OK;
}

static calm_status copy_names(const char ***out, const name_list *names,
                              arena *a) {
  ARENA_ARRAY(a, *out, names->count);
  for (uint32_t i = 0; i < names->count; i++) (*out)[i] = names->data[i];
  return CALM_OK;
}

/* Scratch that is freed on every path. */
typedef struct collection {
  name_list names;
  node_list stack;
} collection;

static calm_status find_keeps(accel_branch *branches, collection *c,
                              const accel_yaml *nodes, arena *a) {
  for (uint32_t i = 0; i < nodes->count; i++) {
    c->names.count = 0;
    TRY(collect_kept(&c->names, &c->stack, a->context, nodes->items[i]));
    TRY(copy_names(&branches[i].keeps, &c->names, a));
    branches[i].keep_count = c->names.count;
  }
  return CALM_OK;
}

static bool clashes(const accel_branch *one, const char *name) {
  return has_name(one->keeps, one->keep_count, name) ||
         has_name(one->keeps, one->keep_count, "*") ||
         (!strcmp(name, "*") && one->keep_count > 0);
}

static calm_status check_disjoint(const accel_branch *branches,
                                  const accel_yaml *nodes,
                                  calm_context *context) {
  for (uint32_t i = 0; i < nodes->count; i++)
    for (uint32_t j = 0; j < i; j++)
      for (uint32_t k = 0; k < branches[i].keep_count; k++)
        if (clashes(&branches[j], branches[i].keeps[k]))
          return accel_place_fail(
              context, CALM_BAD_INPUT, nodes->items[i]->place,
              "'%s' is kept here and in the branch of line %u; only one branch "
              "of a !Parallel can keep a tensor",
              branches[i].keeps[k], nodes->items[j]->place.line);
  return CALM_OK;
}

static calm_status add_names(name_list *names, calm_context *context,
                             const char *const *more, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!has_name(names->data, names->count, more[i]))
      VECTOR_PUSH(context, names, more[i]);
  return CALM_OK;
}

static calm_status find_bypasses(accel_branch *branches, collection *c,
                                 uint32_t count, const accel_branch *outer,
                                 arena *a) {
  for (uint32_t i = 0; i < count; i++) {
    c->names.count = 0;
    TRY(add_names(&c->names, a->context, outer->bypasses, outer->bypass_count));
    for (uint32_t j = 0; j < count; j++)
      if (j != i)
        TRY(add_names(&c->names, a->context, branches[j].keeps,
                      branches[j].keep_count));
    TRY(copy_names(&branches[i].bypasses, &c->names, a));
    branches[i].bypass_count = c->names.count;
  }
  return CALM_OK;
}

static calm_status find_branches(accel_branch *branches, collection *c,
                                 const accel_yaml *nodes,
                                 const accel_branch *outer, arena *a) {
  TRY(find_keeps(branches, c, nodes, a));
  TRY(check_disjoint(branches, nodes, a->context));
  return find_bypasses(branches, c, nodes->count, outer, a);
}

calm_status accel_nodes_branches(accel_branch **out, const accel_yaml *parallel,
                                 const accel_branch *outer, arena *a) {
  const accel_yaml *nodes = accel_yaml_get(parallel, "nodes");
  collection c = {0};
  if (nodes->count > MAX_BRANCHES)
    return accel_place_fail(a->context, CALM_UNSUPPORTED, parallel->place,
                            "a !Parallel of more than %d branches",
                            MAX_BRANCHES);
  ARENA_ARRAY(a, *out, nodes->count);
  for (uint32_t i = 0; i < nodes->count; i++) (*out)[i].place = parallel->place;
  const calm_status status = find_branches(*out, &c, nodes, outer, a);
  VECTOR_FREE(a->context, &c.names);
  VECTOR_FREE(a->context, &c.stack);
  return status;
}
