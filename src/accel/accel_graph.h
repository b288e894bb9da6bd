/*
 * The layers of a network: every convolution (plain, depthwise, grouped,
 * transposed), fully connected layer and matrix product of a graph, as layers
 * to be mapped.  Equal layers are one, with their count.  All become shapes of
 * convolutions, so that constraints that fit one fit all: a matrix product has
 * a filter of one tap, depth C, columns K, rows N (a batch) or P (a sequence),
 * and groups G where both operands have a batch.  P goes with R along the
 * width, the last axis.  A transposed convolution of stride s is as many
 * ordinary ones as it has kinds of phases, without the zeros in between.  The
 * accel_graph files are the only ones of the room that know graphs.
 */
#ifndef CALM_ACCEL_ACCEL_GRAPH_H
#define CALM_ACCEL_ACCEL_GRAPH_H

#include "accel/accel_layer.h"
#include "graph/graph.h"

typedef struct accel_graph_layers {
  accel_layer *layers; /* in the order in which they first occur */
  uint32_t *first_ops; /* per layer: the operator it was first seen in */
  uint32_t layer_count;
  uint32_t *skipped; /* operators with MACs that are no such layer, in order */
  const char **reasons; /* why, per skipped operator */
  uint32_t skipped_count;
} accel_graph_layers;

calm_status accel_graph_extract(accel_graph_layers *out, const graph *g,
                                arena *a);

#endif
