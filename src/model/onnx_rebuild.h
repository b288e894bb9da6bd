/*
 * An .onnx file with another entry graph.  onnx_rebuild_keep.c decides what of
 * the old file stays and in which order nodes follow each other,
 * onnx_rebuild_node.c makes the nodes, onnx_rebuild.c the file around them.
 */
#ifndef CALM_MODEL_ONNX_REBUILD_H
#define CALM_MODEL_ONNX_REBUILD_H

#include "base/text.h"
#include "model/onnx_parts.h"

/* What stands in a place of the new graph. */
typedef struct rebuild_place {
  bool makes_weights;
  uint32_t index; /* of a node of the file that makes weights, or of an operator
                     of the edit */
} rebuild_place;

typedef struct onnx_rebuilder {
  onnx_reader *r; /* the file as it is; what is made lies in its scratch */
  const calm_model *model;
  const onnx_graph *g; /* its entry */
  const graph_edit *edit;
  tensor_id *heirs; /* per value of the entry: what it is in the new graph */
  bool *gone;       /* per value: nothing in the new file has its name */
  rebuild_place *places;
  uint32_t place_count;
  bool renumbered; /* some node is not where it was, so that a number does not
                      name it any more */
  bool fused;      /* there is a FusedConv */
} onnx_rebuilder;

/* What an operator of the edit comes from. */
const graph_op *rebuild_was(const onnx_rebuilder *b, op_id u);

/* Its node. */
const onnx_node *rebuild_source(const onnx_rebuilder *b, op_id u);

/* Does the operator make all that its node made, under the same names? */
bool rebuild_is_whole(const onnx_rebuilder *b, op_id u);

/* The name that a tensor of the edit has in the file; "" for CALM_NONE. */
const char *rebuild_name(const onnx_rebuilder *b, tensor_id t);

/* Fill in heirs, gone, places and renumbered.  CALM_UNSUPPORTED, naming it, if
   something would be missing or have the name of something else. */
calm_status rebuild_choose(onnx_rebuilder *b);

/* The NodeProto of an operator of the edit. */
calm_status rebuild_node(text *out, onnx_rebuilder *b, op_id u);

#endif
