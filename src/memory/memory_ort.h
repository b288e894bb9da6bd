/*
 * In which order ONNX Runtime runs the nodes of a file.  On request
 * (ExecutionOrder.PRIORITY_BASED) it is the file's.  By default it walks
 * backwards from the nodes that feed no other, depth first, at every choice to
 * the node that stands last in the file; so the file decides, but not by
 * listing nodes in the order in which they are to run.  Only data counts: of
 * control edges and state the runtime knows nothing.
 */
#ifndef CALM_MEMORY_MEMORY_ORT_H
#define CALM_MEMORY_MEMORY_ORT_H

#include "graph/graph.h"

/* What a graph looks like to the runtime, and room to walk it. */
typedef struct ort_nodes {
  const graph *g;
  uint32_t *succ_begin, *succs; /* by data, each once */
  uint32_t *pred_begin, *preds; /* room: sorted anew for each walk */
  uint32_t *fill, *position, *stack;
  bool *visited;
} ort_nodes;

calm_status ort_nodes_init(ort_nodes *out, const graph *g, arena *a);

/*
 * The order in which the runtime runs a file that lists the operators as `file`
 * does (every operator once; it need not be a topological order, the result
 * is).  Linear.
 */
void ort_default_order(op_id *out, ort_nodes *nodes, const op_id *file);

/* The same with PRIORITY_BASED: the file's order as far as it is topological,
   but Shape and Size run as soon as they can.  O(n log n). */
void ort_priority_order(op_id *out, ort_nodes *nodes, const op_id *file);

/* Bytes of the weights that the runtime keeps in the arena of the activations:
   those that are read and take less than 128 bytes. */
uint64_t ort_small_weights(const graph *g);

#endif
