/*
 * A graph made from another one, with the descent of every part.  The rewrite
 * room makes it; the memory room looks at `after` as at any graph; who writes
 * files reads from `tensors` and `ops` how to make the new file from the old
 * one.  Ids of `after` are those that a file written from it must have: all its
 * tensors and operators, in this order, and no others.
 */
#ifndef CALM_GRAPH_GRAPH_EDIT_H
#define CALM_GRAPH_GRAPH_EDIT_H

#include "graph/graph.h"

typedef enum edit_contents {
  EDIT_SAME,   /* the tensor `from` under its own name, whatever it is */
  EDIT_MADE,   /* no constant: an operator makes it.  Type, quantization and the
                  like are those of `from`; name and dimensions are its own */
  EDIT_SLICE,  /* a constant: elements [begin, begin + dimensions[axis]) of the
                  constant `from` along `axis`, quantization scales along it
                  likewise */
  EDIT_ZERO,   /* a constant: zeros, of the kind of `from`, a bias or, where an
                  operator had none, the output that it would be added to */
  EDIT_GIVEN,  /* a constant of the kind of `from` with bytes of its own */
  EDIT_NUMBERS /* a constant vector of i32 (.tflite) or i64 (.onnx) with bytes
                  of its own and no quantization, for an operator that comes
                  from the one that makes or reads `from` */
} edit_contents;

typedef struct edit_tensor {
  tensor_id from; /* in `before`; never CALM_NONE */
  edit_contents contents;
  uint32_t axis;
  int64_t begin;
  const struct edit_recipe *recipe; /* of a GIVEN one: how to compute it */
  const uint8_t *bytes; /* of SLICE, ZERO and GIVEN once they are filled in,
                           little-endian, `after`'s tensor bytes of them; NULL
                           before */
} edit_tensor;

typedef enum edit_role {
  EDIT_KEEP,   /* `from` with the operands of `after`: other tensors, a bias in
                  addition, a sum to be added to (fused_conv) */
  EDIT_ADD,    /* the addition of two tensors, or an add_into */
  EDIT_CONCAT, /* a concat over channels, made like the concat `from` */
  EDIT_SUM,    /* a partial_sum: what its operands add up to, with the bias and
                  the activation of `from` */
  EDIT_AFFINE, /* one operator for a chain of multiplications and additions by
                  constants, the last of which is `from` */
  EDIT_WINDOW, /* `from`, a convolution, a pooling or element by element, on a
                  part of its picture: like EDIT_KEEP, but its padding, and its
                  dilation, are what `after` says */
  EDIT_CROP,   /* a slice: operands x, and in .tflite begin and size, in .onnx
                  starts, ends and axes (EDIT_NUMBERS) */
  EDIT_PAD,    /* a pad: operands x and paddings (EDIT_NUMBERS), by zeros or the
                  zero point */
  EDIT_JOIN    /* a concat along the attribute `axis`, like no old one */
} edit_role;

typedef struct edit_op {
  op_id from; /* in `before`: it is made for it; never CALM_NONE */
  edit_role role;
  bool activation; /* it applies the activation of `from`, if that has one */
} edit_op;

/* Attributes of an operator of `after` are right in `after`: `group`, `axis`,
   no `activation` where it applies none, `pad` ("same", "valid"; in .onnx
   `pads`), `begin` and `size` of a slice, `before` and `after` of a pad.
   `before` must outlive the edit. */
typedef struct graph_edit {
  const graph *before;
  graph after;                       /* finished; freed by graph_edit_free */
  VECTOR(edit_tensor) tensors;       /* per tensor of `after` */
  VECTOR(edit_op) ops;               /* per operator of `after` */
  name_table tensor_names, op_names; /* those taken in `after` */
} graph_edit;

/* An empty graph, named and laid out as `before`, in an arena. */
void graph_edit_init(graph_edit *edit, const graph *before, arena *a);
void graph_edit_free(graph_edit *edit);

/* Append to both lists.  The name, which must outlive the edit, becomes unique
   by "#1", "#2", ... if it is taken. */
calm_status graph_edit_add_tensor(tensor_id *out, graph_edit *edit,
                                  const graph_tensor *tensor,
                                  const edit_tensor *descent);
calm_status graph_edit_add_op(op_id *out, graph_edit *edit, const graph_op *op,
                              const edit_op *descent);

/* Validate and index `after` (graph_finish). */
calm_status graph_edit_finish(graph_edit *edit, const char *path);

/* The value of an attribute; NULL: the operator has none of that name. */
const char *graph_op_attribute(const graph_op *op, const char *key);

#endif
