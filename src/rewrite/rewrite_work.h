/*
 * A rewritten graph while it is made: operators in their order, and tensors
 * under numbers of their own.  When all are there, the tensors that something
 * touches are numbered anew and everything goes into the edit.
 */
#ifndef CALM_REWRITE_REWRITE_WORK_H
#define CALM_REWRITE_REWRITE_WORK_H

#include "rewrite/rewrite_parts.h"

typedef struct made_tensor {
  graph_tensor tensor;
  edit_tensor descent;
  tensor_id next; /* another slice of the same constant; CALM_NONE */
} made_tensor;

typedef struct made_op {
  graph_op op;
  edit_op descent;
} made_op;

/* What becomes of a tensor of the graph. */
typedef struct rewrite_fate {
  tensor_id head; /* what stands for it: itself, or what a no-op was given */
  op_id source;   /* the operator whose output exists in parts; CALM_NONE */
  op_id concat;   /* and whose parts say how they would be joined */
  bool whole;     /* somebody needs it in one piece */
  rewrite_parts parts;
  tensor_id made;   /* in one piece; CALM_NONE: not yet */
  tensor_id slices; /* of a constant: the last that was made; CALM_NONE */
} rewrite_fate;

typedef struct rewrite_work {
  rewrite_fate *fates;  /* per tensor of the graph */
  uint32_t *site_begin; /* operator u: sites[site_begin[u] .. [u + 1]] of
                           sites_by_op */
  uint32_t *sites_by_op;
  op_id turned_to;   /* the operator whose sites stand in site_at */
  uint32_t *site_at; /* per concat or what stands for one: the site there, */
  op_id *reader;     /* and of which operator */
  bool *acting;      /* per site */
  uint32_t *cover;   /* per operator: the site that replaces it; CALM_NONE */
  op_id *made_of;    /* per operator that is kept: what it is now */
  VECTOR(made_tensor) tensors;
  VECTOR(made_op) ops;
} rewrite_work;

/* Number the tensors and fill the edit, which is finished then. */
calm_status rewrite_settle(graph_edit *edit, rewrite_maker *m);

#endif
