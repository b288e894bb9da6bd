/*
 * Whether a plan holds for a model: the plan inside a .tflite file (first as a
 * table of words, check_table.c, then by its offsets, then by the mark of what
 * it relies on, check_mark.c), or one in JSON (by its offsets, then by what
 * else it says, check_claims.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "check_claims.h"
#include "check_mark.h"
#include "check_table.h"
#include "memory/memory_alias.h"
#include "memory/memory_alias.h"
#include "memory/memory_bytes.h"
#include "pipeline.h"
#include "report/report_plan_read.h"

static calm_status fault(calm_verdict *v, const char *kind, const char *words) {
  memory_fault found = {kind, CALM_NONE, CALM_NONE, words};
  VECTOR_PUSH(v->context, &v->verdict.faults, found);
  return CALM_OK;
}

/* What a caller has to know who sets an input once and invokes many times. */
static calm_status warn_of_inputs(calm_verdict *v, const tflm_model *model) {
  pipeline_lost_inputs lost;
  tflm_model alone = *model;
  text words;
  const char *line;
  alone.offsets = NULL;
  if (!model->offsets || v->verdict.faults.count) return CALM_OK;
  TRY(pipeline_find_lost_inputs(&lost, model, &alone, &v->memory, &v->arena));
  if (lost.count == 0) return CALM_OK;
  text_init(&words, v->context);
  text_format(
      &words,
      "input '%s'%s is overwritten during a run, as it is not without a "
      "plan: set it before every invocation",
      lost.name, lost.count > 1 ? " (and others)" : "");
  TRY(text_keep(&words, &line, &v->arena));
  const memory_fault said = {"input", CALM_NONE, CALM_NONE, line};
  VECTOR_PUSH(v->context, &v->verdict.warnings, said);
  return CALM_OK;
}

static void add_tensor(text *words, const graph *g, tensor_id t,
                       const char *otherwise) {
  if (t == CALM_NONE)
    text_format(words, "%s", otherwise);
  else
    text_format(words, "tensor '%s'", g->tensors.data[t].name);
}

/* A byte that is gone when it is read. */
static calm_status add_lost_byte(calm_verdict *v, const tflm_model *model,
                                 const bytes_fault *lost) {
  const graph *g = &model->graphs[0];
  const char *line;
  text words;
  text_init(&words, v->context);
  text_format(&words, "'%s' reads byte %" PRIu64 " of ",
              g->ops.data[model->sequences[0][lost->step]].name, lost->byte);
  add_tensor(&words, g, lost->tensor, "its scratch");
  text_format(&words, " where by then lies ");
  add_tensor(&words, g, lost->instead, "something else");
  TRY(text_keep(&words, &line, &v->arena));
  const memory_fault found = {"overlap", lost->tensor, lost->instead, line};
  VECTOR_PUSH(v->context, &v->verdict.faults, found);
  return CALM_OK;
}

/* What shares bytes by distances and views is run byte by byte. */
static calm_status judge_bytes(calm_verdict *v, const tflm_model *model) {
  tflm_head head;
  bytes_fault lost;
  if (v->verdict.faults.count ||
      !(v->memory.overlap || memory_alias_asked(&v->memory)))
    return CALM_OK;
  TRY(tflm_predict(&head, model, &v->arena));
  TRY(memory_bytes_run(&lost, model, &head, v->memory.kernels, v->context));
  return lost.found ? add_lost_byte(v, model, &lost) : CALM_OK;
}

/* All graphs as TensorFlow Lite Micro runs them: orders and offsets of the
   file. */
static calm_status judge_model(calm_verdict *v, const calm_options *options) {
  pipeline_tflm t;
  TRY(pipeline_tflm_model(&t, v->model, options, &v->arena));
  v->tflm = true;
  v->tail = pipeline_tflm_tail(&t, &t.model);
  TRY(tflm_check(&v->verdict, &t.model, &v->memory, &v->arena));
  TRY(judge_bytes(v, &t.model));
  return warn_of_inputs(v, &t.model);
}

/* The entry alone. */
static calm_status judge_entry(calm_verdict *v) {
  uint64_t *offsets;
  TRY(pipeline_carried_offsets(&offsets, v->model, 0, 0, &v->arena));
  const memory_plan plan = {
      .offsets = offsets, .arena_bytes = UINT64_MAX, .unplaced_allowed = true};
  return memory_check(&v->verdict, &v->model->graphs.data[0], &v->memory, &plan,
                      &v->arena);
}

/* What was said of the table stands behind what is said of its offsets. */
static calm_status append(calm_verdict *v, const memory_verdict *table) {
  for (uint32_t i = 0; i < table->faults.count; i++)
    VECTOR_PUSH(v->context, &v->verdict.faults, table->faults.data[i]);
  for (uint32_t i = 0; i < table->warnings.count; i++)
    VECTOR_PUSH(v->context, &v->verdict.warnings, table->warnings.data[i]);
  return CALM_OK;
}

static calm_status judge_offsets(calm_verdict *v, const calm_options *options) {
  memory_verdict table = v->verdict;
  memset(&v->verdict, 0, sizeof v->verdict);
  calm_status status = v->memory.subgraphs == SUBGRAPHS_TFLM
                           ? judge_model(v, options)
                           : judge_entry(v);
  if (status == CALM_OK) status = append(v, &table);
  memory_verdict_free(&table, v->context);
  return status;
}

/* A plan that relies on certain kernels says so, and is judged by them. */
static calm_status check_offline(calm_verdict *v, const calm_options *options) {
  bool readable;
  calm_options terms;
  TRY(check_mark_terms(&terms, v->model, options));
  TRY(pipeline_memory_model(&v->memory, v->model, &terms));
  if (v->model->offline.present) v->source = "OfflineMemoryAllocation";
  TRY(check_table(&readable, &v->verdict, v->model, &v->arena));
  if (readable) TRY(judge_offsets(v, &terms));
  return check_mark(v, options);
}

static calm_status read_json(memory_plan *out, calm_verdict *v) {
  file_map map;
  TRY(file_map_open(&map, v->context, v->source));
  calm_status status = report_plan_read(out, &v->memory, &v->arena, v->source,
                                        (const char *)map.bytes, map.length,
                                        &v->model->graphs.data[0]);
  file_map_close(&map);
  return status;
}

/* A plan in JSON says nothing of the orders of bodies here, and padding in the
   tail depends on them. */
static calm_status predict_tail(calm_verdict *v, const memory_plan *plan,
                                const calm_options *options) {
  pipeline_tflm t;
  const op_id *const sequences[] = {plan->sequence};
  if (v->memory.subgraphs != SUBGRAPHS_TFLM || v->verdict.faults.count)
    return CALM_OK;
  v->tflm = true;
  v->tail = TFLM_TAIL_UNKNOWN;
  if (v->model->graphs.count > 1) return CALM_OK;
  TRY(pipeline_tflm_model(&t, v->model, options, &v->arena));
  if (plan->sequence) t.model.sequences = sequences;
  t.model.offsets = NULL;
  v->tail = pipeline_tflm_tail(&t, &t.model);
  return CALM_OK;
}

/* Where rows of tensors are told apart, as the runtime sees the plan: its order
   and its offsets in place of those of the file. */
static calm_status judge_rows(calm_verdict *v, const memory_plan *plan,
                              const calm_options *options) {
  pipeline_tflm t;
  const op_id *const sequences[] = {plan->sequence};
  const uint64_t *const offsets[] = {plan->offsets};
  TRY(pipeline_tflm_model(&t, v->model, options, &v->arena));
  if (plan->sequence) t.model.sequences = sequences;
  t.model.offsets = offsets;
  return tflm_check(&v->verdict, &t.model, &v->memory, &v->arena);
}

static bool tells_rows(const calm_verdict *v) {
  return v->memory.subgraphs == SUBGRAPHS_TFLM && v->model->graphs.count == 1 &&
         (v->memory.overlap || memory_alias_asked(&v->memory));
}

/* The bodies of operators are placed under the memory model of the plan. */
static calm_status check_json(calm_verdict *v, const calm_options *options) {
  memory_plan plan;
  uint64_t *arenas, *workspaces;
  const graph *g = &v->model->graphs.data[0];
  v->source = arena_string(&v->arena, v->source, strlen(v->source));
  if (!v->source) return context_no_memory(v->context);
  TRY(pipeline_memory_model(&v->memory, v->model, options));
  const memory_model asked = v->memory;
  TRY(read_json(&plan, v));
  v->memory.kernels = asked.kernels; /* of the build, not of the plan */
  v->memory.overlap = asked.overlap;
  TRY(pipeline_body_arenas(&arenas, v->model, &v->memory, &v->arena));
  TRY(memory_workspaces(&workspaces, g, arenas, &v->arena));
  plan.workspace_bytes = workspaces;
  if (v->memory.subgraphs == SUBGRAPHS_TFLM) plan.workspace_offsets = NULL;
  TRY(tells_rows(v)
          ? judge_rows(v, &plan, options)
          : memory_check(&v->verdict, g, &v->memory, &plan, &v->arena));
  TRY(predict_tail(v, &plan, options));
  return check_claims(v, &plan, arenas);
}

/* The one arena that the user reserves. */
static uint64_t needed_bytes(const calm_verdict *v) {
  return v->tflm ? tflm_arena_bytes(v->verdict.arena_bytes, &v->tail)
                 : v->verdict.arena_bytes;
}

static calm_status check_budget(calm_verdict *v, uint64_t budget) {
  char words[112];
  if (!v->source || needed_bytes(v) <= budget) return CALM_OK;
  const bool whole = v->tflm && v->tail.bytes != UINT64_MAX;
  const int length = snprintf(
      words, sizeof words,
      "%s %" PRIu64 " bytes, more than the budget of %" PRIu64,
      whole ? "head and tail need" : "the plan needs", needed_bytes(v), budget);
  const char *copy = arena_string(&v->arena, words, (size_t)length);
  if (!copy) return context_no_memory(v->context);
  return fault(v, "outside", copy);
}

static calm_status judge(void *result, const calm_options *options) {
  calm_verdict *v = result;
  TRY(v->source ? check_json(v, options) : check_offline(v, options));
  return check_budget(v, options->budget_bytes);
}

calm_status calm_check(calm_verdict **out, calm_model *model,
                       const char *plan_path, const calm_options *options) {
  TRY(model_finish(model));
  calm_verdict *v = pipeline_allocate(model->context, sizeof *v);
  if (!v) return CALM_NO_MEMORY;
  v->context = model->context;
  v->model = model;
  v->source = plan_path;
  arena_init(&v->arena, v->context);
  calm_status status = pipeline_run(v->context, options, judge, v);
  if (status == CALM_OK)
    *out = v;
  else
    calm_verdict_free(v);
  return status;
}

void calm_verdict_free(calm_verdict *v) {
  if (!v) return;
  calm_context *context = v->context;
  memory_verdict_free(&v->verdict, context);
  arena_free(&v->arena);
  context_reallocate(context, v, sizeof *v, 0);
}

bool calm_verdict_valid(const calm_verdict *v) {
  return v->verdict.faults.count == 0;
}
