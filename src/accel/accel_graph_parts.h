/*
 * What the files that make layers of a network share: the operator at hand, and
 * the window that it becomes.  Every operator that becomes a layer is a window
 * that slides along the axes of a picture, matrix products included.
 */
#ifndef CALM_ACCEL_ACCEL_GRAPH_PARTS_H
#define CALM_ACCEL_ACCEL_GRAPH_PARTS_H

#include "accel/accel_graph.h"
#include "graph/graph_edit.h"

enum { ACCEL_AXES = 3 }; /* width, height, depth */

typedef struct accel_window_axis {
  uint64_t taps, positions; /* of the filter; of the output */
  uint64_t stride, dilation;
} accel_window_axis;

typedef struct accel_window {
  accel_window_axis axes[ACCEL_AXES];
  uint64_t c, k, n, groups; /* c, k of one group */
} accel_window;

/* One axis of a transposed convolution. */
typedef struct accel_stretch {
  uint64_t taps, stride, dilation, inputs, outputs;
  uint64_t begin; /* outputs that are cut off in front */
} accel_stretch;

/* Equal phases: `count` of them. */
typedef struct accel_phase {
  accel_window_axis axis;
  uint64_t count;
} accel_phase;

enum { ACCEL_MAX_PHASES = 4, ACCEL_MAX_STRETCH = 4096 };

/* The kinds of phases of an axis (stride <= ACCEL_MAX_STRETCH); those without
   taps are left out.  Returns how many kinds there are. */
uint32_t accel_stretch_phases(accel_phase *out, const accel_stretch *axis);

/* ---- Operators ----------------------------------------------------------- */

typedef struct accel_extractor {
  const graph *g;
  arena *arena;
  calm_context *context;
  VECTOR(accel_layer) layers;
  VECTOR(uint32_t) first_ops;
  VECTOR(uint32_t) skipped;
  VECTOR(const char *) reasons;
  name_table known;   /* from sizes to layers */
  op_id op;           /* at hand */
  const char *reason; /* why it is no layer, NULL: it is one */
} accel_extractor;

static inline const graph_op *accel_graph_op(const accel_extractor *e) {
  return &e->g->ops.data[e->op];
}

/* An operand of the operator at hand whose dimensions are all known and not 0;
   NULL, with the reason, otherwise. */
const graph_tensor *accel_graph_input(accel_extractor *e, uint32_t i);
const graph_tensor *accel_graph_output(accel_extractor *e);

/* Number `i` of an attribute such as "2,1"; `absent` if there is none. */
uint64_t accel_graph_number(const graph_op *op, const char *key, uint32_t i,
                            uint64_t absent);

/* Count a layer; it is a new one if none is equal. */
calm_status accel_graph_add(accel_extractor *e, accel_window w);

/* What the operator at hand becomes: layers, or the reason why none. */
calm_status accel_graph_convolution(accel_extractor *e);
calm_status accel_graph_transposed(accel_extractor *e);
calm_status accel_graph_dense(accel_extractor *e);
calm_status accel_graph_product(accel_extractor *e);

#endif
