/*
 * Chains of multiplications and additions by constants: which operators belong
 * to one (rewrite_affine_chain.c), what becomes of it (rewrite_affine.c), and
 * making that (rewrite_affine_make.c).  Arrays lie in the arena given.
 *
 *     conv -> y0 -> mul -> add -> batch_normalization -> y
 *     (conv)  x     ops[0]        ops[count - 1]
 */
#ifndef CALM_REWRITE_REWRITE_AFFINE_H
#define CALM_REWRITE_REWRITE_AFFINE_H

#include "rewrite/rewrite_contents.h"
#include "rewrite/rewrite_parts.h"

typedef struct affine_chain {
  op_id *ops; /* in the order in which they run */
  uint32_t count;
  tensor_id x, y; /* what it reads and what it makes */
  uint32_t axis;  /* of the channels in both; CALM_NONE: abstract tensors */
  recipe_step *steps, *factors; /* y = steps(x); and without what is added */
  uint32_t step_count, factor_count;
  bool adds;  /* some step adds */
  op_id norm; /* the first batch normalization; CALM_NONE: there is none */
} affine_chain;

typedef enum affine_form {
  FORM_NONE,
  FORM_FOLDED, /* into the convolution */
  FORM_NORM,   /* one batch normalization */
  FORM_SINGLE, /* one multiplication or addition */
  FORM_PAIR    /* a multiplication, then an addition */
} affine_form;

typedef struct affine_plan {
  affine_chain chain;
  op_id conv; /* before the chain; CALM_NONE: there is none */
  affine_form form;
  const char *refusal;
} affine_plan;

/* The chain that ends in `u`, as long as it gets; no operators if `u` is none
   of this kind, or if a longer one goes on behind it. */
calm_status affine_find(affine_chain *out, const graph *g, op_id u, arena *a);

bool affine_is_constant(const graph *g, tensor_id t);

/* What becomes of the chain that ends in `u`. */
calm_status affine_plan_site(affine_plan *out, const graph *g, op_id u,
                             arena *a);

/* Along which axis of its kernels a convolution has its output channels. */
uint32_t affine_kernel_axis(const graph *g, const graph_op *conv);

/* The last operator of the chain that adds, or that multiplies, in a way that
   one with another constant can stand for; CALM_NONE: there is none. */
op_id affine_last(const graph *g, const affine_chain *chain, bool adds);

/* Make the operators of a plan; `make` of the rule. */
calm_status affine_make(rewrite_maker *m, const rewrite_site *site);

#endif
