/*
 * From an edit to a model, and from a plan's rounds to a file.  A round's model
 * has its own entry and borrows all else from the model it was made from.
 */
#include "plan/plan_rewrite.h"
#include "write_read_back.h"

calm_status plan_round_new(plan_round **out, const calm_model *from) {
  plan_round *round = pipeline_allocate(from->context, sizeof *round);
  if (!round) return CALM_NO_MEMORY;
  round->context = from->context;
  round->from = from;
  arena_init(&round->arena, from->context);
  graph_edit_init(&round->edit, &from->graphs.data[0], &round->arena);
  model_init(&round->model, from->context, from->path);
  *out = round;
  return CALM_OK;
}

void plan_round_free(plan_round *round) {
  if (!round) return;
  calm_context *context = round->context;
  /* the graphs of the model belong to the edit and to the model before */
  VECTOR_FREE(context, &round->model.graphs);
  model_clear(&round->model);
  graph_edit_free(&round->edit);
  arena_free(&round->arena);
  context_reallocate(context, round, sizeof *round, 0);
}

static uint64_t weigh(const graph *g) {
  uint64_t bytes = 0;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->tensors.data[t].flags & CALM_TENSOR_CONST)
      bytes += g->tensors.data[t].bytes;
  return bytes;
}

calm_status plan_round_finish(plan_round *round) {
  calm_model *model = &round->model;
  const calm_model *from = round->from;
  model->format = from->format;
  model->dims = from->dims;
  model->fixed_weights = from->fixed_weights;
  model->opset = from->opset;
  model->external = from->external;
  model->metadata_names = from->metadata_names;
  model->metadata_count = from->metadata_count;
  model->finished = model->rewritten = true;
  model->weight_bytes = weigh(&round->edit.after);
  VECTOR_PUSH(round->context, &model->graphs, round->edit.after);
  for (uint32_t i = 1; i < from->graphs.count; i++)
    VECTOR_PUSH(round->context, &model->graphs, from->graphs.data[i]);
  return CALM_OK;
}

/* ---- Back to a file ------------------------------------------------------ */

typedef struct constants {
  const calm_model *model;
  arena *a;
} constants;

static bool read_constant(void *payload, tensor_id t, const uint8_t **bytes,
                          uint64_t *length) {
  const constants *c = payload;
  return model_constant(bytes, length, c->model, t, c->a) == CALM_OK;
}

/* A model that keeps its bytes: opened from memory, it may be written. */
static calm_status adopt(calm_model **out, const calm_model *like,
                         const uint8_t *bytes, size_t length) {
  calm_model *model = pipeline_allocate(like->context, sizeof *model);
  if (!model) return CALM_NO_MEMORY;
  model_init(model, like->context, like->path);
  model->dims = like->dims;
  model->fixed_weights = like->fixed_weights;
  model->map = (file_map){bytes, length};
  model->altered = true;
  context_mute(like->context, true);
  calm_status status = model_read(model);
  context_mute(like->context, false);
  if (status == CALM_OK)
    *out = model;
  else
    calm_model_free(model);
  return status;
}

calm_status plan_round_file(calm_model **out, const calm_plan *plan,
                            const calm_model *from, graph_edit *edit,
                            plan_round *last) {
  const uint8_t *bytes;
  size_t length;
  calm_model *model;
  constants c = {from, &last->arena};
  TRY(rewrite_fill(edit, read_constant, &c, &last->arena));
  TRY(model_rebuild(&bytes, &length, from, edit, &last->arena));
  TRY(adopt(&model, from, bytes, length));
  calm_status status = write_compare_rebuilt(plan, &last->model, model);
  if (status == CALM_OK)
    *out = model;
  else
    calm_model_free(model);
  return status;
}

/* All rounds are one edit of the original: tensors of an .onnx file between
   them would have other numbers than those of the round's graph. */
static calm_status compose_rounds(graph_edit *out, const calm_plan *plan,
                                  arena *a) {
  graph_edit whole, longer;
  TRY(rewrite_compose(&whole, &plan->rounds[0]->edit, &plan->rounds[1]->edit,
                      a));
  for (uint32_t i = 2; i < plan->round_count; i++) {
    const calm_status status =
        rewrite_compose(&longer, &whole, &plan->rounds[i]->edit, a);
    graph_edit_free(&whole);
    TRY(status);
    whole = longer;
  }
  *out = whole;
  return CALM_OK;
}

calm_status plan_rewrite_file(calm_model **out, const calm_plan *plan) {
  graph_edit whole;
  if (plan->round_count == 0) return *out = NULL, CALM_OK;
  plan_round *last = plan->rounds[plan->round_count - 1];
  if (plan->round_count == 1)
    return plan_round_file(out, plan, plan->original, &last->edit, last);
  TRY(compose_rounds(&whole, plan, &last->arena));
  const calm_status status =
      plan_round_file(out, plan, plan->original, &whole, last);
  graph_edit_free(&whole);
  return status;
}
