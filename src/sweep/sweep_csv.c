/* A sweep as CSV: a line per point; a column per parameter of any machine. */
#include <inttypes.h>
#include <string.h>

#include "report/report_csv.h"
#include "sweep/sweep.h"

/* Names of parameters, each once, in order of appearance. */
typedef struct columns {
  const char **names;
  uint32_t count;
} columns;

static void add_column(columns *c, const char *name) {
  for (uint32_t i = 0; i < c->count; i++)
    if (!strcmp(c->names[i], name)) return;
  c->names[c->count++] = name;
}

static calm_status find_columns(columns *out, const calm_sweep *s, arena *a) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < s->machine_count; i++)
    most += s->machines[i].parameter_count;
  ARENA_ARRAY(a, out->names, most);
  for (uint32_t i = 0; i < s->machine_count; i++)
    for (uint32_t j = 0; j < s->machines[i].parameter_count; j++)
      add_column(out, s->machines[i].parameters[j].name);
  return CALM_OK;
}

static const char *value_of(const calm_sweep *s, const sweep_design *d,
                            const char *name) {
  const sweep_machine *m = &s->machines[d->machine];
  for (uint32_t i = 0; i < m->parameter_count; i++)
    if (!strcmp(m->parameters[i].name, name)) return d->values[i];
  return "";
}

static calm_status add_name(text *out, const char *name, arena *scratch) {
  text_format(out, ",");
  return report_csv_name(out, name ? name : "", scratch);
}

static void add_figures(text *out, const sweep_result *r, bool pareto) {
  if (sweep_status_has_nest(r->status))
    text_format(out, ",%.17g,%.17g,%" PRIu64 ",%.17g,%.17g,%s", r->value,
                r->bound, r->cycles, r->energy_pj, r->edp,
                pareto ? "yes" : "no");
  else
    text_format(out, ",,,,,,no");
}

static calm_status add_line(text *out, const calm_sweep *s, uint32_t point,
                            const columns *c, arena *scratch) {
  const sweep_point *p = &s->points[point];
  const sweep_design *d = &s->designs[p->design];
  const sweep_layer *l = &s->layers[p->layer];
  text_format(out, "%u", point + 1);
  TRY(add_name(out, l->source, scratch));
  TRY(add_name(out, l->name, scratch));
  text_format(out, ",%" PRIu64, l->count);
  TRY(add_name(out, s->machines[d->machine].name, scratch));
  for (uint32_t i = 0; i < c->count; i++)
    TRY(add_name(out, value_of(s, d, c->names[i]), scratch));
  text_format(out, ",%s,%s,%s", d->mapper, d->objective,
              sweep_status_name(p->result.status));
  add_figures(out, &p->result, p->pareto);
  TRY(add_name(out, p->result.reason, scratch));
  text_format(out, "\n");
  return CALM_OK;
}

static calm_status add_all(text *out, const calm_sweep *s, arena *scratch) {
  columns c = {.count = 0};
  TRY(find_columns(&c, s, scratch));
  text_format(out, "id,source,layer,count,arch");
  for (uint32_t i = 0; i < c.count; i++)
    TRY(add_name(out, c.names[i], scratch));
  text_format(out,
              ",mapper,objective,status,value,bound,cycles,energy_pj,edp,"
              "pareto,reason\n");
  for (uint32_t i = 0; i < s->point_count; i++)
    TRY(add_line(out, s, i, &c, scratch));
  return CALM_OK;
}

calm_status sweep_csv(char **out, const calm_sweep *s) {
  text t;
  arena scratch;
  text_init(&t, s->context);
  arena_init(&scratch, s->context);
  const calm_status status = add_all(&t, s, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
