/*
 * Parts of the reader of version 0.4 (accel_arch_nodes.c): mappings and their
 * keys, attributes with what they inherit, and who keeps what in a !Parallel.
 */
#ifndef CALM_ACCEL_ACCEL_NODES_H
#define CALM_ACCEL_ACCEL_NODES_H

#include "accel/accel_arch.h"

/* `key:`, `key: ~` or `key: null`: as if it were not there. */
bool accel_nodes_is_null(const accel_yaml *node);

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

/*
 * The attributes of a node, evaluated, followed by those that it inherits and
 * has not.  `own` may be NULL; `place` is where the node stands.
 */
calm_status accel_nodes_attributes(const accel_yaml **out,
                                   const accel_yaml *own,
                                   const accel_outside *outside,
                                   accel_node_kind kind, accel_place place,
                                   arena *a);

/* For each branch of a !Parallel: which tensors it keeps, and which the others
   do.  `outer` is where the !Parallel stands itself. */
calm_status accel_nodes_branches(accel_branch **out, const accel_yaml *parallel,
                                 const accel_branch *outer, arena *a);

#endif
