/*
 * The result of mapping layers onto an accelerator, as the pipeline (map.c)
 * fills it and the report room prints it.  It owns an arena, in which machine,
 * layers and nests lie.  Equal layers are one, with their count.
 */
#ifndef CALM_MAP_H
#define CALM_MAP_H

#include "accel/accel_constraints.h"
#include "base/options.h"
#include "mapper/mapper_cosa.h"

/* The choices of --mapper, in their order. */
typedef enum map_method {
  MAP_EXACT,
  MAP_COSA,
  MAP_RANDOM,
  MAP_HYBRID
} map_method;

/* A layer and what came of it. */
typedef struct map_layer {
  const char *name; /* of the problem file, or of the operator */
  accel_layer layer;
  uint64_t count;     /* how often the network has it */
  calm_status error;  /* not CALM_OK: it failed, and `reason` is the message */
  const char *reason; /* why there is no nest, or no proof; NULL otherwise */
  accel_constraints constraints;
  mapper_result result;    /* re-evaluated: figures are cost_evaluate's */
  mapper_cosa_terms terms; /* cosa */
  cost_problem problem;    /* of result.padded, or else of `layer` */
  double seconds;
} map_layer;

/* Is there a nest, with figures? */
static inline bool map_layer_is_mapped(const map_layer *l) {
  return l->error == CALM_OK && (l->result.outcome == CALM_OPTIMAL ||
                                 l->result.outcome == CALM_FEASIBLE);
}

/* An operator that has multiplications but is no layer to be mapped. */
typedef struct map_skipped {
  const char *name, *reason;
} map_skipped;

struct calm_mapping {
  calm_context *context;
  arena arena;
  accel_arch arch;
  const char *source; /* of the layers: a path */
  bool network;       /* `source` is a model */
  bool energy;        /* energies are known and wanted */
  bool timing;        /* show seconds */
  bool explain;       /* show what holds each nest back */
  options_changed changed;
  map_method method;
  mapper_objective objective;
  cost_options cost;
  map_layer *layers;
  uint32_t layer_count;
  map_skipped *skipped;
  uint32_t skipped_count;
  /* Over all layers that are mapped, times their counts. */
  double total_energy_pj;
  uint64_t total_cycles;
  uint64_t total_macs;
  uint32_t mapped_count;
};

#endif
