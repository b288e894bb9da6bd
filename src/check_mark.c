#include "check_mark.h"

#include <inttypes.h>
#include <string.h>

#include "pipeline.h"

enum { OVERLAP_OFF, OVERLAP_ON }; /* of --overlap */

/* ---- Its terms ----------------------------------------------------------- */

/* False: this calm knows no such library. */
static bool find_library(kernel_library *out, const char *name) {
  for (int i = 0; i < KERNEL_LIBRARIES; i++)
    if (!strcmp(kernel_library_name((kernel_library)i), name)) {
      *out = (kernel_library)i;
      return true;
    }
  return false;
}

static bool knows_views(const calm_model *model) {
  memory_model trial = *memory_model_find("tflm");
  return memory_model_override(&trial, model->context, "views",
                               model->offline.mark.views) == CALM_OK;
}

static bool is_readable(const calm_model *model, kernel_library *library) {
  const model_mark *mark = &model->offline.mark;
  return mark->present && !mark->fault &&
         find_library(library, mark->kernels) && knows_views(model);
}

bool check_mark_holds(const calm_model *model) {
  kernel_library library;
  const model_offline_plan *plan = &model->offline;
  return plan->present && is_readable(model, &library) &&
         plan->mark.same_graphs && plan->mark.same_offsets;
}

static bool names_kernels(const calm_options *options) {
  return strcmp(options->kernels, "auto") != 0;
}

/* What holds for `portable` holds for every library, and so does what was
   planned without a name. */
static bool is_for_any(kernel_library library) {
  return library == KERNELS_PORTABLE || library == KERNELS_AUTO;
}

/* Other runtimes overlap nothing, whatever the plan says. */
static bool is_for_micro(const calm_model *model, const calm_options *options) {
  memory_model memory;
  calm_options trial = *options;
  trial.overlap = OVERLAP_OFF;
  context_mute(model->context, true);
  const calm_status status = pipeline_memory_model(&memory, model, &trial);
  context_mute(model->context, false);
  return status == CALM_OK && !strcmp(memory.name, "tflm") &&
         memory.subgraphs == SUBGRAPHS_TFLM;
}

calm_status check_mark_terms(calm_options *out, const calm_model *model,
                             const calm_options *options) {
  kernel_library library;
  const model_mark *mark = &model->offline.mark;
  *out = *options;
  if (!is_readable(model, &library) || !is_for_micro(model, options))
    return CALM_OK;
  if (!names_kernels(options) || !is_for_any(library))
    out->kernels = mark->kernels;
  if (library != KERNELS_AUTO) out->overlap = OVERLAP_ON;
  if (!options->views) out->views = mark->views;
  return CALM_OK;
}

/* ---- What is to be said of it -------------------------------------------- */

/* The words are used up. */
static calm_status say(calm_verdict *v, bool fault, text *words) {
  const char *line;
  TRY(text_keep(words, &line, &v->arena));
  const memory_fault said = {"mark", CALM_NONE, CALM_NONE, line};
  if (fault)
    VECTOR_PUSH(v->context, &v->verdict.faults, said);
  else
    VECTOR_PUSH(v->context, &v->verdict.warnings, said);
  return CALM_OK;
}

#define SAY(v, fault, ...)             \
  do {                                 \
    text words_;                       \
    text_init(&words_, (v)->context);  \
    text_format(&words_, __VA_ARGS__); \
    TRY(say((v), (fault), &words_));   \
  } while (0)

static calm_status judge_binding(calm_verdict *v) {
  const model_mark *mark = &v->model->offline.mark;
  if (!mark->same_graphs)
    SAY(v, true,
        "calm.overlap: the operators, their order, operands or shapes are not "
        "those that calm %s planned: the file was changed since; plan it again",
        mark->tool);
  if (!mark->same_offsets)
    SAY(v, true,
        "calm.overlap: the offsets are not those that calm %s wrote: the plan "
        "was changed since; plan the model again",
        mark->tool);
  return CALM_OK;
}

static calm_status judge_kernels(calm_verdict *v, kernel_library library,
                                 const calm_options *options) {
  const model_mark *mark = &v->model->offline.mark;
  const uint64_t edition = kernel_edition(library);
  if (names_kernels(options) && strcmp(options->kernels, mark->kernels) &&
      !is_for_any(library))
    SAY(v, true,
        "calm.overlap: the plan relies on the kernels '%s', not on '%s'; for "
        "those plan again: calm plan --kernels %s --overlap on",
        mark->kernels, options->kernels, options->kernels);
  if (mark->edition != edition)
    SAY(v, false,
        "calm.overlap: the plan was made with edition %" PRIu64
        " of the distances of '%s', and judged here by edition %" PRIu64,
        mark->edition, mark->kernels, edition);
  return CALM_OK;
}

static calm_status judge_mark(calm_verdict *v, const calm_options *options) {
  kernel_library library;
  const model_mark *mark = &v->model->offline.mark;
  if (!v->model->offline.present) {
    SAY(v, false, "calm.overlap stands without a plan, and means nothing");
    return CALM_OK;
  }
  if (mark->fault)
    SAY(v, true, "calm.overlap cannot be read: %s; plan the model again",
        mark->fault);
  else if (!find_library(&library, mark->kernels))
    SAY(v, true,
        "calm.overlap: the plan relies on kernels '%s', which this calm does "
        "not know",
        mark->kernels);
  else if (!knows_views(v->model))
    SAY(v, true,
        "calm.overlap: the plan relies on views '%s', which this calm does not "
        "know",
        mark->views);
  else
    TRY(judge_kernels(v, library, options));
  return mark->fault ? CALM_OK : judge_binding(v);
}

/* ---- Without one --------------------------------------------------------- */

static bool overlaps(const calm_verdict *v) {
  for (uint32_t i = 0; i < v->verdict.faults.count; i++)
    if (!strcmp(v->verdict.faults.data[i].kind, "overlap")) return true;
  return false;
}

/* Would the plan hold if overlaps were allowed under a library? */
static calm_status try_library(bool *out, calm_verdict *v,
                               kernel_library library,
                               const calm_options *options) {
  pipeline_tflm t;
  memory_verdict verdict;
  calm_options other = *options;
  memory_model memory;
  other.kernels = kernel_library_name(library);
  other.overlap = OVERLAP_ON;
  TRY(pipeline_memory_model(&memory, v->model, &other));
  TRY(pipeline_tflm_model(&t, v->model, &other, &v->arena));
  TRY(tflm_check(&verdict, &t.model, &memory, &v->arena));
  *out = memory.overlap && verdict.faults.count == 0;
  memory_verdict_free(&verdict, v->context);
  return CALM_OK;
}

static calm_status suggest_library(calm_verdict *v,
                                   const calm_options *options) {
  bool holds = false;
  if (v->memory.subgraphs != SUBGRAPHS_TFLM || v->memory.overlap ||
      names_kernels(options) || !overlaps(v))
    return CALM_OK;
  for (int i = KERNEL_LIBRARIES; --i > KERNELS_AUTO && !holds;) {
    TRY(try_library(&holds, v, (kernel_library)i, options));
    if (holds)
      SAY(v, false,
          "it would hold with --kernels %s --overlap on, if those are the "
          "kernels that run it",
          kernel_library_name((kernel_library)i));
  }
  return CALM_OK;
}

calm_status check_mark(calm_verdict *v, const calm_options *options) {
  v->mark_shown = v->model->offline.mark.present;
  v->mark_holds = check_mark_holds(v->model);
  return v->model->offline.mark.present ? judge_mark(v, options)
                                        : suggest_library(v, options);
}
