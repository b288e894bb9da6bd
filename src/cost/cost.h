/*
 * What a loop nest costs on an architecture: counts, cycles and energy, as
 * Timeloop counts them.  Two models: `exact` (every iteration counted, windows
 * continue wherever they do, no links between neighbours) and `timeloop` (what
 * Timeloop prints by default: two iterations of each loop extrapolated, links
 * included).  A closed form per tensor and level; no allocation after
 * cost_problem_init and cost_result_init but for the replay of links and of
 * imperfect nests.  docs/cost-model.md states every rule.
 */
#ifndef CALM_COST_COST_H
#define CALM_COST_COST_H

#include "accel/accel_nest.h"
#include "base/text.h"

typedef enum cost_model { COST_EXACT, COST_TIMELOOP } cost_model;

typedef enum cost_fanout_rule {
  COST_FANOUT_LEVEL,     /* each level's fan-out holds by itself */
  COST_FANOUT_CUMULATIVE /* only the product of it and all outer ones */
} cost_fanout_rule;

typedef struct cost_options {
  cost_model model;
  cost_fanout_rule fanout;
  bool networks; /* fill in groups and hops even where they cost nothing */
} cost_options;

/* An architecture and a layer made ready: borrowed from the caller, with the
   tables and the scratch memory of the evaluator.  One thread at a time. */
typedef struct cost_problem {
  const accel_arch *arch;
  const accel_layer *layer;
  cost_options options;
  calm_context *context;
  struct cost_scratch *scratch; /* cost_scratch.h */
} cost_problem;

/* One tensor at one level.  Counts are words per used instance. */
typedef struct cost_tensor {
  bool kept; /* false: everything below is 0 */
  uint64_t tile_words, partition_words;
  uint64_t reads, fills, updates, temporal_reductions;
  uint64_t address_generations; /* per cluster */
  uint64_t clusters;            /* in use */
  double energy_pj;             /* over all instances */
  double address_pj;            /* address generation, within energy_pj */
} cost_tensor;

/* Deliveries of one pattern: each word goes to `multicast` instances, and so
   do `scatter` such words at once. */
typedef struct cost_group {
  uint64_t multicast, scatter;
  double accesses; /* words from the parent, all of the pattern together */
  double hops;     /* summed over them */
} cost_group;

/* One tensor through the network below one level, per instance of the level. */
typedef struct cost_flow {
  uint64_t fanout;
  double ingresses;
  double links; /* words from a neighbour */
  double hops;  /* on average per ingress */
  uint64_t spatial_reductions;
  double energy_pj, link_pj; /* over all instances */
  cost_group *groups;        /* ascending by (multicast, scatter) */
  uint32_t group_count, group_capacity;
} cost_flow;

typedef struct cost_level {
  uint64_t instances;  /* in use (the integer part of the average) */
  uint64_t cycles;     /* that this level needs */
  double slowdown;     /* compute cycles over them, before rounding; 1: none */
  uint64_t used_words; /* of capacity_words */
  double energy_pj;    /* its tensors and its leakage */
  double leak_pj;
} cost_level;

typedef enum cost_fault {
  COST_VALID,
  COST_FACTORS,       /* a dimension's loops do not make up its bound */
  COST_KEPT_NOWHERE,  /* a tensor is bypassed at every level */
  COST_COMPUTE_COUNT, /* more multipliers than there are */
  COST_COMPUTE_X,
  COST_COMPUTE_Y,
  COST_CAPACITY,
  COST_MIN_UTILIZATION,
  COST_INSTANCES,
  COST_MESH_X,
  COST_MESH_Y,
  COST_FANOUT_X, /* the level's own columns, under COST_FANOUT_LEVEL */
  COST_FANOUT_Y,
  COST_VIRTUAL_KEPT, /* a tensor kept at a level that has no memory */
  COST_TOO_LARGE     /* a count beyond ACCEL_MAX_COUNT */
} cost_fault;

/* Why a nest is not valid: `needed` exceeds (utilization: falls below)
   `available` at a level, for a tensor or a dimension. */
typedef struct cost_verdict {
  cost_fault fault;
  uint32_t level;     /* CALM_NONE: at the compute array */
  uint32_t tensor;    /* COST_KEPT_NOWHERE, _VIRTUAL_KEPT; else CALM_NONE; for
                         COST_CAPACITY the one with the largest tile */
  uint32_t dimension; /* COST_FACTORS; else CALM_NONE */
  uint64_t needed, available;
  uint64_t tensor_words; /* COST_CAPACITY: the tile of `tensor` */
} cost_verdict;

typedef struct cost_result {
  cost_verdict verdict; /* nothing below means anything unless COST_VALID */
  uint64_t computes;
  uint64_t compute_cycles;
  uint64_t multipliers; /* in use at once */
  uint64_t cycles;
  double energy_pj, compute_pj, network_pj;
  double edp; /* pJ times cycles */
  double utilization;
  uint32_t limiting_level; /* CALM_NONE: the multipliers */
  uint32_t level_count, tensor_count;
  cost_level *levels;
  cost_tensor *tensors; /* [level * tensor_count + tensor] */
  cost_flow *flows;     /* likewise: below that level */
  arena *arena;         /* where groups grow if links make many */
} cost_result;

/* Make ready.  `a` keeps the tables; arch and layer must outlive them. */
calm_status cost_problem_init(cost_problem *out, const accel_arch *arch,
                              const accel_layer *layer,
                              const cost_options *options, arena *a);

/* Room for the results of a problem, to be used any number of times. */
calm_status cost_result_init(cost_result *out, const cost_problem *p, arena *a);

/* Is the nest valid, by the order of checks that Timeloop has? */
void cost_judge(cost_verdict *out, const cost_problem *p, const accel_nest *n);

/* Judge and evaluate.  An invalid nest is a result.  Fails only without
   memory. */
calm_status cost_evaluate(cost_result *out, const cost_problem *p,
                          const accel_nest *n);

/* The verdict as one line: what, at which level, by how much. */
void cost_verdict_text(text *out, const cost_verdict *v, const cost_problem *p);

#endif
