/* The runtime's side of a plan. */
#include "report/report_runtime.h"

#include <string.h>

#include "report/report_name.h"

/* ---- For people ---------------------------------------------------------- */

static void add_heads(text *out, const plan_runtime *r) {
  text_format(out, "TensorFlow Lite Micro: its arena's head takes %s bytes",
              report_number(r->head_bytes).text);
  text_format(out, ", without a plan %s",
              report_number(r->default_head_bytes).text);
  if (r->carried_head_bytes != UINT64_MAX)
    text_format(out, ", with the plan in the file %s",
                report_number(r->carried_head_bytes).text);
  text_format(out,
              "; the tail (tensors' and kernels' records, variables) comes on "
              "top and is reported by the runtime");
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

static void describe_tflm(text *out, const plan_runtime *r) {
  add_heads(out, r);
  add_source(out, r);
  add_scratch(out, r);
}

static void describe_litert(text *out, const plan_runtime *r) {
  text_format(out,
              "TensorFlow Lite places tensors by itself, as shown here: its "
              "arena takes %s bytes",
              report_number(r->head_bytes).text);
  text_format(out, ", in the order of the file %s",
              report_number(r->default_head_bytes).text);
  if (r->persistent_bytes)
    text_format(out, "; variables have another of %s bytes",
                report_number(r->persistent_bytes).text);
  text_format(out,
              "; so it is without a delegate and with reference kernels, "
              "others take temporary bytes beside");
}

/* The runtimes that a memory model may speak of. */
static const struct runtime_words {
  const char *name;
  void (*describe)(text *out, const plan_runtime *r);
} runtimes[] = {{"tflm", describe_tflm}, {"litert", describe_litert}};

static void describe(text *out, const plan_runtime *r) {
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (!strcmp(runtimes[i].name, r->name)) runtimes[i].describe(out, r);
}

calm_status report_runtime(text *out, const calm_plan *plan) {
  text words;
  if (!plan->runtime.name) return CALM_OK;
  text_init(&words, out->context);
  describe(&words, &plan->runtime);
  text_format(out, "  runtime ");
  calm_status status = words.failed ? context_no_memory(out->context)
                                    : report_wrapped(out, words.data, 10, 10);
  text_free(&words);
  return status;
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

json_t *report_json_runtime(arena *scratch, const calm_plan *plan) {
  static const char *const sources[] = {"calm", "model", "runtime"};
  const plan_runtime *r = &plan->runtime;
  if (!r->name) return json_null();
  if (!strcmp(r->name, "litert")) return write_litert(r);
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "name", r->name,
                   "kernels", r->kernels, "default_head_bytes",
                   report_json_number(r->default_head_bytes),
                   "carried_head_bytes",
                   report_json_optional(r->carried_head_bytes), "head_bytes",
                   report_json_number(r->head_bytes), "offsets_from",
                   sources[r->source], "scratch", list_scratch(scratch, plan),
                   "graphs", list_graphs(scratch, plan));
}
