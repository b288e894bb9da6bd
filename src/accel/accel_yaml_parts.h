/*
 * Merging of mappings, for the reader of files (accel_yaml_read.c) and for
 * joining several files (accel_yaml.c).
 */
#ifndef CALM_ACCEL_ACCEL_YAML_PARTS_H
#define CALM_ACCEL_ACCEL_YAML_PARTS_H

#include "accel/accel_yaml.h"

enum {
  /* Nothing that people write is deeper, aliases followed.  Whoever walks a
     tree may go down by calling itself. */
  ACCEL_YAML_DEPTH = 64,
  /* Nodes of a tree, what is behind an alias counted each time: a walk ends. */
  ACCEL_YAML_NODES = 1000000,
  /* Of one mapping: keys are looked for one by one. */
  ACCEL_YAML_KEYS = 2048
};

/* Take `more` from what is left of ACCEL_YAML_NODES. */
calm_status accel_yaml_spend(uint32_t *left, uint64_t more,
                             calm_context *context, accel_place place);

/* A mapping like another one (place, tag) with room for `count` keys. */
calm_status accel_yaml_new_mapping(accel_yaml **out, const accel_yaml *like,
                                   uint32_t count, arena *a);

/* Append key i of `from`; there must be room. */
void accel_yaml_put(accel_yaml *mapping, const accel_yaml *from, uint32_t i);

/* Set height and weight of a collection from those of its items. */
void accel_yaml_measure(accel_yaml *node);

/* Add to a mapping, as a new one in *into, the keys of `more` that it lacks;
   with `deep`, mappings that both have are merged likewise.  What is made anew
   is spent. */
calm_status accel_yaml_merge(accel_yaml **into, const accel_yaml *more,
                             bool deep, uint32_t *left, arena *a);

#endif
