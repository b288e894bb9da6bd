/*
 * The baseline `hybrid`, after the search of that name in Timeloop's mapper: a
 * nest is drawn and taken as a tiling.  Whether it fits does not depend on the
 * orders of its loops, so that one that does not is dropped at once; of one
 * that does, all orders that matter are looked at, until nothing has been
 * better for so many valid nests.
 */
#include "cost/cost_scratch.h"
#include "mapper/mapper_sample_orders.h"
#include "mapper/mapper_sample_parts.h"

static bool is_done(mapper_sampler *s) {
  return mapper_sampler_is_done(s) ||
         (s->found && s->since >= s->sampling->victory);
}

static calm_status reorder(mapper_sampler *s, mapper_orders *orders) {
  accel_nest *nest = &s->draw.nest;
  bool valid;
  mapper_orders_begin(orders, nest);
  while (!is_done(s) && mapper_orders_next(orders))
    TRY(mapper_sampler_try(&valid, s, nest));
  return CALM_OK;
}

static calm_status draw_tilings(mapper_sampler *s) {
  mapper_orders orders;
  TRY(mapper_orders_init(&orders, &s->cost.scratch->tables,
                         s->problem->constraints, s->scratch));
  while (!is_done(s)) {
    bool valid;
    TRY(mapper_sampler_draw(&valid, s));
    if (valid) TRY(reorder(s, &orders));
  }
  return CALM_OK;
}

calm_status mapper_hybrid(mapper_result *out, const mapper_problem *p,
                          const mapper_sampling *s, limits *l, arena *a) {
  return mapper_sample_run(out, p, s, l, "hybrid", draw_tilings, a);
}
