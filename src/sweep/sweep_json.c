/* A sweep for programs: schema calm/sweep/1. */
#include "report/report_json.h"
#include "sweep/sweep.h"

json_t *sweep_parameters_json(const calm_sweep *s, const sweep_design *d,
                              arena *scratch) {
  const sweep_machine *m = &s->machines[d->machine];
  json_t *object = json_object();
  for (uint32_t i = 0; i < m->parameter_count; i++)
    object = report_json_member(object, m->parameters[i].name,
                                report_json_name(scratch, d->values[i]));
  return object;
}

static json_t *when(bool known, json_t *value) {
  if (known || !value) return value;
  json_decref(value);
  return json_null();
}

static json_t *write_head(const calm_sweep *s, const sweep_design *d,
                          arena *scratch) {
  return json_pack("{s:o, s:o, s:s, s:s}", "arch",
                   report_json_name(scratch, s->machines[d->machine].name),
                   "parameters", sweep_parameters_json(s, d, scratch), "mapper",
                   d->mapper, "objective", d->objective);
}

static json_t *write_design(const calm_sweep *s, uint32_t design,
                            arena *scratch) {
  const sweep_design *d = &s->designs[design];
  json_t *object = json_pack("{s:i}", "id", (int)design + 1);
  object = report_json_merge(object, write_head(s, d, scratch));
  return report_json_merge(
      object,
      json_pack("{s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:b}", "points",
                (json_int_t)d->points, "done", (json_int_t)d->done, "failed",
                (json_int_t)d->failed, "complete", (int)d->complete, "cycles",
                when(d->complete, report_json_number(d->cycles)), "energy_pj",
                when(d->complete, report_json_real(d->energy_pj)), "edp",
                when(d->complete, report_json_real(d->edp)), "pareto",
                (int)d->pareto));
}

static json_t *write_result(const sweep_point *p, arena *scratch) {
  const sweep_result *r = &p->result;
  const bool nest = sweep_status_has_nest(r->status);
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "status",
                   sweep_status_name(r->status), "reason",
                   report_json_name(scratch, r->reason), "value",
                   when(nest, report_json_real(r->value)), "bound",
                   when(nest, report_json_real(r->bound)), "cycles",
                   when(nest, report_json_number(r->cycles)), "energy_pj",
                   when(nest, report_json_real(r->energy_pj)), "edp",
                   when(nest, report_json_real(r->edp)), "pareto",
                   (int)p->pareto);
}

static json_t *write_point(const calm_sweep *s, uint32_t point,
                           arena *scratch) {
  const sweep_point *p = &s->points[point];
  const sweep_layer *l = &s->layers[p->layer];
  json_t *object = json_pack("{s:i, s:i, s:o, s:o, s:o}", "id", (int)point + 1,
                             "design", (int)p->design + 1, "source",
                             report_json_name(scratch, l->source), "layer",
                             report_json_name(scratch, l->name), "count",
                             report_json_number(l->count));
  object =
      report_json_merge(object, write_head(s, &s->designs[p->design], scratch));
  return report_json_merge(object, write_result(p, scratch));
}

static json_t *write_counts(const calm_sweep *s) {
  const calm_sweep_counts c = calm_sweep_counts_of(s);
  return json_pack("{s:I, s:I, s:I, s:I}", "points", (json_int_t)c.points,
                   "done", (json_int_t)c.done, "failed", (json_int_t)c.failed,
                   "left", (json_int_t)c.left);
}

static json_t *write_sweep(const calm_sweep *s, arena *scratch) {
  json_t *designs = json_array(), *points = json_array();
  for (uint32_t i = 0; i < s->design_count; i++)
    designs = report_json_append(designs, write_design(s, i, scratch));
  for (uint32_t i = 0; i < s->point_count; i++)
    points = report_json_append(points, write_point(s, i, scratch));
  return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "schema", "calm/sweep/1",
                   "name", report_json_name(scratch, s->name), "version",
                   calm_version(), "counts", write_counts(s), "designs",
                   designs, "points", points);
}

calm_status sweep_json(char **out, const calm_sweep *s) {
  text t;
  arena scratch;
  text_init(&t, s->context);
  arena_init(&scratch, s->context);
  const calm_status status = report_json_write(&t, write_sweep(s, &scratch));
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
