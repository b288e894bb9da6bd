/* The runtime's side of a plan. */
#include "report/report_runtime.h"

#include <string.h>

#include "report/report_arena.h"
#include "report/report_mark.h"
#include "report/report_name.h"

/* ---- For people ---------------------------------------------------------- */

/* What was rewritten is compared with the file, which was not. */
static const char *as_it_was(const calm_plan *plan) {
  return plan->round_count ? "the file as it is, " : "";
}

/* A plan may hold under the kernels that its mark names, but these were not
   asked for. */
static const char *why_carried_fails(const calm_plan *plan) {
  return plan->original->offline.mark.present && !plan->memory.overlap
             ? ", which relies on kernels (calm check tells); --overlap on "
               "with "
               "these keeps to it"
             : ", but that plan does not hold";
}

static void add_heads(text *out, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  text_format(out, "TensorFlow Lite Micro: ");
  report_arena(out, r->head_bytes, &r->tail);
  text_format(out, "; %swithout a plan ", as_it_was(plan));
  report_arena(out, r->default_head_bytes, &r->default_tail);
  if (r->carried_head_bytes != UINT64_MAX)
    text_format(out, "; with the plan in the file head %s%s",
                report_number(r->carried_head_bytes).text,
                r->carried_holds ? "" : why_carried_fails(plan));
  text_format(out, "; ");
  report_tail_build(out, &r->tail);
}

static void add_source(text *out, const plan_runtime *r) {
  if (r->source == PLAN_CARRIED)
    text_format(out, "; the plan in the file is the best one and is kept");
  if (r->source == PLAN_NONE)
    text_format(out, "; no offsets would help, all placing is left to it");
}

static void add_scratch(text *out, const plan_runtime *r) {
  uint64_t bytes = 0;
  if (r->scratch_count == 0) return;
  for (uint32_t i = 0; i < r->scratch_count; i++) bytes += r->scratch[i].bytes;
  text_format(out, "; %s scratch buffers of kernels, %s bytes in all",
              report_number(r->scratch_count).text, report_number(bytes).text);
  text_format(out, ", are counted as --kernels %s asks for them", r->kernels);
}

static void describe_tflm(text *out, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  add_heads(out, plan);
  add_source(out, r);
  add_scratch(out, r);
  if (!plan->mark.present) return;
  text_format(out, "; ");
  report_mark(out, &plan->mark, true);
  text_format(out, ", and a file says so (calm.overlap)");
}

static void describe_litert(text *out, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  text_format(out,
              "TensorFlow Lite places tensors by itself, as shown here: its "
              "arena takes %s bytes",
              report_number(r->head_bytes).text);
  text_format(
      out, ", %s %s",
      plan->round_count ? "for the file as it is" : "in the order of the file",
      report_number(r->default_head_bytes).text);
  if (r->persistent_bytes)
    text_format(out, "; variables have another of %s bytes",
                report_number(r->persistent_bytes).text);
  text_format(out,
              "; so it is without a delegate and with reference kernels, "
              "others take temporary bytes beside");
}

static void add_peaks(text *out, const char *who, const plan_peaks *p) {
  text_format(out, "%s %s bytes by default", who,
              report_number(p->default_bytes).text);
  text_format(out, ", %s with ExecutionOrder.PRIORITY_BASED",
              report_number(p->priority_bytes).text);
}

static void describe_ort(text *out, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  text_format(out,
              "ONNX Runtime follows the order of a file on request only: ");
  add_peaks(out, "the peak of the planned file is", &r->planned_peaks);
  add_peaks(out, "; that of the file as it is", &r->file_peaks);
  if (r->small_weights)
    text_format(out, "; %s bytes of small weights come on top",
                report_number(r->small_weights).text);
  if (!r->by_default &&
      r->planned_peaks.default_bytes > r->file_peaks.default_bytes)
    text_format(out,
                "; left to itself the runtime needs more for the planned file, "
                "--for ort-default plans for that");
  if (r->by_default)
    text_format(out,
                "; the file is listed so that the default order is the one "
                "shown here");
}

/* The runtimes that a memory model may speak of. */
static const struct runtime_words {
  const char *name;
  void (*describe)(text *out, const calm_plan *plan);
} runtimes[] = {{"tflm", describe_tflm},
                {"litert", describe_litert},
                {"ort", describe_ort}};

static void describe(text *out, const calm_plan *plan) {
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (!strcmp(runtimes[i].name, plan->runtime.name))
      runtimes[i].describe(out, plan);
}

calm_status report_runtime(text *out, const calm_plan *plan) {
  text words;
  if (!plan->runtime.name) return CALM_OK;
  text_init(&words, out->context);
  describe(&words, plan);
  text_format(out, "  runtime ");
  return report_wrapped_text(out, &words, 10, 10);
}

/* ---- For programs -------------------------------------------------------- */

static json_t *list_scratch(arena *scratch, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  json_t *list = json_array();
  for (uint32_t i = 0; i < r->scratch_count; i++) {
    const plan_scratch *s = &r->scratch[i];
    const graph *g = &plan->model->graphs.data[s->graph];
    list = report_json_append(
        list, json_pack("{s:o, s:o, s:o, s:o}", "graph",
                        report_json_name(scratch, g->name), "op",
                        report_json_name(scratch, g->ops.data[s->op].name),
                        "offset", report_json_number(s->offset), "bytes",
                        report_json_number(s->bytes)));
  }
  return list;
}

static json_t *list_sequence(arena *scratch, const graph *g,
                             const op_id *sequence) {
  json_t *list = json_array();
  for (uint32_t step = 0; step < g->ops.count; step++)
    list = report_json_append(
        list, report_json_name(scratch, g->ops.data[sequence[step]].name));
  return list;
}

/* In the order of the file, -1 where the runtime decides. */
static json_t *list_offsets(const graph *g, const uint64_t *offsets) {
  json_t *list = json_array();
  for (tensor_id t = 0; t < g->tensors.count; t++)
    list = report_json_append(list, offsets[t] == UINT64_MAX
                                        ? json_integer(-1)
                                        : report_json_number(offsets[t]));
  return list;
}

static json_t *list_graphs(arena *scratch, const calm_plan *plan) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < plan->model->graphs.count; i++) {
    const graph *g = &plan->model->graphs.data[i];
    list = report_json_append(
        list, json_pack("{s:o, s:o, s:o}", "name",
                        report_json_name(scratch, g->name), "sequence",
                        list_sequence(scratch, g, plan->graphs[i].sequence),
                        "offsets", list_offsets(g, plan->graphs[i].offsets)));
  }
  return list;
}

static json_t *write_litert(const plan_runtime *r) {
  return json_pack("{s:s, s:o, s:o, s:o}", "name", r->name,
                   "default_head_bytes",
                   report_json_number(r->default_head_bytes), "head_bytes",
                   report_json_number(r->head_bytes), "persistent_bytes",
                   report_json_number(r->persistent_bytes));
}

static json_t *write_peaks(const plan_peaks *p) {
  return json_pack("{s:o, s:o}", "default_peak_bytes",
                   report_json_number(p->default_bytes), "priority_peak_bytes",
                   report_json_number(p->priority_bytes));
}

static json_t *write_ort(arena *scratch, const calm_plan *plan) {
  const plan_runtime *r = &plan->runtime;
  return json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name", r->name, "for",
      r->by_default ? "ort-default" : "file-order", "file",
      write_peaks(&r->file_peaks), "plan", write_peaks(&r->planned_peaks),
      "small_weight_bytes", report_json_number(r->small_weights),
      "file_sequence",
      list_sequence(scratch, plan->graph, plan->graphs[0].sequence),
      "default_sequence",
      list_sequence(scratch, plan->graph, r->default_sequence));
}

json_t *report_json_runtime(arena *scratch, const calm_plan *plan) {
  static const char *const sources[] = {"calm", "model", "runtime"};
  const plan_runtime *r = &plan->runtime;
  if (!r->name) return json_null();
  if (plan_is_for(plan, "litert")) return write_litert(r);
  if (plan_is_for(plan, "ort")) return write_ort(scratch, plan);
  const bool carried = r->carried_head_bytes != UINT64_MAX;
  json_t *runtime = json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:o}", "name", r->name, "kernels", r->kernels,
      "default_head_bytes", report_json_number(r->default_head_bytes),
      "default_tail_bytes", report_json_optional(r->default_tail.bytes),
      "carried_head_bytes", report_json_optional(r->carried_head_bytes),
      "carried_holds", carried ? json_boolean(r->carried_holds) : json_null());
  runtime = report_json_arena(runtime, r->head_bytes, &r->tail);
  runtime = report_json_member(runtime, "mark",
                               report_json_mark(scratch, &plan->mark, true));
  return report_json_merge(
      runtime, json_pack("{s:s, s:o, s:o}", "offsets_from", sources[r->source],
                         "scratch", list_scratch(scratch, plan), "graphs",
                         list_graphs(scratch, plan)));
}
