/*
 * The layers of a network: every convolution (plain, depthwise, grouped,
 * transposed), fully connected layer and matrix product of a graph, as layers
 * to be mapped.  Equal layers are one, with their count.  This is the only file
 * of the room that knows graphs.
 */
#ifndef CALM_ACCEL_ACCEL_NETWORK_H
#define CALM_ACCEL_ACCEL_NETWORK_H

#include "accel/accel_layer.h"
#include "graph/graph.h"

typedef struct accel_network_layers {
  accel_layer *layers; /* in the order in which they first occur */
  uint32_t *first_ops; /* per layer: the operator it was first seen in */
  uint32_t layer_count;
  uint32_t *skipped; /* operators with MACs that are no such layer, in order */
  const char **reasons; /* why, per skipped operator */
  uint32_t skipped_count;
} accel_network_layers;

calm_status accel_network_extract(accel_network_layers *out, const graph *g,
                                  arena *a);

#endif
