/*
 * A mixed-integer program as it is built: columns, rows between two limits, and
 * a sum to be minimised.  Sums are dense while terms are added to them, as
 * programs here have some hundred columns; rows are sparse.  Nothing here knows
 * of loop nests, nor of a solver (mapper_highs.h).
 */
#ifndef CALM_MAPPER_MAPPER_MIP_H
#define CALM_MAPPER_MAPPER_MIP_H

#include <math.h>

#include "base/arena.h"
#include "base/vector.h"

typedef struct mapper_mip_column {
  const char *name; /* without spaces */
  double lower, upper;
  bool integer;
} mapper_mip_column;

typedef struct mapper_mip_row {
  const char *name;
  double lower, upper;
  uint32_t first; /* of its terms; they end where the next row's begin */
} mapper_mip_row;

typedef struct mapper_mip_term {
  uint32_t column;
  double value;
} mapper_mip_term;

/* A constant, and a multiple of each column. */
typedef struct mapper_mip_sum {
  double *of;
  double constant;
} mapper_mip_sum;

typedef struct mapper_mip {
  calm_context *context;
  VECTOR(mapper_mip_column) columns;
  VECTOR(mapper_mip_row) rows;
  VECTOR(mapper_mip_term) terms;
  mapper_mip_sum objective; /* to be minimised */
} mapper_mip;

void mapper_mip_init(mapper_mip *out, calm_context *context);
void mapper_mip_free(mapper_mip *m);

/* All columns come before the first sum. */
calm_status mapper_mip_add_column(mapper_mip *m, mapper_mip_column column);

calm_status mapper_mip_sum_init(mapper_mip_sum *out, const mapper_mip *m,
                                arena *a);
void mapper_mip_sum_clear(mapper_mip_sum *s, const mapper_mip *m);

/* out += factor * s */
void mapper_mip_sum_add(mapper_mip_sum *out, const mapper_mip_sum *s,
                        double factor, const mapper_mip *m);

/* lower <= s <= upper; either may be infinite. */
calm_status mapper_mip_add_row(mapper_mip *m, const char *name, double lower,
                               const mapper_mip_sum *s, double upper);

/* The terms of a row end here. */
uint32_t mapper_mip_row_end(const mapper_mip *m, uint32_t row);

/* The program as an MPS file, in the free form that all solvers read. */
calm_status mapper_mip_write(const mapper_mip *m, const char *path);

#endif
