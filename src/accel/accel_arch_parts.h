/*
 * What the readers of the three kinds of architecture files share: a machine
 * under construction, the making of levels from components, and which of these
 * is a memory.  Attributes have a door of their own, accel_arch_attributes.h.
 */
#ifndef CALM_ACCEL_ACCEL_ARCH_PARTS_H
#define CALM_ACCEL_ACCEL_ARCH_PARTS_H

#include "accel/accel_arch.h"
#include "base/vector.h"

/* A machine under construction. */
typedef struct accel_arch_draft {
  arena *arena;
  calm_context *context;
  const accel_yaml *variables; /* of the file; NULL: it has none */
  accel_compute compute;
  bool has_compute;
  VECTOR(accel_level) levels; /* outermost first */
} accel_arch_draft;

/* What a component is called, and where its attributes stand. */
typedef struct accel_component {
  const char *name;       /* without [0..15] */
  const char *class_name; /* "" if the file has none */
  accel_place place;
  const accel_yaml *attributes; /* a mapping, or NULL: all defaults */
  uint64_t instances;           /* that its place in the file gives it */
  uint64_t mesh_x, mesh_y;      /* likewise; 0: not told */
} accel_component;

/* Is a class of component a memory, a multiplier, or a user-defined network, by
   Timeloop's lists?  They are asked in this order, and one may be several. */
bool accel_arch_is_memory(const char *class_name);
bool accel_arch_is_compute(const char *class_name);
bool accel_arch_is_network(const char *class_name);

/* A level, or the compute array, from its attributes: each known key sets its
   field, a missing one takes Timeloop's default, an unknown one is an error
   with the nearest known.  Energies are not looked at yet. */
calm_status accel_arch_make_level(accel_level *out, calm_context *context,
                                  const accel_component *c, arena *a);
calm_status accel_arch_make_compute(accel_compute *out, calm_context *context,
                                    const accel_component *c);

/* Not negative, and no larger than any machine has: with figures of 1e100 there
   is no product of them and of counts beyond what a double holds. */
#define ACCEL_MAX_FIGURE 1e100
calm_status accel_arch_check_figure(calm_context *context,
                                    const accel_yaml *node, const char *what,
                                    double figure);

/* "PE[0..15]" is PE, 16 times; a name without brackets once. */
calm_status accel_arch_split_name(const char **name, uint64_t *count,
                                  const char *spelled, accel_place place,
                                  arena *a);

/* The three kinds of file: `arch`, `architecture: subtree`, `architecture:
   nodes`; `section` is the value of that key. */
calm_status accel_arch_read_flat(accel_arch_draft *d,
                                 const accel_yaml *section);
calm_status accel_arch_read_tree(accel_arch_draft *d,
                                 const accel_yaml *section);
calm_status accel_arch_read_nodes(accel_arch_draft *d, const accel_yaml *root,
                                  const accel_yaml *section);

/* Energies of all parts of a complete machine; see accel_arch_read. */
calm_status accel_energy_read(accel_arch *arch, const accel_yaml *root,
                              const accel_yaml *ert, bool required,
                              calm_context *context);

#endif
