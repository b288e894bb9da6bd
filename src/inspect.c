/* What is in a model, and what its memory does in file order. */
#include "check_mark.h"
#include "pipeline_traffic.h"
#include "plan/plan_rewrite.h"

static calm_status predict(calm_inspection *i, const pipeline_tflm *file) {
  tflm_head head;
  TRY(tflm_predict(&head, &file->model, &i->arena));
  i->tflm = true;
  i->head_bytes = head.bytes;
  i->tail = pipeline_tflm_tail(file, &file->model);
  return CALM_OK;
}

/* Where kernels ask for scratch, it counts. */
static calm_status add_scratch(calm_inspection *i,
                               const calm_options *options) {
  pipeline_tflm file;
  graph *graphs;
  if (i->memory.subgraphs != SUBGRAPHS_TFLM) return CALM_OK;
  TRY(pipeline_tflm_model(&file, i->model, options, &i->arena));
  TRY(pipeline_tflm_graphs(&graphs, &file, &i->arena));
  i->graph = &graphs[0];
  return predict(i, &file);
}

/* What the file order moves, if that was asked for. */
static calm_status count_traffic(calm_inspection *i, pipeline_traffic *t,
                                 const uint64_t *arenas) {
  if (!t->count) return CALM_OK;
  TRY(pipeline_traffic_build(t, i->graph, i->graph, &i->memory, arenas));
  TRY(pipeline_traffic_open(&i->traffic, t, 1));
  return pipeline_traffic_add(&i->traffic, t, 0, "file", i->sequence);
}

static calm_status look(void *result, const calm_options *options) {
  calm_inspection *i = result;
  uint64_t *arenas;
  pipeline_traffic traffic;
  const double start = limits_clock();
  TRY(pipeline_traffic_ask(&traffic, options, &i->arena));
  TRY(pipeline_memory_model(&i->memory, i->model, options));
  i->mark_holds = check_mark_holds(i->model);
  TRY(pipeline_body_arenas(&arenas, i->model, &i->memory, &i->arena));
  TRY(add_scratch(i, options));
  i->sequence = i->graph->order;
  TRY(memory_simulate(&i->profile, i->graph, &i->memory, arenas, i->sequence,
                      &i->arena));
  TRY(memory_explain(&i->explanation, i->graph, &i->memory, arenas, i->sequence,
                     &i->arena));
  TRY(count_traffic(i, &traffic, arenas));
  TRY(plan_count_sites(&i->site_count, i->model, &i->memory, &i->arena));
  i->facts = pipeline_facts(i->graph, &i->memory, &i->profile);
  i->summary =
      (calm_inspection_summary){.op_count = i->facts.op_count,
                                .tensor_count = i->facts.tensor_count,
                                .activation_bytes = i->facts.activation_bytes,
                                .weight_bytes = i->facts.weight_bytes,
                                .peak_bytes = i->explanation.peak_bytes,
                                .peak_op = i->explanation.op,
                                .floor_bytes = i->explanation.floor_bytes};
  i->timing = options->timing;
  TRY(options_changed_find(&i->changed, options, "inspect", &i->arena));
  i->seconds = limits_clock() - start;
  return CALM_OK;
}

calm_status calm_inspect(calm_inspection **out, calm_model *model,
                         const calm_options *options) {
  TRY(model_finish(model));
  calm_inspection *i = pipeline_allocate(model->context, sizeof *i);
  if (!i) return CALM_NO_MEMORY;
  i->context = model->context;
  i->model = model;
  i->graph = &model->graphs.data[0];
  arena_init(&i->arena, i->context);
  calm_status status = pipeline_run(i->context, options, look, i);
  if (status == CALM_OK)
    *out = i;
  else
    calm_inspection_free(i);
  return status;
}

void calm_inspection_free(calm_inspection *i) {
  if (!i) return;
  calm_context *context = i->context;
  arena_free(&i->arena);
  context_reallocate(context, i, sizeof *i, 0);
}

const calm_inspection_summary *calm_inspection_summary_of(
    const calm_inspection *i) {
  return &i->summary;
}

bool calm_inspection_traffic(calm_traffic *out, const calm_inspection *i,
                             uint32_t row) {
  return plan_traffic_figures(out, &i->traffic, row);
}
