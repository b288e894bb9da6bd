/*
 * A point as a text that says all there is to know, so that it can be solved in
 * another process or on another machine; and a result as a text.
 *
 *     {"schema": "calm/sweep-task/1", "version": "0.1.0", "key": "...",
 *      "arch": [{"name", "text"}], "constraints": [...], "ert": [...],
 *      "problem": [{"name", "text"}], "options": [["mapper", "exact"], ...]}
 */
#include <string.h>

#include "report/report_json.h"
#include "sweep/sweep.h"

/* ---- Tasks --------------------------------------------------------------- */

static json_t *write_file(const char *name, const char *bytes, arena *scratch) {
  return json_pack("{s:o, s:o}", "name", report_json_name(scratch, name),
                   "text", report_json_name(scratch, bytes));
}

static json_t *write_files(const sweep_file *files, uint32_t count,
                           arena *scratch) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; i++)
    list = report_json_append(
        list, write_file(files[i].name, files[i].bytes, scratch));
  return list;
}

static json_t *write_option(const char *name, const char *value,
                            arena *scratch) {
  return json_pack("[s, o]", name, report_json_name(scratch, value));
}

static json_t *write_setting(const char *name, const char *value,
                             arena *scratch) {
  text words;
  const char *whole;
  text_init(&words, scratch->context);
  text_format(&words, "%s=%s", name, value);
  if (text_keep(&words, &whole, scratch)) return NULL;
  return write_option("set", whole, scratch);
}

static json_t *write_options(const calm_sweep *s, const sweep_design *d,
                             arena *scratch) {
  const sweep_machine *m = &s->machines[d->machine];
  json_t *list = json_array();
  for (uint32_t i = 0; i < s->option_count; i++)
    list = report_json_append(
        list, write_option(s->options[i].name, s->options[i].value, scratch));
  list = report_json_append(list, write_option("mapper", d->mapper, scratch));
  list = report_json_append(list,
                            write_option("objective", d->objective, scratch));
  for (uint32_t i = 0; i < m->parameter_count; i++)
    list = report_json_append(
        list, write_setting(m->parameters[i].name, d->values[i], scratch));
  return list;
}

static json_t *task_of(const calm_sweep *s, const sweep_point *p,
                       arena *scratch) {
  const sweep_design *d = &s->designs[p->design];
  const sweep_machine *m = &s->machines[d->machine];
  const sweep_file problem = {s->layers[p->layer].name,
                              s->layers[p->layer].problem};
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "schema",
                   "calm/sweep-task/1", "version", calm_version(), "key",
                   p->key.digits, "arch",
                   write_files(m->parts, m->part_count, scratch), "constraints",
                   write_files(m->constraints, m->constraint_count, scratch),
                   "ert", write_files(&m->ert, m->ert.name ? 1 : 0, scratch),
                   "problem", write_files(&problem, 1, scratch), "options",
                   write_options(s, d, scratch));
}

/* In one line. */
static calm_status finish(char **out, json_t *root, calm_context *context) {
  char *words = root ? json_dumps(root, JSON_COMPACT) : NULL;
  text t;
  json_decref(root);
  if (!words) return context_no_memory(context);
  text_init(&t, context);
  text_add(&t, words, strlen(words));
  free(words);
  return text_finish(&t, out);
}

calm_status sweep_task_write(char **out, const calm_sweep *s, uint32_t point) {
  arena scratch;
  arena_init(&scratch, s->context);
  const calm_status status =
      finish(out, task_of(s, &s->points[point], &scratch), s->context);
  arena_free(&scratch);
  return status;
}

/* ---- Results ------------------------------------------------------------- */

const char *sweep_status_name(sweep_status status) {
  if (status == SWEEP_FAILED) return "failed";
  if (status == SWEEP_OPEN) return "open";
  return calm_outcome_name((calm_outcome)status);
}

bool sweep_status_has_nest(sweep_status status) {
  return status == SWEEP_OPTIMAL || status == SWEEP_FEASIBLE;
}

calm_status sweep_result_write(char **out, const sweep_result *r,
                               calm_context *context) {
  arena scratch;
  arena_init(&scratch, context);
  json_t *root = json_pack(
      "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
      "calm/sweep-result/1", "status", sweep_status_name(r->status), "reason",
      report_json_name(&scratch, r->reason), "mapping",
      report_json_name(&scratch, r->mapping), "value",
      report_json_real(r->value), "bound", report_json_real(r->bound), "cycles",
      report_json_number(r->cycles), "energy_pj",
      report_json_real(r->energy_pj), "edp", report_json_real(r->edp));
  const calm_status status = finish(out, root, context);
  arena_free(&scratch);
  return status;
}

bool sweep_status_find(sweep_status *out, const char *word) {
  for (sweep_status i = SWEEP_OPTIMAL; word && i < SWEEP_OPEN; i++)
    if (!strcmp(sweep_status_name(i), word)) {
      *out = i;
      return true;
    }
  return false;
}

calm_status sweep_keep(const char **out, const char *words, arena *a) {
  *out = NULL;
  if (!words) return CALM_OK;
  *out = arena_string(a, words, strlen(words));
  return *out ? CALM_OK : context_no_memory(a->context);
}

static calm_status refuse(calm_context *context) {
  return context_fail(context, CALM_BAD_INPUT,
                      "this is no result of a point of a sweep");
}

static calm_status take(sweep_result *out, const json_t *root, arena *a) {
  const char *schema = json_string_value(json_object_get(root, "schema"));
  const char *status = json_string_value(json_object_get(root, "status"));
  const json_int_t cycles = json_integer_value(json_object_get(root, "cycles"));
  sweep_result r = {.cycles = (uint64_t)cycles};
  if (!schema || strcmp(schema, "calm/sweep-result/1") || cycles < 0 ||
      !sweep_status_find(&r.status, status))
    return refuse(a->context);
  r.value = json_number_value(json_object_get(root, "value"));
  r.bound = json_number_value(json_object_get(root, "bound"));
  r.energy_pj = json_number_value(json_object_get(root, "energy_pj"));
  r.edp = json_number_value(json_object_get(root, "edp"));
  TRY(sweep_keep(&r.reason, json_string_value(json_object_get(root, "reason")),
                 a));
  TRY(sweep_keep(&r.mapping,
                 json_string_value(json_object_get(root, "mapping")), a));
  *out = r;
  return CALM_OK;
}

calm_status sweep_result_read(sweep_result *out, const char *words, arena *a) {
  json_t *root = json_loads(words, 0, NULL);
  if (!root) return refuse(a->context);
  const calm_status status = take(out, root, a);
  json_decref(root);
  return status;
}
