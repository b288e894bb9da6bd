/*
 * Sums on their way to chains: rewrite_chain.c reads them and goes through the
 * sequence, rewrite_chain_make.c makes the operators.  Ids of operators and
 * tensors are those of the graph that is read, if nothing else is said; what
 * was made for them is called so.
 */
#ifndef CALM_REWRITE_REWRITE_CHAIN_H
#define CALM_REWRITE_REWRITE_CHAIN_H

#include "rewrite/rewrite.h"

typedef struct chain_link {
  uint32_t position; /* of the step in the sequence */
  op_id step;        /* makes the operand */
  op_id part;        /* the convolution of the sum that it is, or CALM_NONE, */
  tensor_id term;    /* and then what is added */
} chain_link;

typedef struct chain {
  op_id sum;         /* a partial_sum */
  op_id from;        /* of `before`: what it stands for */
  chain_link *links; /* in the order in which they become ready */
  uint32_t count;
  uint32_t done; /* links whose sum is `total`, a tensor that was made */
  tensor_id total;
} chain;

typedef struct chainer {
  graph_edit *out;
  const graph_edit *edit;
  const graph *g;
  bool fused;
  arena *a;
  uint32_t *position;      /* of each operator in the sequence */
  chain **sum_of;          /* of a partial_sum */
  chain **step_of;         /* of an operator that makes an operand of one */
  chain **part_of;         /* of a convolution that is part of one, */
  uint32_t *rank;          /* and its place in it */
  bool *inner;             /* tensors that are gone with the sums */
  tensor_id *made;         /* per tensor: what it became */
  op_id *last;             /* per operator: the last that was made for it */
  tensor_id *same;         /* per tensor of `before`: what it became */
  VECTOR(tensor_id) zeros; /* made biases of zeros */
} chainer;

static inline const graph_op *chain_op_at(const chainer *c, op_id u) {
  return &c->g->ops.data[u];
}

static inline const graph_op *chain_original(const chainer *c,
                                             const chain *sum) {
  return &c->edit->before->ops.data[sum->from];
}

static inline tensor_id chain_result(const chainer *c, const chain *sum) {
  return chain_op_at(c, sum->sum)->outputs[0];
}

static inline bool chain_is_last(const chain *sum, uint32_t rank) {
  return rank + 1 == sum->count;
}

static inline bool chain_has_activation(const graph_op *op) {
  return graph_op_attribute(op, "activation") != NULL;
}

/* Does a link become a convolution that adds?  An ONNX Add has no activation,
   so a sum that has one ends in such a convolution, as it began in one. */
bool chain_is_fused(const chainer *c, const chain *sum, uint32_t rank);

/* Operators whose control edges a new one takes over. */
enum { MAX_HEIRS = 4 };
typedef struct heritage {
  op_id of[MAX_HEIRS];
  uint32_t count;
} heritage;

static inline void chain_inherit(heritage *h, op_id u, bool really) {
  if (really) h->of[h->count++] = u;
}

/* Append a tensor to what is made. */
calm_status chain_add_tensor(tensor_id *out, chainer *c,
                             const graph_tensor *tensor,
                             const edit_tensor *descent);

/* Append an operator that belongs to no sum. */
calm_status chain_copy_op(chainer *c, op_id u);

/* Append the convolution of a link.  What it makes is the sum so far if it is
   the first or adds; else it is still to be added. */
calm_status chain_make_conv(chainer *c, chain *sum, uint32_t rank,
                            const heritage *h);

/* Append the addition of a link to the sum so far; `total` is what it makes. */
calm_status chain_make_addition(tensor_id *total, chainer *c, chain *sum,
                                uint32_t rank, const heritage *h);

#endif
