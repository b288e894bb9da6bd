/*
 * The pipeline for ONNX Runtime.  The runtime follows a file's order on request
 * only; left alone it takes one that follows from the file in its own way.  So
 * whatever is planned, what becomes of the file in either mode is predicted,
 * and with --for ort-default the file is arranged so that what the runtime does
 * by itself is good: then the order to be written and the order that is run are
 * two things.
 */
#include <string.h>

#include "plan/plan_ort.h"

enum { FOR_FILE_ORDER, FOR_ORT_DEFAULT };

/* ---- Before anything is planned ------------------------------------------ */

/* The runtime's own way with the file as it is. */
static calm_status run_original(planner *p) {
  op_id *file, *run;
  TRY(pipeline_identity(&file, p->g->ops.count, p->scratch));
  ARENA_ARRAY(p->scratch, run, p->g->ops.count);
  ort_default_order(run, &p->ort->nodes, file);
  p->ort->file = file;
  p->run = run;
  return CALM_OK;
}

calm_status plan_ort_prepare(planner *p) {
  const bool by_default = p->options->traversal == FOR_ORT_DEFAULT;
  if (strcmp(p->plan->memory.name, "ort")) {
    if (!by_default) return CALM_OK;
    return context_fail(p->plan->context, CALM_MISUSE,
                        "--for ort-default: under --memory %s nobody runs the "
                        "file in another order; --memory ort would be right",
                        p->plan->memory.name);
  }
  p->ort = arena_calloc(p->scratch, 1, sizeof *p->ort);
  if (!p->ort) return context_no_memory(p->plan->context);
  p->ort->by_default = by_default;
  TRY(ort_nodes_init(&p->ort->nodes, p->g, p->scratch));
  return by_default ? run_original(p) : CALM_OK;
}

/* ---- Arranging ----------------------------------------------------------- */

/* The order that was found, as a file. */
static calm_status expand_found(op_id **out, planner *p) {
  ARENA_ARRAY(p->scratch, *out, p->g->ops.count);
  return memory_expand_sequence(*out, p->g, &p->problem,
                                p->plan->order.sequence);
}

calm_status plan_ort_arrange(planner *p) {
  op_id *found;
  limits l;
  if (!p->ort || !p->ort->by_default) return CALM_OK;
  TRY(expand_found(&found, p));
  pipeline_limits(&l, p->plan->context, p->options, 0.25);
  if (p->options->order != ORDER_EXACT && p->options->order != ORDER_DP)
    l.max_ticks = 0; /* the order that was asked for is the file */
  return plan_ort_search(p, found, &l);
}

/* ---- What the runtime makes of it ---------------------------------------- */

static calm_status peak_of(uint64_t *out, const planner *p,
                           const op_id *sequence) {
  memory_profile profile;
  TRY(memory_simulate(&profile, p->g, &p->plan->memory, p->body_arenas,
                      sequence, p->scratch));
  *out = profile.peak_bytes;
  return CALM_OK;
}

/* Both peaks of a file; `run`, unless NULL, gets its default order. */
static calm_status predict(plan_peaks *out, planner *p, const op_id *file,
                           op_id *run) {
  op_id *sequence;
  ARENA_ARRAY(p->scratch, sequence, p->g->ops.count);
  ort_priority_order(sequence, &p->ort->nodes, file);
  TRY(peak_of(&out->priority_bytes, p, sequence));
  ort_default_order(sequence, &p->ort->nodes, file);
  TRY(peak_of(&out->default_bytes, p, sequence));
  if (run && p->g->ops.count)
    memcpy(run, sequence, p->g->ops.count * sizeof *run);
  return CALM_OK;
}

calm_status plan_ort_record(planner *p) {
  calm_plan *plan = p->plan;
  const uint32_t ops = p->g->ops.count;
  op_id *original, *file;
  plan->runtime = (plan_runtime){.name = "ort",
                                 .carried_head_bytes = UINT64_MAX,
                                 .source = PLAN_NONE,
                                 .by_default = p->ort->by_default,
                                 .small_weights = ort_small_weights(p->g)};
  TRY(pipeline_identity(&original, ops, p->scratch));
  TRY(predict(&plan->runtime.file_peaks, p, original, NULL));
  ARENA_ARRAY(&plan->arena, file, ops);
  if (ops)
    memcpy(file, p->ort->by_default ? p->ort->file : plan->sequence,
           ops * sizeof *file);
  ARENA_ARRAY(&plan->arena, plan->runtime.default_sequence, ops);
  plan->graphs[0].sequence = file;
  return predict(&plan->runtime.planned_peaks, p, file,
                 plan->runtime.default_sequence);
}
