/*
 * Models and plans into files.  What is written under a plan is read back
 * (write_read_back.c) before it replaces anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan_rewrite.h"
#include "write_read_back.h"

/* ---- As it is ------------------------------------------------------------ */

calm_status calm_model_write(const calm_model *model, const char *path) {
  file_pieces pieces = {0};
  file_draft draft;
  arena a;
  arena_init(&a, model->context);
  calm_status status = model_pieces(&pieces, model, NULL, &a);
  if (status == CALM_OK)
    status = file_draft_write(&draft, model->context, path, &pieces);
  if (status == CALM_OK) status = file_draft_commit(&draft);
  VECTOR_FREE(model->context, &pieces);
  arena_free(&a);
  return status;
}

/* ---- What is to be written ----------------------------------------------- */

/* Only offsets that were chosen by the rules of TensorFlow Lite Micro are right
   there, and no other runtime reads them. */
static model_plan_action choose_action(const calm_plan *plan) {
  if (plan->model->format != MODEL_TFLITE) return MODEL_PLAN_KEEP;
  const bool theirs = plan_is_for(plan, "tflm");
  if (theirs && plan->runtime.source != PLAN_NONE && plan->offline_plan)
    return MODEL_PLAN_WRITE;
  if (plan->model->offline.present && plan->offline_plan)
    context_log(plan->context, CALM_LOG_WARNING,
                "%s: the offline plan is left out: %s", plan->model->path,
                theirs ? "the runtime's own placement is as good"
                       : "offsets are written under --memory tflm only");
  return MODEL_PLAN_STRIP;
}

/* One line for whoever finds the file later. */
static calm_status describe(const char **out, const calm_plan *plan, arena *a) {
  char line[256];
  const int length = snprintf(
      line, sizeof line,
      "calm %s; memory %s; order %s; peak %" PRIu64 " bytes, before %" PRIu64,
      calm_version(), plan->memory.name, plan->order_method,
      plan->summary.peak_bytes, plan->summary.baseline_peak_bytes);
  *out = arena_string(a, line, (size_t)length);
  return *out ? CALM_OK : context_no_memory(plan->context);
}

static calm_status make_patch(model_patch *out, const calm_plan *plan,
                              arena *a) {
  const uint32_t count = plan->model->graphs.count;
  const op_id **sequences;
  const uint64_t **offsets;
  ARENA_ARRAY(a, sequences, count);
  ARENA_ARRAY(a, offsets, count);
  for (uint32_t i = 0; i < count; i++) {
    sequences[i] = plan->graphs[i].sequence;
    offsets[i] = plan->graphs[i].offsets;
  }
  *out = (model_patch){sequences, offsets, choose_action(plan), NULL,
                       plan->mark.present ? &plan->mark : NULL};
  return plan->note ? describe(&out->note, plan, a) : CALM_OK;
}

/* Relative paths to weights are looked up beside the file that names them. */
static void warn_of_external(const calm_plan *plan, const char *path) {
  const char *from = plan->model->path, *external = plan->model->external;
  if (!external || file_same_folder(from, path)) return;
  context_log(plan->context, CALM_LOG_WARNING,
              "%s: its weights are in other files, such as '%s', which are "
              "looked for beside it; copy or link them there from where %s is",
              path, external, from);
}

/* ---- Plans --------------------------------------------------------------- */

static calm_status write_draft(file_draft *out, const calm_plan *plan,
                               const char *path, arena *a) {
  model_patch patch;
  file_pieces pieces = {0};
  TRY(make_patch(&patch, plan, a));
  calm_status status = model_pieces(&pieces, plan->model, &patch, a);
  if (status == CALM_OK)
    status = file_draft_write(out, plan->context, path, &pieces);
  VECTOR_FREE(plan->context, &pieces);
  TRY(status);
  status = write_read_back(plan, out->temporary, patch.plan);
  if (status != CALM_OK) file_draft_drop(out);
  return status;
}

/* Sums that run in any order are no operators of a file. */
static calm_status refuse_paper(const calm_plan *plan) {
  for (op_id op = 0; op < plan->graph->ops.count; op++) {
    const op_kind kind = plan->graph->ops.data[op].kind;
    if (kind == OP_partial_sum || kind == OP_add_into)
      return context_fail(
          plan->context, CALM_UNSUPPORTED,
          "%s: partial sums under --memory %s exist on paper only; to write a "
          "file use the memory model of its runtime: --memory %s",
          plan->original->path, plan->memory.name,
          plan->original->format == MODEL_ONNX ? "ort" : "tflm or litert");
  }
  return CALM_OK;
}

/* A text is written from the graph, a file from the bytes of the original. */
static calm_status write_rewritten(file_draft *out, const calm_plan *plan,
                                   const char *path, arena *a) {
  calm_plan copy = *plan;
  calm_model *model, text_of;
  if (plan->original->format == MODEL_CG ||
      plan->original->format == MODEL_BUILT) {
    text_of = *plan->model;
    text_of.format = MODEL_BUILT;
    copy.model = &text_of;
    return write_draft(out, &copy, path, a);
  }
  TRY(refuse_paper(plan));
  TRY(plan_rewrite_file(&model, plan));
  copy.model = model;
  copy.graph = &model->graphs.data[0];
  calm_status status = write_draft(out, &copy, path, a);
  calm_model_free(model);
  return status;
}

calm_status calm_plan_write(const calm_plan *plan, const char *path) {
  file_draft draft;
  arena a;
  arena_init(&a, plan->context);
  calm_status status = plan->model->rewritten
                           ? write_rewritten(&draft, plan, path, &a)
                           : write_draft(&draft, plan, path, &a);
  if (status == CALM_OK) status = file_draft_commit(&draft);
  if (status == CALM_OK) warn_of_external(plan, path);
  arena_free(&a);
  return status;
}
