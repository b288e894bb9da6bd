/* What is in a model: facts, the step that sets the peak, and what would lower
   it; as a table and as JSON (calm/inspect/1). */
#include "report/report.h"

static void write_tensors(text *t, const graph *g, const tensor_id *tensors,
                          uint32_t count, const memory_profile *profile) {
  enum { SHOWN = 12 };
  char bytes[REPORT_NUMBER];
  for (uint32_t i = 0; i < count && i < SHOWN; i++) {
    text_format(t, "  %14s  ",
                report_number(bytes, profile->lives[tensors[i]].bytes));
    report_name(t, g->tensors.data[tensors[i]].name);
    text_add(t, "\n", 1);
  }
  if (count > SHOWN) text_format(t, "  and %u smaller ones\n", count - SHOWN);
}

static void write_explanation(text *t, const calm_inspection *i) {
  const memory_explanation *e = &i->explanation;
  char bytes[REPORT_NUMBER], floor[REPORT_NUMBER];
  if (e->op == CALM_NONE) return;
  text_format(t, "peak  %s bytes in file order, at step %u (%s)\n",
              report_number(bytes, e->peak_bytes), e->step,
              i->graph->ops.data[e->op].name);
  write_tensors(t, i->graph, e->alive, e->alive_count, &i->profile);
  if (e->floor_op == CALM_NONE) return;
  text_format(t,
              "\nfloor %s bytes: operator %s alone needs them, so no order is "
              "below\n",
              report_number(floor, e->floor_bytes),
              i->graph->ops.data[e->floor_op].name);
  write_tensors(t, i->graph, e->floor_alive, e->floor_alive_count, &i->profile);
  for (uint32_t k = 0; k < e->remedy_count; k++)
    text_format(t, "%s%s\n         floor %s bytes, peak in file order %s\n",
                k ? "" : "\nwhat would lower it\n  ", e->remedies[k].text,
                report_number(floor, e->remedies[k].floor_bytes),
                report_number(bytes, e->remedies[k].peak_bytes));
}

static void write_steps(text *t, const calm_inspection *i) {
  char bytes[REPORT_NUMBER];
  text_format(t, "\n%6s %14s  operator\n", "step", "live bytes");
  for (uint32_t s = 0; s < i->graph->ops.count; s++) {
    text_format(t, "%6u %14s%s ", s,
                report_number(bytes, i->profile.step_bytes[s]),
                s == i->profile.peak_step ? "*" : " ");
    report_name(t, i->graph->ops.data[i->sequence[s]].name);
    text_add(t, "\n", 1);
  }
}

static void render_table(text *t, const calm_inspection *i) {
  char activations[REPORT_NUMBER], weights[REPORT_NUMBER];
  report_name(t, report_base_name(i->model->path));
  text_format(t, ": %u operators, %u tensors, memory model %s\n",
              i->facts.op_count, i->facts.tensor_count, i->memory.name);
  text_format(t, "%s bytes of activations, %s bytes of weights\n\n",
              report_number(activations, i->facts.activation_bytes),
              report_number(weights, i->facts.weight_bytes));
  write_explanation(t, i);
  write_steps(t, i);
  if (i->timing) text_format(t, "\nseconds %.3f\n", i->seconds);
}

static void put_names(report_json *j, json_t *object, const char *key,
                      const calm_inspection *i, const tensor_id *tensors,
                      uint32_t count) {
  json_t *list = report_put_array(j, object, key);
  for (uint32_t k = 0; k < count; k++) {
    json_t *item = report_append_object(j, list);
    report_put_text(j, item, "name", i->graph->tensors.data[tensors[k]].name);
    report_put_bytes(j, item, "bytes", i->profile.lives[tensors[k]].bytes);
  }
}

static void put_peak(report_json *j, const calm_inspection *i) {
  const memory_explanation *e = &i->explanation;
  json_t *peak = report_put_object(j, j->root, "peak");
  report_put_bytes(j, peak, "bytes", i->profile.peak_bytes);
  if (e->op == CALM_NONE) return;
  report_put_bytes(j, peak, "step", e->step);
  report_put_text(j, peak, "op", i->graph->ops.data[e->op].name);
  put_names(j, peak, "alive", i, e->alive, e->alive_count);
  if (e->floor_op == CALM_NONE) return;
  json_t *floor = report_put_object(j, j->root, "floor");
  report_put_bytes(j, floor, "bytes", e->floor_bytes);
  report_put_text(j, floor, "op", i->graph->ops.data[e->floor_op].name);
  put_names(j, floor, "alive", i, e->floor_alive, e->floor_alive_count);
}

static calm_status render_json(char **out, const calm_inspection *i) {
  report_json j;
  report_json_begin(&j, "calm/inspect/1");
  report_put_text(&j, j.root, "model", report_base_name(i->model->path));
  report_put_text(&j, j.root, "memory", i->memory.name);
  json_t *g = report_put_object(&j, j.root, "graph");
  report_put_bytes(&j, g, "ops", i->facts.op_count);
  report_put_bytes(&j, g, "tensors", i->facts.tensor_count);
  report_put_bytes(&j, g, "activation_bytes", i->facts.activation_bytes);
  report_put_bytes(&j, g, "weight_bytes", i->facts.weight_bytes);
  put_peak(&j, i);
  json_t *remedies = report_put_array(&j, j.root, "remedies");
  for (uint32_t k = 0; k < i->explanation.remedy_count; k++) {
    const memory_remedy *r = &i->explanation.remedies[k];
    json_t *item = report_append_object(&j, remedies);
    report_put_text(&j, item, "text", r->text);
    report_put_bytes(&j, item, "floor_bytes", r->floor_bytes);
    report_put_bytes(&j, item, "peak_bytes", r->peak_bytes);
  }
  json_t *steps = report_put_array(&j, j.root, "steps");
  for (uint32_t s = 0; s < i->graph->ops.count; s++) {
    json_t *item = report_append_object(&j, steps);
    report_put_text(&j, item, "op", i->graph->ops.data[i->sequence[s]].name);
    report_put_bytes(&j, item, "bytes", i->profile.step_bytes[s]);
  }
  if (i->timing) report_put(&j, j.root, "seconds", json_real(i->seconds));
  return report_json_finish(&j, out, i->context);
}

calm_status calm_inspection_render(char **out, const calm_inspection *i,
                                   calm_format format, bool color) {
  text t;
  (void)color;
  if (format == CALM_FORMAT_JSON) return render_json(out, i);
  if (format == CALM_FORMAT_CSV)
    return context_fail(i->context, CALM_MISUSE,
                        "an inspection has no CSV form");
  text_init(&t, i->context);
  render_table(&t, i);
  return text_finish(&t, out);
}
