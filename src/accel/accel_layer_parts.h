/*
 * What the files of layers share: a shape, which is a layer before its bounds
 * and coefficients are known.  Built-in shapes and inline ones are read by the
 * same reader; convolutions and matrix products that come from no file are
 * built-in shapes with bounds, too.
 */
#ifndef CALM_ACCEL_ACCEL_LAYER_PARTS_H
#define CALM_ACCEL_ACCEL_LAYER_PARTS_H

#include "accel/accel_layer.h"

enum { ACCEL_MAX_COEFFICIENTS = 64 };

typedef struct accel_coefficient {
  const char *name;
  uint64_t initial; /* where a layer says nothing */
} accel_coefficient;

typedef struct accel_shape_term {
  uint32_t dimension;
  uint32_t coefficient; /* CALM_NONE: none, but */
  uint64_t factor;      /* this number */
} accel_shape_term;

typedef struct accel_shape_rank {
  accel_shape_term *terms;
  uint32_t term_count;
} accel_shape_rank;

typedef struct accel_shape_tensor {
  const char *name;
  bool read_write;
  accel_shape_rank *ranks;
  uint32_t rank_count;
} accel_shape_tensor;

typedef struct accel_shape {
  const char *name;
  const char **dimensions;
  uint32_t dimension_count;
  accel_coefficient *coefficients;
  uint32_t coefficient_count;
  accel_shape_tensor *tensors;
  uint32_t tensor_count;
} accel_shape;

/* What makes a layer of a shape: its name, where it stands, and its bounds and
   coefficients in the order of the shape. */
typedef struct accel_binding {
  const char *name;
  accel_place place;
  uint64_t bounds[ACCEL_MAX_DIMENSIONS];
  uint64_t coefficients[ACCEL_MAX_COEFFICIENTS];
} accel_binding;

/* Are two names the same but for case, '-' and '_'? */
bool accel_same_name(const char *a, const char *b);

/* The shape under `shape:`, written out. */
calm_status accel_shape_read(accel_shape *out, const accel_yaml *node,
                             arena *a);

/* A built-in shape by name, spelled as `name` spells it; *out untouched and
   false if there is none. */
calm_status accel_shape_builtin(accel_shape *out, bool *found, const char *name,
                                arena *a);

/* "cnn-layer, gemm_ABZ, ..." */
const char *accel_shape_names(void);

/* Does Timeloop bring a shape of this name along? */
bool accel_shape_is_timeloops(const char *name);

/* The layer that a shape becomes: bounds of 0, more than ACCEL_MAX_COUNT
   iterations or words of a tensor are refused. */
calm_status accel_shape_bind(accel_layer *out, const accel_shape *shape,
                             const accel_binding *binding, arena *a);

/* A layer `name` of a built-in shape, with what is listed under the names of
   its dimensions and coefficients; what it does not have is passed over, and
   what is not listed is 1. */
typedef struct accel_named_value {
  const char *name;
  uint64_t value;
} accel_named_value;
typedef struct accel_filling {
  const char *name, *shape;
  const accel_named_value *values;
  uint32_t count;
} accel_filling;
calm_status accel_shape_fill(accel_layer *out, const accel_filling *filling,
                             arena *a);

#endif
