/*
 * A small directed graph laid out in layers, as Sugiyama, Tagawa and Toda do it
 * (1981): nodes in the layer of their longest path, edges that pass a layer
 * through a place of their own in it, layers ordered by the mean place of their
 * neighbours, and drawn as straight as the order lets them be.  Edges lead
 * downwards; nodes do not overlap.  Linear but for the sorting, times a fixed
 * number of sweeps.
 */
#ifndef CALM_REPORT_REPORT_LAYERS_H
#define CALM_REPORT_REPORT_LAYERS_H

#include "base/arena.h"

enum {
  REPORT_NODE_HEIGHT = 28,
  REPORT_NODE_GAP = 20,  /* between nodes of a layer */
  REPORT_LAYER_GAP = 44, /* between layers */
  REPORT_DRAWING_MARGIN = 24
};

typedef struct report_point {
  double x, y;
} report_point;

typedef struct report_node {
  double width;
  report_point corner; /* upper left */
  uint32_t layer;
} report_node;

typedef struct report_edge {
  uint32_t from, to;
  report_point *points; /* from node to node; NULL: it leads nowhere below */
  uint32_t point_count;
} report_edge;

typedef struct report_layers {
  report_node *nodes;
  report_edge *edges;
  uint32_t node_count, edge_count;
  double width, height;
} report_layers;

/* Fills places, points and size.  An edge that closes a circle gets no points.
 */
calm_status report_layers_place(report_layers *l, arena *a);

#endif
