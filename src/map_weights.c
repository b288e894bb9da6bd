/*
 * CoSA's weights for a machine, as a small JSON file.  They mean nothing on
 * another machine, so that the file says which one they were fitted to: a hash
 * and the length of the files that it was read from.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "map_parts.h"
#include "report/report_json.h"

static const char schema[] = "calm/cosa-weights/1";

/* ---- The machine --------------------------------------------------------- */

typedef struct machine_name {
  char digits[40];
} machine_name;

static calm_status add_file(uint64_t *hash, size_t *length,
                            calm_context *context, const char *path) {
  file_map map;
  TRY(file_map_open(&map, context, path));
  const uint64_t both[] = {*hash, hash_bytes(map.bytes, map.length)};
  *length += map.length;
  file_map_close(&map);
  *hash = hash_bytes(both, sizeof both);
  return CALM_OK;
}

static calm_status name_machine(machine_name *out, const map_run *run) {
  uint64_t hash = 0;
  size_t length = 0;
  for (uint32_t i = 0; i < run->files->arch_count; i++)
    TRY(add_file(&hash, &length, run->mapping->context, run->files->arch[i]));
  snprintf(out->digits, sizeof out->digits, "%016" PRIx64 "-%zu", hash, length);
  return CALM_OK;
}

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
  machine_name machine;
  TRY(name_machine(&machine, run));
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
  machine_name machine;
  text t;
  arena *a = &run->mapping->arena;
  TRY(name_machine(&machine, run));
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
