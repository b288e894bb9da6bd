/*
 * What a mapping on an architecture must observe: Timeloop's constraint
 * sections (`architecture_constraints`, `mapspace_constraints`, `mapspace`,
 * `constraints`) and the constraints that stand at the nodes of a version 0.4
 * architecture.  Rules that contradict each other are reported by name.
 */
#ifndef CALM_ACCEL_ACCEL_CONSTRAINTS_H
#define CALM_ACCEL_ACCEL_CONSTRAINTS_H

#include "accel/accel_nest.h"

typedef enum accel_relation {
  ACCEL_EQUAL,
  ACCEL_AT_MOST,
  ACCEL_AT_LEAST
} accel_relation;

typedef struct accel_factor_rule {
  uint32_t dimension;
  accel_relation relation;
  uint64_t value;
  accel_place place;
} accel_factor_rule;

/* The rules on one block of loops, the temporal or the spatial ones.  Of a
   dimension there is at most one rule of each relation. */
typedef struct accel_block_rules {
  accel_factor_rule *factors;
  uint32_t factor_count;
  uint32_t *inner; /* these dimensions are innermost, in this order */
  uint32_t inner_count;
  uint32_t *outer; /* these are outermost, from the outermost inwards */
  uint32_t outer_count;
  uint32_t split; /* spatial: so many places of the order are on X; CALM_NONE:
                     as it pleases */
  accel_place inner_place, outer_place, split_place;
} accel_block_rules;

typedef struct accel_level_rules {
  uint32_t keep, bypass; /* bit t: tensor t must be kept, must not be */
  accel_place *keep_places, *bypass_places; /* per tensor */
  accel_block_rules temporal, spatial;
} accel_level_rules;

typedef struct accel_constraints {
  accel_level_rules *levels; /* one per level of the architecture */
  uint32_t level_count;
  double min_parallelism; /* share of the multipliers in use; 0: none */
  accel_place parallelism_place;
} accel_constraints;

/* Where the order and the split of a block put a dimension. */
typedef enum accel_axis {
  ACCEL_AXIS_FREE,
  ACCEL_AXIS_X,
  ACCEL_AXIS_Y
} accel_axis;
accel_axis accel_constraints_axis(const accel_block_rules *b,
                                  uint32_t dimension, uint32_t dimension_count);

/* Does a file have a section of constraints at all? */
bool accel_constraints_present(const accel_yaml *root);

/* The rules of `root` (NULL: none) and of the architecture's own nodes.
   A contradiction is CALM_BAD_INPUT and names both places. */
calm_status accel_constraints_read(accel_constraints *out,
                                   const accel_yaml *root,
                                   const accel_arch *arch,
                                   const accel_layer *layer, arena *a);

/* Likewise of several files, whose rules must hold together. */
typedef struct accel_rule_files {
  const accel_yaml *const *roots;
  uint32_t count;
} accel_rule_files;
calm_status accel_constraints_read_files(accel_constraints *out,
                                         const accel_rule_files *files,
                                         const accel_arch *arch,
                                         const accel_layer *layer, arena *a);

/* The first rule that a nest breaks, as one line with its place; NULL in *out
   if it observes all.  Free *out with calm_text_free. */
calm_status accel_constraints_check(char **out, const accel_constraints *c,
                                    const accel_nest *nest,
                                    const accel_arch *arch,
                                    const accel_layer *layer,
                                    calm_context *context);

#endif
