/*
 * What both sampling mappers share: nests are tried, counted and compared; the
 * best is kept; limits are looked at.
 */
#ifndef CALM_MAPPER_MAPPER_SAMPLE_PARTS_H
#define CALM_MAPPER_MAPPER_SAMPLE_PARTS_H

#include "mapper/mapper_sample.h"
#include "mapper/mapper_sample_draw.h"

typedef struct mapper_sampler {
  const mapper_problem *problem;
  const mapper_sampling *sampling;
  limits *limits;
  arena *scratch;
  mapper_draw draw;
  cost_problem cost;
  cost_result result;   /* of the last nest */
  accel_nest best;      /* its loops and keep sets are room for any nest */
  double value, cycles; /* of the best */
  bool found;
  uint64_t samples, valid;
  uint64_t since;       /* valid nests after the best one */
  cost_verdict nearest; /* of the nests that do not fit */
  double miss;          /* ... by which factor */
} mapper_sampler;

/* Draw a nest and try it; is it valid? */
calm_status mapper_sampler_draw(bool *valid, mapper_sampler *s);

/* Count, judge and enter a nest; is it valid? */
calm_status mapper_sampler_try(bool *valid, mapper_sampler *s,
                               const accel_nest *n);

/* Has it drawn or found enough, or has a limit been hit? */
bool mapper_sampler_is_done(mapper_sampler *s);

/* A baseline: a loop over the above. */
typedef calm_status mapper_sample_method(mapper_sampler *s);

/* Make a sampler, run it, hand out what it has found.  `name` is the mapper's,
   for messages. */
calm_status mapper_sample_run(mapper_result *out, const mapper_problem *p,
                              const mapper_sampling *sampling, limits *l,
                              const char *name, mapper_sample_method *method,
                              arena *a);

#endif
