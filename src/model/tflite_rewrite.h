/*
 * Exact changes of a .tflite file in memory: the edits that they take.
 * tflite_rewrite.c makes them and looks whether what is then read is what was
 * meant.
 */
#ifndef CALM_MODEL_TFLITE_REWRITE_H
#define CALM_MODEL_TFLITE_REWRITE_H

#include "model/tflite_write.h"

/* What becomes of one subgraph. */
typedef struct tflite_change {
  op_id *sequence;    /* the operators that stay, in order */
  uint32_t count;     /* of them */
  tensor_id *becomes; /* per tensor: the one that is read in its place */
  bool *unused;       /* per tensor: nobody touches it any more */
} tflite_change;

/* The table of a tensor, and of its quantization (0: none). */
flat_table tflite_tensor_table(const tflite_writer *w, uint32_t subgraph,
                               tensor_id t);
flat_table tflite_quantization_of(const tflite_writer *w, flat_table tensor);

/*
 * Operators that only hand on their input leave the list, and who read their
 * output reads that input.  Control edges are renumbered, an offline plan is
 * dropped if anything changes, and the output's place in the list of tensors is
 * given to a constant, so that no runtime finds room for it.
 */
calm_status tflite_remove_noops(tflite_writer *w, tflite_change *changes);

/*
 * uint8 tensors become int8: their numbers and zero points are lowered by 128,
 * so that every value stays what it is.  CALM_UNSUPPORTED with the operator
 * whose result might differ.
 */
calm_status tflite_to_int8(tflite_writer *w);

#endif
