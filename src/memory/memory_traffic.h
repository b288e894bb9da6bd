/*
 * From a graph to a traffic problem: which touch of a buffer writes it, and how
 * many bytes of weights each operator reads.  Inputs and outputs are those of
 * the graph, even where the memory model leaves them to somebody else.
 */
#ifndef CALM_MEMORY_MEMORY_TRAFFIC_H
#define CALM_MEMORY_MEMORY_TRAFFIC_H

#include "memory/memory.h"
#include "traffic/traffic.h"

/* `p` was built from the same graph, and is borrowed. */
calm_status memory_traffic_build(traffic_problem *out, const graph *g,
                                 const memory_problem *p, arena *a);

#endif
