/*
 * Plans of tiled graphs.  The model is planned without tiles first, rewritten
 * if that is asked for: what tiles do not improve on is not tiled.  Tiles that
 * the model brings along are undone, regions are searched for or taken as
 * given, and the tiled model is planned like any other.  Each stage's model has
 * a file of its own if the first one has one, so that stages do not have to
 * know of each other.
 *
 *   plan_tile.c          the order of events
 *   plan_tile_plans.c    the best tilings, planned to the end
 *   plan_tile_choose.c   with tiles or without, and why
 *   plan_tile_options.c  what the options ask for
 *   plan_tile_stage.c    from an edit to a model
 *   plan_tile_judge.c    what a set of regions comes to
 *   plan_tile_steps.c    what each part of planning bought
 */
#ifndef CALM_PLAN_TILE_H
#define CALM_PLAN_TILE_H

#include "plan/plan_rewrite.h"

/* ---- Options ------------------------------------------------------------- */

/* Does anything ask for tiles? */
bool plan_tile_wanted(const calm_options *options);

/* Of options that mean nothing without them. */
void plan_tile_warn_of_unused(const calm_model *model,
                              const calm_options *options);

typedef struct plan_tile_request {
  bool automatic;       /* regions are searched for */
  tile_region *regions; /* else those that are given */
  uint32_t count;
  bool rewrites;        /* `options` ask for rewriting */
  calm_options options; /* with what --effort implies */
  double most_extra;    /* share of multiply-accumulates; negative: any */
} plan_tile_request;

/* CALM_MISUSE, with what would be right, where options do not go together. */
calm_status plan_tile_read(plan_tile_request *out, const calm_model *model,
                           const calm_options *options, arena *a);

/* ---- Stages -------------------------------------------------------------- */

/* A model that was made from another one on the way to a plan. */
typedef struct plan_stage {
  plan_round *round; /* NULL: its file came from somewhere else */
  calm_model *file;  /* NULL: it has none; the model is the round's */
} plan_stage;

void plan_stage_free(plan_stage *stage);
calm_model *plan_stage_model(plan_stage *stage);

/* The stage of an edit; `plan` is named where that fails.  Takes the round over
   even then. */
calm_status plan_stage_of_round(plan_stage **out, const calm_plan *plan,
                                plan_round *round);

/* The file of a plan's rewriting; NULL where there is none to be made. */
calm_status plan_stage_of_plan(plan_stage **out, const calm_plan *plan);

/* What a graph is cut by, given the model's format. */
tile_options plan_tile_apply_options(const calm_model *model,
                                     const memory_model *memory);

/* ---- The judge ----------------------------------------------------------- */

enum { PLAN_TILE_CLASSES = 8 };

typedef struct plan_tile_judge {
  calm_context *context;
  calm_model *model; /* untiled */
  const calm_options *options;
  calm_options quick; /* the same, with less effort */
  memory_model memory;
  tile_options apply;
  bool joint; /* TensorFlow Lite Micro runs it, and it is a single graph */
  uint32_t *position_of; /* of each operator of the untiled graph */
  tile_goal goal;
  bool searching; /* among tilings, and not asked about one */
  uint64_t macs;  /* of the untiled model */
  uint64_t best_bytes[PLAN_TILE_CLASSES]; /* the least found so far, by classes
                          of multiply-accumulates; UINT64_MAX: none yet */
  uint32_t judged;
  limits *l;
} plan_tile_judge;

calm_status plan_tile_judge_init(plan_tile_judge *out, calm_model *model,
                                 const calm_options *options,
                                 const tile_goal *goal, limits *l, arena *a);
tile_judge plan_tile_judge_of(plan_tile_judge *j);

/* What the best needs that has no more multiply-accumulates, or hardly more. */
uint64_t plan_tile_best(const plan_tile_judge *j, uint64_t macs);

/* The round that regions make of the untiled model; CALM_UNSUPPORTED if they
   cannot. */
calm_status plan_tile_round(plan_round **out, const calm_model *model,
                            const tile_region *regions, uint32_t count,
                            const tile_options *options);

/* ---- Steps --------------------------------------------------------------- */

/* What a plan comes to, and what its model took before planning. */
plan_step plan_step_of(const char *name, const calm_plan *plan);
plan_step plan_step_before(const calm_plan *plan);
void plan_step_add(plan_tiling *t, plan_step step);

/* ---- All of it ----------------------------------------------------------- */

calm_status plan_tile_make(calm_plan **out, calm_model *model,
                           const calm_options *options);

#endif
