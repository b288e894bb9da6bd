/*
 * A run from a model to the plan of its tiles, as its files share it: the model
 * that is to be tiled (plan_tile_base.c), the tilings that are planned to the
 * end (plan_tile_best.c), and the order of events (plan_tile.c).
 */
#ifndef CALM_PLAN_TILE_RUN_H
#define CALM_PLAN_TILE_RUN_H

#include "plan/plan_tile.h"

/* A run of all stages. */
typedef struct plan_tile_run {
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
} plan_tile_run;

static inline const graph *plan_tile_graph(const plan_tile_run *t) {
  return &t->base->graphs.data[0];
}

/* A plan of a model within what is left of the time. */
calm_status plan_tile_plan(calm_plan **out, const plan_tile_run *t,
                           calm_model *model, const calm_options *options);

/* The stages before any tiles: a file of what was rewritten, and tiles that are
   there already undone.  Sets the base. */
calm_status plan_tile_begin(plan_tile_run *t);
calm_status plan_tile_unfold(plan_tile_run *t);

/* What a plan needs of what the goal counts; is `a` what the goal asks for
   rather than `b`? */
uint64_t plan_tile_needs(const plan_tile_run *t, const calm_plan *plan);
bool plan_tile_is_better(const plan_tile_run *t, const calm_plan *a,
                         const calm_plan *b);

/* Plan the best tilings of the choice to the end; t->tiled is the best of these
   plans, its stage the last, and the front has their figures. */
calm_status plan_tile_finish(plan_tile_run *t);

#endif
