/*
 * The baseline `random`: the best of the first valid nests among those drawn
 * (CoSA, section 5, takes five).
 */
#include "mapper/mapper_sample_parts.h"

static calm_status draw_all(mapper_sampler *s) {
  bool valid;
  while (!mapper_sampler_is_done(s)) TRY(mapper_sampler_draw(&valid, s));
  return CALM_OK;
}

calm_status mapper_random(mapper_result *out, const mapper_problem *p,
                          const mapper_sampling *s, limits *l, arena *a) {
  return mapper_sample_run(out, p, s, l, "random", draw_all, a);
}
