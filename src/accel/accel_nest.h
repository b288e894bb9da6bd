/*
 * A loop nest on an architecture: which loops run over time at which level,
 * which are spread over the mesh below it, and which tensors a level keeps.
 * Loops are one list, innermost first: for each level its spatial loops (they
 * stand between this level and the next inner one), then its temporal ones.
 * Loops of one iteration are left out.  In an imperfect loop the last pass (all
 * outer loops of its dimension at their last index) has `residual` iterations.
 */
#ifndef CALM_ACCEL_ACCEL_NEST_H
#define CALM_ACCEL_ACCEL_NEST_H

#include "accel/accel_arch.h"
#include "accel/accel_layer.h"

typedef enum accel_loop_kind {
  ACCEL_SPATIAL_X, /* along a row of the mesh */
  ACCEL_SPATIAL_Y, /* along a column */
  ACCEL_TEMPORAL
} accel_loop_kind;

typedef struct accel_loop {
  uint64_t bound;    /* > 1, or residual > 1 */
  uint64_t residual; /* 1..bound; == bound if perfect */
  uint32_t dimension, level;
  accel_loop_kind kind;
} accel_loop;

typedef struct accel_nest {
  accel_loop *loops; /* innermost first, in the order said above */
  uint32_t loop_count;
  uint32_t *kept; /* per level; bit t: tensor t has a buffer there */
  uint32_t level_count;
  uint32_t *unlinked; /* per level; bit t: below it, neighbours do not hand on
                         tensor t (no_link_transfer); NULL: they may */
} accel_nest;

/* Are all tensors that a machine's bandwidth scales name among those of the
   layer?  CALM_BAD_INPUT with the place and the nearest name otherwise. */
calm_status accel_arch_check_tensors(const accel_arch *arch,
                                     const accel_layer *layer,
                                     calm_context *context);

/*
 * Timeloop's mapping (`mapping:`).  A tensor is kept wherever nothing says
 * otherwise.  Names that are not there, and directives that calm does not know,
 * are errors; factors whose product is not the bound are not: whether a nest is
 * valid is for the cost room to say.
 */
calm_status accel_nest_read(accel_nest *out, const accel_yaml *root,
                            const accel_arch *arch, const accel_layer *layer,
                            arena *a);

/* A text in memory; `name` stands for its file in messages. */
typedef struct accel_source {
  const char *name, *bytes;
  size_t length;
} accel_source;

/* Timeloop's mapping, or the nest that it prints for people (`.map.txt`): which
   of the two is seen from the text. */
calm_status accel_nest_parse(accel_nest *out, const accel_source *source,
                             const accel_arch *arch, const accel_layer *layer,
                             arena *a);
calm_status accel_nest_open(accel_nest *out, const char *path,
                            const accel_arch *arch, const accel_layer *layer,
                            arena *a);

/* The mapping as Timeloop reads it, outermost level first; accel_nest_read
   gives back the same nest. */
calm_status accel_nest_write(char **out, const accel_nest *nest,
                             const accel_arch *arch, const accel_layer *layer,
                             calm_context *context);

/* The nest for people, one line a loop, outermost first, with the tensors each
   level keeps and their tiles. */
calm_status accel_nest_text(char **out, const accel_nest *nest,
                            const accel_arch *arch, const accel_layer *layer,
                            calm_context *context);

/* A nest of its own, in the arena; neighbours may hand on what they like. */
calm_status accel_nest_copy(accel_nest *out, const accel_nest *nest, arena *a);

/* Is every loop perfect? */
bool accel_nest_is_perfect(const accel_nest *nest);

#endif
