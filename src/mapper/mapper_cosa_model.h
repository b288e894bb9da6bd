/*
 * CoSA's program as a mixed-integer one.  Its first columns say how many equal
 * prime factors stand at a place: a level, over time or on an axis of the mesh
 * below it, and, in the literal model at the permutation level, a rank in the
 * order of loops.  The literal model has a column of 0 or 1 for each single
 * prime factor; the aggregated one has numbers, and a choice among the orders
 * that differ.
 */
#ifndef CALM_MAPPER_MAPPER_COSA_MODEL_H
#define CALM_MAPPER_MAPPER_COSA_MODEL_H

#include "mapper/mapper_cosa_orders.h"
#include "mapper/mapper_mip.h"

typedef struct mapper_cosa_column {
  uint32_t factor, level;
  accel_loop_kind kind;
  uint32_t rank; /* CALM_NONE: it has none */
} mapper_cosa_column;

/* The halo of a window at a level: is any step of it inside (0 or 1), and what
   its taps have beyond a bit each if none is. */
typedef struct mapper_cosa_halo {
  uint32_t window, level;
  uint32_t inside, excess; /* columns */
} mapper_cosa_halo;

/* A row that limits a tensor's tiles, or (tensor CALM_NONE) what is spread. */
typedef struct mapper_cosa_limit {
  uint32_t row, level, tensor;
  accel_loop_kind kind; /* of a fan-out: the axis */
  double bits;
} mapper_cosa_limit;

typedef struct mapper_cosa_model {
  const mapper_cosa_program *program;
  mapper_mip mip;
  arena *arena;
  VECTOR(mapper_cosa_column) columns; /* the first of the program's */
  uint32_t rank_count;                /* literal: ranks, as many as factors */
  mapper_cosa_orders orders;          /* aggregated */
  uint32_t first_order;               /* their columns: 0 or 1 */
  uint32_t first_ended;  /* literal, [tensor * ranks + rank]: is it not reused
                            at this rank? */
  uint32_t first_repeat; /* bits of loops that a tensor is neither related to
                            nor reused in: [tensor * ranks + rank], or
                            [tensor * dimensions + d] */
  VECTOR(mapper_cosa_halo) halos;
  VECTOR(mapper_cosa_limit) limits;
  uint32_t first_side; /* columns: does a dimension lie along rows? */
  uint32_t balance;    /* column: the difference, without its sign */
  mapper_mip_sum utilization, compute, traffic;
  mapper_mip_sum sum; /* of the row that is being made */
} mapper_cosa_model;

/* To be freed also after a failure. */
calm_status mapper_cosa_model_build(mapper_cosa_model *out,
                                    const mapper_cosa_program *p, arena *a);
void mapper_cosa_model_free(mapper_cosa_model *m);

/* ---- Between the files of the model -------------------------------------- */

/* A name of words, in which all but letters and digits is '_'. */
calm_status mapper_cosa_name(const char **out, const mapper_cosa_model *m,
                             const char *kind, const char *first,
                             const char *second);

/* lower <= m->sum <= upper, as a row of that name; the sum is 0 then. */
calm_status mapper_cosa_row(mapper_cosa_model *m, const char *name,
                            double lower, double upper);

/* What one of a column is. */
mapper_cosa_use mapper_cosa_use_of(const mapper_cosa_model *m, uint32_t column);

/* Columns and rows for the order of loops at the permutation level. */
calm_status mapper_cosa_add_order_columns(mapper_cosa_model *m);
calm_status mapper_cosa_add_order_rows(mapper_cosa_model *m);

/* ... for halos, and what they add to a tile. */
calm_status mapper_cosa_add_halo_columns(mapper_cosa_model *m);
calm_status mapper_cosa_add_halo_rows(mapper_cosa_model *m);
void mapper_cosa_add_halo(mapper_mip_sum *sum, const mapper_cosa_model *m,
                          const mapper_cosa_halo *h, double weight);

/* ... so that no dimension lies along both columns and rows of a mesh. */
calm_status mapper_cosa_add_mesh_columns(mapper_cosa_model *m);
calm_status mapper_cosa_add_mesh_rows(mapper_cosa_model *m);

/* Rows for the constraints of the problem. */
calm_status mapper_cosa_add_rules(mapper_cosa_model *m);

#endif
