/*
 * Parts of the reader of version 0.4: accel_arch_nodes.c walks over the nodes,
 * accel_nodes_levels.c makes levels of them, whose attributes, with what they
 * inherit, are in accel_nodes_attributes.c; accel_nodes_branches.c knows who
 * keeps what in a !Parallel, accel_nodes_keys.c mappings and their keys.
 */
#ifndef CALM_ACCEL_ACCEL_NODES_H
#define CALM_ACCEL_ACCEL_NODES_H

#include "accel/accel_arch_parts.h"

/* The mapping under a key, NULL if there is none or it is empty. */
calm_status accel_nodes_mapping(const accel_yaml **out, calm_context *context,
                                const accel_yaml *node, const char *key);

/* An empty mapping with room for some keys, and one key more in it.  Values of
   files are not changed by who reads them, so they can be shared. */
calm_status accel_nodes_new_mapping(accel_yaml **out, accel_place place,
                                    uint32_t room, arena *a);
void accel_nodes_put(accel_yaml *mapping, const char *key, accel_place place,
                     const accel_yaml *value);

/* Has a mapping only these keys?  CALM_UNSUPPORTED for those of constructs that
   calm does not do, CALM_BAD_INPUT with the nearest for others. */
calm_status accel_nodes_check_keys(calm_context *context,
                                   const accel_yaml *node,
                                   const char *const *keys, uint32_t count);

/* Copies with one key fewer, and a mapping of one key. */
calm_status accel_nodes_without(const accel_yaml **out, const accel_yaml *map,
                                const char *key, arena *a);
calm_status accel_nodes_only(const accel_yaml **out, const accel_yaml *map,
                             const char *key, arena *a);

typedef enum accel_node_kind {
  ACCEL_NODE_CONTAINER,
  ACCEL_NODE_STORAGE,
  ACCEL_NODE_COMPUTE,
  ACCEL_NODE_MESH /* the level that a mesh makes: it holds nothing */
} accel_node_kind;

/* Values that names in attributes stand for. */
typedef struct accel_outside {
  const accel_yaml *inherited; /* already evaluated */
  const accel_yaml *variables;
} accel_outside;

/* A node on its turn. */
typedef struct accel_visit {
  const accel_yaml *node;
  accel_branch branch;
  bool in_parallel; /* directly */
  uint32_t depth;
} accel_visit;

typedef struct accel_walk {
  accel_arch_draft *draft;
  accel_outside outside;   /* what the containers so far hand on; variables */
  uint64_t mesh_x, mesh_y; /* instances of what comes next */
  VECTOR(accel_visit) waiting; /* the next one is last */
  VECTOR(const accel_yaml *) named;
  uint32_t visits;
} accel_walk;

/* What a value means outside of attributes: names are those of the containers
   so far and of the file. */
calm_status accel_nodes_evaluate(const accel_yaml **out, const accel_walk *w,
                                 const accel_yaml *value);

/* The attributes of a node, evaluated, followed by those that it inherits and
   has not.  A mesh has none of its own. */
calm_status accel_nodes_attributes(const accel_yaml **out, const accel_walk *w,
                                   const accel_yaml *node,
                                   accel_node_kind kind);

/* The levels that a node makes. */
calm_status accel_nodes_container(accel_walk *w, const accel_visit *v);
calm_status accel_nodes_component(accel_walk *w, const accel_visit *v);

/* For each branch of a !Parallel: which tensors it keeps, and which the others
   do.  `outer` is where the !Parallel stands itself. */
calm_status accel_nodes_branches(accel_branch **out, const accel_yaml *parallel,
                                 const accel_branch *outer, arena *a);

#endif
