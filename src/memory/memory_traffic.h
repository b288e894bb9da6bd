/*
 * From a graph to a traffic problem: which touch of a buffer writes it, and how
 * many bytes of weights each operator reads.  Inputs and outputs are those of
 * the graph, even where the memory model leaves them to somebody else.
 */
#ifndef CALM_MEMORY_MEMORY_TRAFFIC_H
#define CALM_MEMORY_MEMORY_TRAFFIC_H

#include "memory/memory.h"
#include "traffic/traffic.h"

/*
 * The model to build `p` under: what the network is given and what it hands
 * over then have buffers, whoever holds them (an input that stays with its
 * owner is there for the whole run, so that nobody overwrites it), and what
 * nobody reads is no output.  Under any other model `p` is good, too, and what
 * it leaves out moves no bytes.
 */
memory_model memory_traffic_model(const memory_model *model);

/*
 * `p` was built from the same graph, and is borrowed.  Whoever has a tensor of
 * `p` for an output writes it, but for views; whoever touches a variable may.
 * Weights are the constants among an operator's operands, each once, not those
 * of its bodies.  O(operands x touches of a buffer).
 */
calm_status memory_traffic_build(traffic_problem *out, const graph *g,
                                 const memory_problem *p, arena *a);

#endif
