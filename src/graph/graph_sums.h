/*
 * Partial sums and what goes into them (see the end of ops.def): does every one
 * of a graph mean something?
 */
#ifndef CALM_GRAPH_GRAPH_SUMS_H
#define CALM_GRAPH_GRAPH_SUMS_H

#include "graph/graph.h"

/* Requires the indices of graph_topology.h.  CALM_BAD_INPUT, naming the
   operator and the tensor, if not. */
calm_status graph_check_sums(const graph *g, const char *path);

#endif
