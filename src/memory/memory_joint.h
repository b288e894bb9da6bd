/*
 * One layout problem for all graphs of a model: the entry, the bodies in the
 * midst of the operators that run them, and graphs that run at another time
 * altogether.  Every tensor that TensorFlow Lite Micro puts into the head has a
 * body in it, and every operator one for all its scratch.  Where tensors lie in
 * others (memory_alias.h) these are one body, whose rows come and go one by
 * one; with overlap an output may begin in an input that dies.
 */
#ifndef CALM_MEMORY_MEMORY_JOINT_H
#define CALM_MEMORY_MEMORY_JOINT_H

#include "memory/memory_tflm.h"

/* Steps of the layout are scopes plus one, so that none is negative. */
typedef struct memory_joint {
  layout_problem layout;
  uint32_t *tensor_begin; /* as in memory_scopes */
  uint32_t *body_of;      /* per tensor of all graphs; CALM_NONE: it needs no
                             place, or any will do */
  uint64_t *place_of;     /* per tensor: where in its body it begins */
} memory_joint;

/*
 * problems[i] is the order problem of graph i, sequences[i] an order of all its
 * operators.  Scratch of one operator is one body: in a gap of the size of all
 * of it, the runtime can place it buffer by buffer.
 */
calm_status memory_joint_build(memory_joint *out, const graph *graphs,
                               uint32_t count, const memory_problem *problems,
                               const op_id *const *sequences,
                               const memory_model *model,
                               const memory_scratch *scratch, arena *a);

#endif
