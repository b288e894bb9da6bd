/*
 * The model that is to be tiled: of what was rewritten a file is made, as
 * stages do not know of each other, and tiles that the model brings along are
 * undone.
 */
#include <string.h>

#include "plan/plan_tile_run.h"

static void add_stage(plan_tile_run *t, plan_stage *stage) {
  t->stages[t->stage_count++] = stage;
  t->base = plan_stage_model(stage);
}

calm_status plan_tile_begin(plan_tile_run *t) {
  plan_stage *stage;
  t->base = (calm_model *)t->untiled->model;
  TRY(plan_stage_of_plan(&stage, t->untiled));
  if (stage) add_stage(t, stage);
  return CALM_OK;
}

/* Constants of a model, compared. */
typedef struct comparison {
  const calm_model *model;
  arena *a;
} comparison;

static bool same_bytes(void *payload, tensor_id a, tensor_id b) {
  const comparison *c = payload;
  const uint8_t *x, *y;
  uint64_t m, n;
  return model_constant(&x, &m, c->model, a, c->a) == CALM_OK &&
         model_constant(&y, &n, c->model, b, c->a) == CALM_OK && m == n &&
         memcmp(x, y, (size_t)m) == 0;
}

static calm_status fold_round(plan_round **out, uint32_t *found,
                              const plan_tile_run *t) {
  plan_round *round;
  tile_options o = plan_tile_apply_options(t->base, &t->untiled->memory);
  comparison c = {.model = t->base};
  *found = 0;
  *out = NULL;
  TRY(plan_round_new(&round, t->base));
  c.a = &round->arena;
  o.same = same_bytes;
  o.payload = &c;
  calm_status status =
      tile_fold(&round->edit, found, plan_tile_graph(t), &o, &round->arena);
  if (status == CALM_OK && *found) status = plan_round_finish(round);
  if (status == CALM_OK && *found)
    *out = round;
  else
    plan_round_free(round);
  return status;
}

calm_status plan_tile_unfold(plan_tile_run *t) {
  plan_round *round;
  plan_stage *stage;
  if (!t->options.fold_tiles) return CALM_OK;
  TRY(fold_round(&round, &t->result.folded, t));
  if (!round) return CALM_OK;
  TRY(plan_stage_of_round(&stage, t->untiled, round));
  add_stage(t, stage);
  return CALM_OK;
}
