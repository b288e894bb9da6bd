/*
 * What the files share that plan a tiling: everything one run works with.
 * Private to them.
 */
#ifndef CALM_PLAN_TILE_RUN_H
#define CALM_PLAN_TILE_RUN_H

#include "plan/plan_tile.h"

enum { EFFORT_MAX = 1, MINIMIZE_HEAD = 2 };

typedef struct tiling {
  calm_context *context;
  plan_tile_request request;
  calm_options options; /* of the plans */
  calm_model *original;
  double start;
  calm_plan *untiled; /* of the original, rewritten if that is asked for */
  calm_plan *tiled;
  plan_stage *stages[PLAN_MOST_STAGES];
  uint32_t stage_count;
  calm_model *base;              /* that is to be tiled */
  tile_state planned[TILE_NEAR]; /* with the figures of their plans */
  uint32_t planned_count, best;
  plan_tiling result;
  arena scratch;
} tiling;

static inline const graph *base_graph(const tiling *t) {
  return &t->base->graphs.data[0];
}

static inline bool is_max(const tiling *t) {
  return t->request.options.effort == EFFORT_MAX;
}

/* The point of the front without tiles. */
static inline const tile_state *plan_tile_untiled(const tiling *t) {
  const tile_choice *c = &t->result.choice;
  for (uint32_t i = 0; i < c->front_count; i++)
    if (c->front[i].count == 0) return &c->front[i];
  return &c->front[0];
}

/* A plan of a model on the way, within what is left of the time. */
calm_status plan_tile_plan_model(calm_plan **out, const tiling *t,
                                 calm_model *model,
                                 const calm_options *options);

/* The bytes that the goal counts of a plan. */
uint64_t plan_tile_needs(const tiling *t, const calm_plan *plan);

/* Is `a` what the goal asks for rather than `b`? */
bool plan_tile_is_better(const tiling *t, const calm_plan *a,
                         const calm_plan *b);

/* Plan the best states of the front to the end; t->tiled is the best plan, or
   stays NULL, and the front gets their figures. */
calm_status plan_tile_plan_best(tiling *t);

/* The plan with tiles or the one without, with all that is told of either. */
calm_status plan_tile_choose(calm_plan **out, tiling *t);

#endif
