/*
 * What a nest costs, as an evaluation leaves it.  Levels are numbered from the
 * innermost, as in the architecture; a tensor's figures at a level, and in the
 * network below it, stand at [level * tensor_count + tensor].  Counts are of
 * words (not of bytes, nor of vectors), energies are picojoules, times cycles.
 */
#ifndef CALM_COST_COST_RESULT_H
#define CALM_COST_COST_RESULT_H

#include <stdbool.h>

#include "base/arena.h"
#include "cost/cost_verdict.h"

/* One tensor at one level.  Words are those of each instance in use, energies
   are of all instances together. */
typedef struct cost_tensor {
  bool kept; /* false: everything below is 0 */
  uint64_t tile_words, partition_words;
  uint64_t reads, fills, updates; /* words */
  uint64_t temporal_reductions;   /* additions to a word that is there */
  uint64_t address_generations;   /* per cluster */
  uint64_t clusters;              /* in use */
  double energy_pj;               /* of accesses and addresses */
  double address_pj;              /* of addresses alone */
} cost_tensor;

/* Deliveries of one pattern: each word goes to `multicast` instances, and so
   do `scatter` such words at once. */
typedef struct cost_group {
  uint64_t multicast, scatter; /* instances; words */
  double accesses; /* words from the parent, all of the pattern together */
  double hops;     /* summed over them */
} cost_group;

/* One tensor through the network below one level.  Words are those of each
   instance of the level, energies are of all together. */
typedef struct cost_flow {
  uint64_t fanout;  /* instances below one; 0: the tensor is not there */
  double ingresses; /* words into the network */
  double links;     /* words from a neighbour instead */
  double hops;      /* on average per ingress */
  uint64_t spatial_reductions; /* additions on the way up */
  double energy_pj;            /* of ingresses, hops and routers */
  double link_pj;              /* of words from neighbours, not in energy_pj */
  cost_group *groups;          /* ascending by (multicast, scatter) */
  uint32_t group_count, group_capacity;
} cost_flow;

typedef struct cost_level {
  uint64_t instances;  /* in use (the integer part of the average) */
  uint64_t cycles;     /* that this level needs, networks not counted */
  double slowdown;     /* compute cycles over them, before rounding; 1: none */
  double busy_cycles;  /* to pass its words at its own bandwidth, however long
                          the multipliers take; negative: no limit, or nobody
                          asked (cost_options.networks) */
  uint64_t used_words; /* of capacity_words, by each instance */
  double energy_pj;    /* its tensors and its leakage */
  double leak_pj;
} cost_level;

typedef struct cost_result {
  cost_verdict verdict;    /* nothing below means anything unless COST_VALID */
  uint64_t computes;       /* multiplications */
  uint64_t compute_cycles; /* if no level slowed computing down */
  uint64_t multipliers;    /* in use at once */
  uint64_t cycles;         /* of the slowest level, and of the networks */
  double energy_pj;        /* compute_pj, network_pj, and of all levels */
  double compute_pj, network_pj;
  double edp;              /* pJ times cycles */
  double utilization;      /* 0 to 1: computes over multipliers * cycles */
  uint32_t limiting_level; /* CALM_NONE: the multipliers */
  uint32_t level_count, tensor_count;
  cost_level *levels;
  cost_tensor *tensors;
  cost_flow *flows;
  arena *arena; /* where groups grow if links make many */
} cost_result;

#endif
