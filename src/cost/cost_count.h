/*
 * From streams to counts: what each level reads, fills and updates, what
 * crosses its network, what that costs, and how long it takes.  Each step is a
 * function of its own, so that the mappers can take the ones they need.
 */
#ifndef CALM_COST_COST_COUNT_H
#define CALM_COST_COST_COUNT_H

#include "cost/cost_scratch.h"

/* A tensor's share per instance of each level; needs a measured nest. */
void cost_count_parts(cost_scratch *s, uint32_t tensor);

/* Enter what the flow below a level carries, as if every level kept the tensor,
   into the ledgers on both sides. */
void cost_enter_flow(cost_scratch *s, const cost_flow *flow, uint32_t level);

/* Hand the traffic of levels that do not keep the tensor on to the next outer
   one.  All flows are entered; that below a level is flows[level * tensors]. */
void cost_collapse_bypass(cost_scratch *s, cost_flow *flows, uint32_t tensor);

/* The ledgers' numbers as whole words, and their energy. */
void cost_count_accesses(cost_result *r, const cost_scratch *s,
                         uint32_t tensor);

/* What the network below a level carries, given its groups; sets everything in
   the flow but these, fan-out and links. */
void cost_count_network(cost_flow *flow, const cost_scratch *s, uint32_t tensor,
                        uint32_t level);

/* Picojoules of an instance's accesses to a level, rounded up to vectors. */
double cost_access_energy(const cost_store *store, double reads, double fills,
                          double updates);

/* How much a level slows computing down: 1 or less.  `tensors` are its counts,
   `sharing` how many times more instances its loops name than are in use at
   once (1 in a perfect nest). */
double cost_slowdown(const cost_store *store, const cost_tensor *tensors,
                     uint32_t tensor_count, double compute_cycles,
                     double sharing);

/* Compute cycles stretched by a slowdown, as a whole number. */
double cost_stretch(double compute_cycles, double slowdown);

#endif
