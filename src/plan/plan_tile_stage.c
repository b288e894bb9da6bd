/* From an edit to a model, with a file where there was one before. */
#include "plan/plan_tile.h"

/* The most that a concat of TensorFlow Lite Micro takes. */
enum { MICRO_CONCAT_OPERANDS = 10 };

/* The opset in which a slice got its starts and ends as operands. */
enum { FIRST_WITH_OPERANDS = 10 };

static calm_status new_stage(plan_stage **out, calm_context *context) {
  plan_stage *stage = pipeline_allocate(context, sizeof *stage);
  if (!stage) return CALM_NO_MEMORY;
  *out = stage;
  return CALM_OK;
}

/* The bytes of a file may lie in the round's arena. */
void plan_stage_free(plan_stage *stage) {
  if (!stage) return;
  calm_context *context =
      stage->file ? stage->file->context : stage->round->context;
  calm_model_free(stage->file);
  plan_round_free(stage->round);
  context_reallocate(context, stage, sizeof *stage, 0);
}

calm_model *plan_stage_model(plan_stage *stage) {
  return stage->file ? stage->file : &stage->round->model;
}

static bool has_file(const calm_model *model) {
  return model->format == MODEL_TFLITE || model->format == MODEL_ONNX;
}

calm_status plan_stage_of_round(plan_stage **out, const calm_plan *plan,
                                plan_round *round) {
  plan_stage *stage;
  calm_status status = new_stage(&stage, round->context);
  if (status != CALM_OK) {
    plan_round_free(round);
    return status;
  }
  stage->round = round;
  if (has_file(round->from))
    status =
        plan_round_file(&stage->file, plan, round->from, &round->edit, round);
  if (status == CALM_OK)
    *out = stage;
  else
    plan_stage_free(stage);
  return status;
}

calm_status plan_stage_of_plan(plan_stage **out, const calm_plan *plan) {
  calm_model *file;
  plan_stage *stage;
  *out = NULL;
  if (plan->round_count == 0 || !has_file(plan->model)) return CALM_OK;
  TRY(plan_rewrite_file(&file, plan));
  const calm_status status = new_stage(&stage, plan->context);
  if (status != CALM_OK) {
    calm_model_free(file);
    return status;
  }
  stage->file = file;
  *out = stage;
  return CALM_OK;
}

tile_options plan_tile_apply_options(const calm_model *model,
                                     const memory_model *memory) {
  const bool micro = memory->subgraphs == SUBGRAPHS_TFLM;
  return (tile_options){
      .most_operands = micro ? MICRO_CONCAT_OPERANDS : 0,
      .pads = model->format == MODEL_ONNX,
      .bare_slices = model->opset > 0 && model->opset < FIRST_WITH_OPERANDS,
      .row_align = 1};
}

calm_status plan_tile_round(plan_round **out, const calm_model *model,
                            const tile_region *regions, uint32_t count,
                            const tile_options *options) {
  plan_round *round;
  TRY(plan_round_new(&round, model));
  calm_status status = tile_apply(&round->edit, &model->graphs.data[0], regions,
                                  count, options, &round->arena);
  if (status == CALM_OK) status = plan_round_finish(round);
  if (status == CALM_OK)
    *out = round;
  else
    plan_round_free(round);
  return status;
}
