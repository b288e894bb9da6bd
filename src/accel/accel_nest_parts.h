/*
 * What mappings and constraints are written in, and both read alike: the level
 * that a directive is about, factors ("C1 M8", "P=6,2", "K<=16", lists),
 * orders of dimensions ("RSPQ", lists, "CK_N" for innermost and outermost), and
 * lists of tensors.
 */
#ifndef CALM_ACCEL_ACCEL_NEST_PARTS_H
#define CALM_ACCEL_ACCEL_NEST_PARTS_H

#include "accel/accel_constraints.h"

/* What mappings and constraints are about, by names of its levels, dimensions
   and tensors; and where results live. */
typedef struct accel_subject {
  const accel_arch *arch;
  const accel_layer *layer;
  calm_context *context;
  arena *arena;
} accel_subject;

/* The message that there is nothing of that name, with what there is. */
calm_status accel_subject_no_level(const accel_subject *s, accel_place place,
                                   const char *name);
calm_status accel_subject_no_dimension(const accel_subject *s,
                                       accel_place place, const char *name);
calm_status accel_subject_no_tensor(const accel_subject *s, accel_place place,
                                    const char *name);

typedef struct accel_factor {
  accel_factor_rule rule; /* value: at least 1; 0 was the full bound */
  uint64_t residual;      /* 0: none was given */
} accel_factor;

typedef struct accel_factors {
  accel_factor *items;
  uint32_t count;
} accel_factors;

/* Dimensions, none of them twice: innermost first, and from the outermost
   inwards. */
typedef struct accel_order {
  uint32_t *inner, *outer;
  uint32_t inner_count, outer_count;
} accel_order;

/* The type of a directive: one of the words, all spellings of a keyword. */
typedef enum accel_directive_type {
  ACCEL_DIRECTIVE_TEMPORAL,
  ACCEL_DIRECTIVE_SPATIAL,
  ACCEL_DIRECTIVE_TENSORS,
  ACCEL_DIRECTIVE_PARALLELISM,
  ACCEL_DIRECTIVE_OTHER /* known to Timeloop, of no meaning here */
} accel_directive_type;

calm_status accel_directive_read_type(accel_directive_type *out,
                                      const accel_subject *s,
                                      const accel_yaml *type);

/* The level under `target` or `name`: by name, or by number from the innermost
   level.  The mesh of a version 0.4 node NAME is the level
   inter_NAME_spatial. */
calm_status accel_directive_find_level(uint32_t *out, const accel_subject *s,
                                       const accel_yaml *directive,
                                       accel_directive_type type);

/* Every key must be a known one.  One that is known but does nothing here is
   refused if it is given something to do, and said in a warning otherwise. */
calm_status accel_directive_check_keys(const accel_subject *s,
                                       const accel_yaml *directive,
                                       accel_directive_type type,
                                       bool constraint);

calm_status accel_factors_read(accel_factors *out, const accel_subject *s,
                               const accel_yaml *value);
calm_status accel_order_read(accel_order *out, const accel_subject *s,
                             const accel_yaml *value);
/* So many letters are on X; at most the number of dimensions. */
calm_status accel_split_read(uint32_t *out, const accel_subject *s,
                             const accel_yaml *value);
uint32_t accel_tensors_all(const accel_layer *layer);
/* Bit t: tensor t is in the list ("*": all are); NULL: the empty list. */
calm_status accel_tensors_read(uint32_t *out, const accel_subject *s,
                               const accel_yaml *value);

/* The nest that Timeloop prints for people. */
calm_status accel_nest_read_printed(accel_nest *out, const accel_source *source,
                                    const accel_subject *subject);

/* The value of a key, NULL if it is absent or empty. */
const accel_yaml *accel_directive_get(const accel_yaml *directive,
                                      const char *key);

/* What a directive says of tensors: keep, bypass, keep_only, bypass_only. */
calm_status accel_directive_tensors(uint32_t *keep, uint32_t *bypass,
                                    const accel_subject *s,
                                    const accel_yaml *directive);

/* The level that is the mesh of a version 0.4 node; CALM_NONE if there is
   none. */
uint32_t accel_node_mesh(const accel_arch *arch, const char *name);

/* The value of a group of the constraints at a version 0.4 node ("spatial",
   "temporal", "dataspace"), NULL if there is none. */
const accel_yaml *accel_node_group(const accel_arch *arch, uint32_t level,
                                   const char *group);

/* The tensors that a level bypasses because of where it stands in a
   !Parallel. */
calm_status accel_node_branch(uint32_t *bypass, const accel_subject *s,
                              uint32_t level);

/* What the node of a level says of tensors.  A mesh bypasses all; a branch of a
   !Parallel bypasses what it does not keep. */
calm_status accel_node_tensors(uint32_t *keep, uint32_t *bypass,
                               const accel_subject *s, uint32_t level);

#endif
