/*
 * CoSA's weights for a machine, as a small JSON file.  They mean nothing on
 * another machine, so that the file says which one they were fitted to.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "map_parts.h"
#include "report/report_json.h"

static const char schema[] = "calm/cosa-weights/1";

/* ---- Reading ------------------------------------------------------------- */

static calm_status fail(const map_run *run, const char *what) {
  return context_fail(run->mapping->context, CALM_BAD_INPUT, "%s: %s",
                      run->options->cosa_weights, what);
}

static bool take_weight(double *out, const json_t *root, const char *key) {
  const json_t *value = json_object_get(root, key);
  *out = json_number_value(value);
  return json_is_number(value) && isfinite(*out) && *out >= 0;
}

static bool says(const json_t *root, const char *key, const char *word) {
  const char *found = json_string_value(json_object_get(root, key));
  return found && !strcmp(found, word);
}

static calm_status take_weights(mapper_cosa_weights *out, const map_run *run,
                                const json_t *root) {
  mapper_cosa_weights w;
  map_identity machine;
  TRY(map_identity_of_machine(&machine, run));
  if (!says(root, "schema", schema))
    return fail(run, "no weights as calm map --calibrate writes them");
  if (!says(root, "machine", machine.digits))
    return fail(
        run,
        "these weights were fitted to another architecture, or its "
        "files have changed since; calm map --calibrate makes new ones");
  if (!take_weight(&w.compute, root, "compute") ||
      !take_weight(&w.traffic, root, "traffic") ||
      !take_weight(&w.utilization, root, "utilization"))
    return fail(run,
                "compute, traffic and utilization are numbers that are "
                "not negative");
  *out = w;
  return CALM_OK;
}

calm_status map_weights_read(mapper_cosa_weights *out, const map_run *run) {
  file_map map;
  TRY(file_map_open(&map, run->mapping->context, run->options->cosa_weights));
  json_t *root = json_loadb((const char *)map.bytes, map.length, 0, NULL);
  file_map_close(&map);
  const calm_status status = take_weights(out, run, root);
  json_decref(root);
  return status;
}

/* ---- Writing ------------------------------------------------------------- */

calm_status map_weights_write(char **out, const mapper_cosa_weights *w,
                              const map_run *run) {
  map_identity machine;
  text t;
  arena *a = &run->mapping->arena;
  TRY(map_identity_of_machine(&machine, run));
  json_t *o = report_json_member(json_object(), "schema", json_string(schema));
  o = report_json_member(o, "arch",
                         report_json_name(a, run->mapping->arch.name));
  o = report_json_member(o, "machine", json_string(machine.digits));
  o = report_json_member(o, "compute", json_real(w->compute));
  o = report_json_member(o, "traffic", json_real(w->traffic));
  o = report_json_member(o, "utilization", json_real(w->utilization));
  text_init(&t, a->context);
  const calm_status status = report_json_write(&t, o);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
