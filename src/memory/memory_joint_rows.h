/*
 * The joint layout as its two files share it: bodies of buffers, for graphs
 * whose tensors are whole (memory_joint.c), and the entry row by row, where
 * tensors lie in others and outputs over dying inputs (memory_joint_rows.c).
 */
#ifndef CALM_MEMORY_MEMORY_JOINT_ROWS_H
#define CALM_MEMORY_MEMORY_JOINT_ROWS_H

#include "memory/memory_alias.h"
#include "memory/memory_joint.h"

typedef struct joiner {
  const graph *graphs;
  uint32_t count;
  const memory_problem *problems;
  const op_id *const *sequences;
  const memory_model *model;
  const memory_scratch *scratch;
  arena *a, *temporary;
  memory_scopes scopes;
  uint32_t *buffer_begin; /* graph -> number of its first buffer */
  memory_span *spans;     /* buffer -> when any of its tensors is in use */
  uint64_t *bytes;        /* buffer -> the largest of its tensors, rounded */
  uint32_t *chain; /* buffer -> the first of those it shares bytes with */
  uint32_t *body;  /* buffer -> body, of the first of a chain */
  VECTOR(layout_piece) pieces;
  VECTOR(layout_relief) reliefs; /* of pieces in the order of `pieces` */
  bool rows;                     /* the entry is looked at row by row */
  memory_joint out;
} joiner;

/* Bytes [low, high) of a body are in use in all scopes of a span; the body is a
   new one if it is the next. */
calm_status joint_add_piece(joiner *j, uint32_t body, memory_span span,
                            uint64_t low, uint64_t high);

/* Bodies, pieces and reliefs of the first graph. */
calm_status joint_add_rows(joiner *j);

/* Does an operator of any graph run the first one? */
bool graphs_run_entry(const graph *graphs, uint32_t count);

#endif
