/* Plans as a table, as JSON (calm/plan/1) and as MiniMalloc's CSV. */
#include "report/report.h"

static void write_saved(text *t, uint64_t before, uint64_t after) {
  char bytes[REPORT_NUMBER];
  const uint64_t saved = before > after ? before - after : 0;
  text_format(t, " %14s (%4.1f %%)", report_number(bytes, saved),
              before ? 100.0 * (double)saved / (double)before : 0.0);
}

static void write_outcome(text *t, const char *what, const char *method,
                          calm_outcome outcome, uint64_t value, uint64_t bound,
                          limits_reason stopped) {
  char v[REPORT_NUMBER], b[REPORT_NUMBER];
  text_format(t, "%-7s %s, %s: ", what, method, calm_outcome_name(outcome));
  if (outcome == CALM_OPTIMAL)
    text_format(t, "%s bytes, and no fewer are possible",
                report_number(v, value));
  else
    text_format(t, "%s bytes, bound %s, gap %.1f %%", report_number(v, value),
                report_number(b, bound),
                value ? 100.0 * (double)(value - bound) / (double)value : 0.0);
  if (outcome != CALM_OPTIMAL && stopped != LIMITS_NONE)
    text_format(t, " (stopped by the %s)", limits_reason_name(stopped));
  text_add(t, "\n", 1);
}

static void write_before_after(text *t, const calm_plan *plan) {
  const calm_plan_summary *s = &plan->summary;
  char peak[REPORT_NUMBER], arena[REPORT_NUMBER];
  text_format(t, "%-8s %-8s %14s          %14s\n", "", "order", "peak bytes",
              "arena bytes");
  text_format(t, "%-8s %-8s %14s          %14s\n", "before",
              plan->baseline_order, report_number(peak, s->baseline_peak_bytes),
              report_number(arena, s->baseline_arena_bytes));
  text_format(t, "%-8s %-8s %14s          %14s\n", "after", plan->order_method,
              report_number(peak, s->peak_bytes),
              report_number(arena, s->arena_bytes));
  text_format(t, "%-8s %-8s", "saved", "");
  write_saved(t, s->baseline_peak_bytes, s->peak_bytes);
  write_saved(t, s->baseline_arena_bytes, s->arena_bytes);
  text_add(t, "\n\n", 2);
}

static void write_counts(text *t, const calm_plan *plan) {
  char number[REPORT_NUMBER];
  text_format(t, "        %s states",
              report_number(number, plan->order.states));
  text_format(t, ", %s ticks", report_number(number, plan->order.ticks));
  if (plan->order.segments > 1)
    text_format(t, ", %u segments", plan->order.segments);
  if (plan->counted) {
    text_format(t, "; %s down-sets",
                report_number(number, plan->order.downsets));
    text_format(t, ", %s%s orders",
                plan->order.orders == UINT64_MAX ? "at least " : "",
                report_number(number, plan->order.orders));
  }
  text_add(t, "\n", 1);
}

static calm_status render_table(text *t, const calm_plan *plan) {
  const calm_plan_summary *s = &plan->summary;
  char budget[REPORT_NUMBER];
  report_name(t, report_base_name(plan->model->path));
  text_format(t, ": %u operators, %u tensors, memory model %s\n\n",
              plan->facts.op_count, plan->facts.tensor_count,
              plan->memory.name);
  write_before_after(t, plan);
  write_outcome(t, "order", plan->order_method, s->order_outcome, s->peak_bytes,
                s->peak_bound_bytes, plan->order.stopped);
  write_counts(t, plan);
  write_outcome(t, "layout", plan->layout_method, s->layout_outcome,
                s->arena_bytes, s->arena_bound_bytes, plan->layout.stopped);
  if (plan->budget_bytes != UINT64_MAX)
    text_format(t, "budget  %s bytes: %s\n",
                report_number(budget, plan->budget_bytes),
                s->within_budget ? "met" : "missed");
  if (plan->timing)
    text_format(t, "seconds %.3f for the order, %.3f for the layout\n",
                plan->order_seconds, plan->layout_seconds);
  text_add(t, "\n", 1);
  return report_picture(t, plan);
}

static void put_graph(report_json *j, const plan_facts *facts) {
  json_t *g = report_put_object(j, j->root, "graph");
  report_put_bytes(j, g, "ops", facts->op_count);
  report_put_bytes(j, g, "tensors", facts->tensor_count);
  report_put_bytes(j, g, "activation_bytes", facts->activation_bytes);
  report_put_bytes(j, g, "weight_bytes", facts->weight_bytes);
}

static void put_order(report_json *j, const calm_plan *plan) {
  json_t *o = report_put_object(j, j->root, "order");
  report_put_text(j, o, "method", plan->order_method);
  report_put_text(j, o, "status", calm_outcome_name(plan->order.outcome));
  report_put_bytes(j, o, "peak_bytes", plan->summary.peak_bytes);
  report_put_bytes(j, o, "bound_bytes", plan->summary.peak_bound_bytes);
  report_put_bytes(j, o, "states", plan->order.states);
  report_put_bytes(j, o, "ticks", plan->order.ticks);
  report_put_text(j, o, "stopped", limits_reason_name(plan->order.stopped));
  if (plan->counted) {
    report_put_bytes(j, o, "downsets", plan->order.downsets);
    report_put_bytes(j, o, "orders", plan->order.orders);
  }
  if (plan->timing) report_put(j, o, "seconds", json_real(plan->order_seconds));
  json_t *names = report_put_array(j, o, "sequence");
  for (uint32_t i = 0; i < plan->graph->ops.count; i++) {
    text name;
    text_init(&name, plan->context);
    report_name(&name, plan->graph->ops.data[plan->sequence[i]].name);
    if (name.failed || json_array_append_new(names, json_string(name.data)))
      j->failed = true;
    text_free(&name);
  }
}

static void put_buffers(report_json *j, json_t *layout, const calm_plan *plan) {
  json_t *buffers = report_put_array(j, layout, "buffers");
  for (tensor_id t = 0; t < plan->graph->tensors.count; t++) {
    const memory_life *life = &plan->profile.lives[t];
    if (!life->counted || plan->offsets[t] == UINT64_MAX) continue;
    json_t *b = report_append_object(j, buffers);
    report_put_text(j, b, "name", plan->graph->tensors.data[t].name);
    report_put_bytes(j, b, "offset", plan->offsets[t]);
    report_put_bytes(j, b, "bytes", life->bytes);
    report_put_bytes(j, b, "first", life->first);
    report_put_bytes(j, b, "last", life->last);
    report_put_bytes(j, b, "index", plan->graph->tensors.data[t].file_index);
  }
}

static void put_layout(report_json *j, const calm_plan *plan) {
  json_t *l = report_put_object(j, j->root, "layout");
  report_put_text(j, l, "method", plan->layout_method);
  report_put_text(j, l, "status", calm_outcome_name(plan->layout.outcome));
  report_put_bytes(j, l, "arena_bytes", plan->summary.arena_bytes);
  report_put_bytes(j, l, "bound_bytes", plan->summary.arena_bound_bytes);
  report_put_bytes(j, l, "nodes", plan->layout.nodes);
  report_put_bytes(j, l, "ticks", plan->layout.ticks);
  report_put_text(j, l, "stopped", limits_reason_name(plan->layout.stopped));
  if (plan->timing)
    report_put(j, l, "seconds", json_real(plan->layout_seconds));
  put_buffers(j, l, plan);
}

static calm_status render_json(char **out, const calm_plan *plan) {
  report_json j;
  report_json_begin(&j, "calm/plan/1");
  report_put_text(&j, j.root, "model", report_base_name(plan->model->path));
  report_put_text(&j, j.root, "memory", plan->memory.name);
  report_put_bytes(&j, j.root, "align", plan->memory.align);
  put_graph(&j, &plan->facts);
  json_t *baseline = report_put_object(&j, j.root, "baseline");
  report_put_text(&j, baseline, "order", plan->baseline_order);
  report_put_bytes(&j, baseline, "peak_bytes",
                   plan->summary.baseline_peak_bytes);
  report_put_bytes(&j, baseline, "arena_bytes",
                   plan->summary.baseline_arena_bytes);
  json_t *rewrite = report_put_object(&j, j.root, "rewrite");
  report_put_text(&j, rewrite, "mode", "none");
  report_put_array(&j, rewrite, "sites");
  put_order(&j, plan);
  put_layout(&j, plan);
  report_put_array(&j, j.root, "traffic");
  return report_json_finish(&j, out, plan->context);
}

static void render_csv(text *t, const calm_plan *plan) {
  layout_csv_write_header(t);
  for (tensor_id i = 0; i < plan->graph->tensors.count; i++) {
    const memory_life *life = &plan->profile.lives[i];
    if (life->counted && plan->offsets[i] != UINT64_MAX)
      layout_csv_write_row(t, plan->graph->tensors.data[i].name, life->first,
                           (int64_t)life->last + 1, life->bytes,
                           plan->offsets[i]);
  }
}

calm_status calm_plan_render(char **out, const calm_plan *plan,
                             calm_format format, bool color) {
  text t;
  (void)color;
  if (format == CALM_FORMAT_JSON) return render_json(out, plan);
  text_init(&t, plan->context);
  if (format == CALM_FORMAT_CSV)
    render_csv(&t, plan);
  else
    (void)render_table(&t, plan);
  return text_finish(&t, out);
}
