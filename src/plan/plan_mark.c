/*
 * What a finished plan for TensorFlow Lite Micro relies on.  Its offsets are
 * judged once more, by what every library does: where they do not hold then,
 * the file that gets them says which kernels they are for.
 */
#include <string.h>

#include "plan/planner.h"

/* The plan's own graphs under its orders and offsets. */
static calm_status lay_out(tflm_model *out, const calm_plan *plan,
                           const pipeline_tflm *file, arena *a) {
  const uint32_t count = plan->model->graphs.count;
  const op_id **sequences;
  const uint64_t **offsets;
  ARENA_ARRAY(a, sequences, count);
  ARENA_ARRAY(a, offsets, count);
  for (uint32_t i = 0; i < count; i++) {
    sequences[i] = plan->graphs[i].sequence;
    offsets[i] = plan->graphs[i].offsets;
  }
  *out = (tflm_model){.graphs = plan->model->graphs.data,
                      .count = count,
                      .sequences = sequences,
                      .offsets = offsets,
                      .scratch = &file->scratch};
  return CALM_OK;
}

/* Only what is asked for beyond the preset can be relied on without a word to
   whoever checks the file: --kernels alone has to be told again. */
static bool may_rely(const memory_model *memory) {
  const memory_model *preset = memory_model_find("tflm");
  return memory->overlap ||
         !bits_equal(memory->views, preset->views, OP_KIND_WORDS);
}

static calm_status relies(bool *out, const calm_plan *plan,
                          const tflm_model *model, arena *a) {
  memory_model common = plan->memory;
  const memory_model *preset = memory_model_find("tflm");
  memory_verdict verdict;
  memcpy(common.views, preset->views, sizeof common.views);
  memcpy(common.inplace, preset->inplace, sizeof common.inplace);
  memory_model_use_kernels(&common, KERNELS_AUTO);
  common.overlap = false;
  TRY(tflm_check(&verdict, model, &common, a));
  *out = verdict.faults.count > 0;
  memory_verdict_free(&verdict, plan->context);
  return CALM_OK;
}

static calm_status write_views(const char **out, const memory_model *memory,
                               arena *a) {
  text words;
  text_init(&words, a->context);
  memory_model_views_word(&words, memory);
  return text_keep(&words, out, a);
}

static calm_status mark(calm_plan *plan, const tflm_model *model, arena *a) {
  model_mark *m = &plan->mark;
  if (!may_rely(&plan->memory)) return CALM_OK;
  TRY(relies(&m->present, plan, model, a));
  m->kernels = kernel_library_name(plan->memory.kernels);
  m->edition = kernel_edition(plan->memory.kernels);
  m->tool = calm_version();
  return write_views(&m->views, &plan->memory, &plan->arena);
}

/* Those of the original, whose placement nobody planned. */
static calm_status warn_of_inputs(const calm_plan *plan,
                                  const tflm_model *model,
                                  const calm_options *options, arena *a) {
  pipeline_tflm untouched;
  pipeline_lost_inputs lost;
  TRY(pipeline_tflm_model(&untouched, plan->original, options, a));
  untouched.model.offsets = NULL;
  TRY(pipeline_find_lost_inputs(&lost, model, &untouched.model, &plan->memory,
                                a));
  if (lost.count)
    context_log(plan->context, CALM_LOG_WARNING,
                "%s: input '%s'%s is overwritten while the plan runs, as it is "
                "not without a plan: set it before every invocation",
                plan->original->path, lost.name,
                lost.count > 1 ? " (and others)" : "");
  return CALM_OK;
}

static calm_status look(calm_plan *plan, const calm_options *options,
                        arena *a) {
  pipeline_tflm file;
  tflm_model model;
  TRY(pipeline_tflm_model(&file, plan->model, options, a));
  TRY(lay_out(&model, plan, &file, a));
  TRY(mark(plan, &model, a));
  return plan->runtime.source == PLAN_OWN
             ? warn_of_inputs(plan, &model, options, a)
             : CALM_OK;
}

calm_status plan_mark(calm_plan *plan, const calm_options *options) {
  arena scratch;
  if (!plan_is_for(plan, "tflm") || plan->runtime.source == PLAN_NONE)
    return CALM_OK;
  arena_init(&scratch, plan->context);
  calm_status status = look(plan, options, &scratch);
  arena_free(&scratch);
  return status;
}
