/*
 * What a finished plan for TensorFlow Lite Micro relies on.  Its offsets are
 * judged once more, by what every library does: where they do not hold then,
 * the file that gets them says which kernels they are for.
 */
#include <string.h>

#include "kernel/kernel_pick.h"
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

/* Would the plan hold under another memory model? */
static calm_status holds(bool *out, const calm_plan *plan,
                         const tflm_model *model, const memory_model *memory,
                         arena *a) {
  memory_verdict verdict;
  TRY(tflm_check(&verdict, model, memory, a));
  *out = verdict.faults.count == 0;
  memory_verdict_free(&verdict, plan->context);
  return CALM_OK;
}

static calm_status relies(bool *out, const calm_plan *plan,
                          const tflm_model *model, arena *a) {
  memory_model common = plan->memory;
  const memory_model *preset = memory_model_find("tflm");
  bool held;
  memcpy(common.views, preset->views, sizeof common.views);
  memcpy(common.inplace, preset->inplace, sizeof common.inplace);
  memory_model_use_kernels(&common, KERNELS_AUTO);
  common.overlap = false;
  TRY(holds(&held, plan, model, &common, a));
  *out = !held;
  return CALM_OK;
}

/* Kinds of views that the plan does without are not its terms. */
static calm_status leave_needed(memory_model *memory, const calm_plan *plan,
                                const tflm_model *model, arena *a) {
  const memory_model *preset = memory_model_find("tflm");
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++) {
    memory_model without = *memory;
    bool held;
    if (!bits_has(memory->views, kind) || bits_has(preset->views, kind))
      continue;
    bits_remove(without.views, kind);
    TRY(holds(&held, plan, model, &without, a));
    if (held) *memory = without;
  }
  return CALM_OK;
}

/* "identity,slice": those of the preset, and then the others. */
static calm_status write_views(const char **out, const memory_model *memory,
                               arena *a) {
  const memory_model *preset = memory_model_find("tflm");
  memory_model others = *memory;
  bool whole = true;
  text words;
  text_init(&words, a->context);
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++) {
    if (!bits_has(preset->views, kind)) continue;
    whole = whole && bits_has(memory->views, kind);
    bits_remove(others.views, kind);
  }
  if (whole) text_format(&words, "identity");
  if (whole && bits_count(others.views, OP_KIND_WORDS))
    text_format(&words, ",");
  if (!whole || bits_count(others.views, OP_KIND_WORDS))
    memory_model_views_word(&words, whole ? &others : memory);
  return text_keep(&words, out, a);
}

static calm_status mark(calm_plan *plan, const tflm_model *model, arena *a) {
  model_mark *m = &plan->mark;
  memory_model needed = plan->memory;
  if (!may_rely(&plan->memory)) return CALM_OK;
  TRY(relies(&m->present, plan, model, a));
  if (!m->present) return CALM_OK;
  TRY(leave_needed(&needed, plan, model, a));
  m->kernels = kernel_library_name(plan->memory.kernels);
  m->edition = kernel_edition(plan->memory.kernels);
  m->tool = calm_version();
  return write_views(&m->views, &needed, &plan->arena);
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

/* A kernel that reads past its input depends on what a plan puts there. */
static void warn_of_lines(const calm_plan *plan) {
  const graph *g = plan->graph;
  kernel_subject s;
  if (plan->memory.kernels != KERNELS_CMSIS_NN_MVE) return;
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == OP_conv2d && kernel_subject_of(&s, g, u, 0) &&
        kernel_pick(KERNELS_CMSIS_NN_MVE, &s) == KERNEL_MVE_LINE_BEYOND) {
      context_log(plan->context, CALM_LOG_WARNING,
                  "%s: operator '%s': the 1xN kernel of CMSIS-NN for MVE reads "
                  "past its input for such strides and paddings: its results "
                  "depend on what lies there, and may change with any plan",
                  plan->original->path, g->ops.data[u].name);
      return;
    }
}

static calm_status look(calm_plan *plan, const calm_options *options,
                        arena *a) {
  pipeline_tflm file;
  tflm_model model;
  TRY(pipeline_tflm_model(&file, plan->model, options, a));
  TRY(lay_out(&model, plan, &file, a));
  TRY(mark(plan, &model, a));
  warn_of_lines(plan);
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
