/*
 * Who writes, who reads, who must wait for whom, and one order that respects
 * it: the indices that graph_finish adds to a graph whose ids are valid.
 */
#ifndef CALM_GRAPH_GRAPH_TOPOLOGY_H
#define CALM_GRAPH_GRAPH_TOPOLOGY_H

#include "graph/graph.h"

/* Fill everything that graph.h says graph_finish fills.  Requires that all ids
   are in range.  Fails on a tensor with two producers and on a cycle. */
calm_status topology_build(graph *g, const char *path);

#endif
