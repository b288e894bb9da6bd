/*
 * From streams to counts: what each level reads, fills and updates, what
 * crosses its network, what that costs, and how long it takes.  Each step is a
 * function of its own, so that the mappers can take the ones they need.
 */
#ifndef CALM_COST_COST_COUNT_H
#define CALM_COST_COST_COUNT_H

#include "cost/cost_scratch.h"

/* Enter what the flows of a tensor carry, as if every level kept it, into the
   ledgers.  Where a level does not, the flow outside of it is made to carry
   what the levels further in need.  That below a level is flows[level *
   tensors]. */
void cost_enter_flows(cost_scratch *s, cost_flow *flows, uint32_t tensor);

/* The ledgers' numbers as whole words, and their energy.  False if they are too
   large to be exact: the verdict says so. */
bool cost_count_accesses(cost_result *r, cost_scratch *s, uint32_t tensor);

/* What the networks carry, given their groups; sets everything in the flows but
   these, fan-out and links. */
void cost_count_networks(cost_flow *flows, const cost_scratch *s,
                         uint32_t tensor);

/* Picojoules of an instance's accesses to a level, rounded up to vectors. */
double cost_access_energy(const cost_store *store, double reads, double fills,
                          double updates);

/* How much a level slows computing down: 1 or less.  `tensors` are its counts,
   `sharing` how many times more instances its loops name than are in use at
   once (1 in a perfect nest). */
double cost_slowdown(const cost_store *store, const cost_tensor *tensors,
                     uint32_t tensor_count, double compute_cycles,
                     double sharing);

/* Cycles to pass the words of a level at its bandwidth, as a whole number;
   negative if it has none. */
double cost_busy_cycles(const cost_store *store, const cost_tensor *tensors,
                        uint32_t tensor_count, double sharing);

/* Compute cycles stretched by a slowdown, as a whole number. */
double cost_stretch(double compute_cycles, double slowdown);

#endif
