/* A task in, a result out: calm_map on files that lie in memory. */
#include <string.h>

#include "report/report_json.h"
#include "sweep/sweep.h"

/* What a task names, while it is solved. */
typedef struct job {
  calm_context *context;
  const json_t *task;
  calm_options *options;
  arena arena;
  const char **lent;
  uint32_t lent_count;
  calm_map_files files;
} job;

static calm_status refuse(calm_context *context, const char *what) {
  return context_fail(context, CALM_BAD_INPUT, "this is no task of a sweep: %s",
                      what);
}

/* A layer may be called like a file. */
static calm_status lend(const char **out, job *j, const json_t *file,
                        const char *kind) {
  const char *name = json_string_value(json_object_get(file, "name"));
  const char *words = json_string_value(json_object_get(file, "text"));
  text label;
  if (!name || !words) return refuse(j->context, kind);
  text_init(&label, j->context);
  text_format(&label, strcmp(kind, "problem") ? "%s" : "<%s>", name);
  TRY(text_keep(&label, out, &j->arena));
  TRY(calm_context_lend(j->context, *out, words, strlen(words)));
  j->lent[j->lent_count++] = *out;
  return CALM_OK;
}

static calm_status lend_all(const char *const **out, uint32_t *count, job *j,
                            const char *kind) {
  const json_t *list = json_object_get(j->task, kind);
  const char **names;
  if (!json_is_array(list)) return refuse(j->context, kind);
  const size_t length = json_array_size(list);
  ARENA_ARRAY(&j->arena, names, length);
  for (size_t i = 0; i < length; i++)
    TRY(lend(&names[i], j, json_array_get(list, i), kind));
  *out = names;
  *count = (uint32_t)length;
  return CALM_OK;
}

static calm_status set_files(job *j, const char *kind, const char *option) {
  const char *const *names;
  uint32_t count;
  TRY(lend_all(&names, &count, j, kind));
  for (uint32_t i = 0; i < count; i++)
    TRY(calm_options_set(j->options, option, names[i]));
  return CALM_OK;
}

static calm_status set_options(job *j) {
  const json_t *list = json_object_get(j->task, "options");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *pair = json_array_get(list, i);
    const char *name = json_string_value(json_array_get(pair, 0));
    const char *value = json_string_value(json_array_get(pair, 1));
    if (!name || !value) return refuse(j->context, "options");
    TRY(calm_options_set(j->options, name, value));
  }
  return calm_options_set(j->options, "jobs", "1");
}

static size_t count_files(const json_t *task) {
  static const char *const kinds[] = {"arch", "problem", "constraints", "ert"};
  size_t count = 0;
  for (int i = 0; i < 4; i++)
    count += json_array_size(json_object_get(task, kinds[i]));
  return count;
}

/* Another version may count otherwise, and its result has another key. */
static calm_status check(const job *j) {
  const char *schema = json_string_value(json_object_get(j->task, "schema"));
  const char *version = json_string_value(json_object_get(j->task, "version"));
  if (!schema || strcmp(schema, "calm/sweep-task/1") || !version)
    return refuse(j->context, "its schema");
  if (!strcmp(version, calm_version())) return CALM_OK;
  return context_fail(j->context, CALM_UNSUPPORTED,
                      "a task of calm %s, and this is calm %s; a sweep needs "
                      "one version everywhere",
                      version, calm_version());
}

static calm_status prepare(job *j) {
  TRY(check(j));
  ARENA_ARRAY(&j->arena, j->lent, count_files(j->task));
  TRY(lend_all(&j->files.arch, &j->files.arch_count, j, "arch"));
  TRY(lend_all(&j->files.problems, &j->files.problem_count, j, "problem"));
  TRY(set_files(j, "constraints", "constraints"));
  TRY(set_files(j, "ert", "ert"));
  if (j->files.problem_count != 1) return refuse(j->context, "its problem");
  return set_options(j);
}

/* ---- The answer ---------------------------------------------------------- */

static calm_status answer(char **out, const calm_mapping *mapping,
                          calm_context *context) {
  calm_layer_summary s;
  char *nest = NULL;
  calm_mapping_layer(&s, mapping, 0);
  sweep_result r = {.status = s.error ? SWEEP_FAILED : (sweep_status)s.outcome,
                    .reason = s.reason,
                    .value = s.value,
                    .bound = s.bound,
                    .cycles = s.cycles,
                    .energy_pj = s.energy_pj,
                    .edp = s.edp};
  if (sweep_status_has_nest(r.status))
    TRY(calm_mapping_nest(&nest, mapping, 0));
  r.mapping = nest;
  const calm_status status = sweep_result_write(out, &r, context);
  calm_text_free(context, nest);
  return status;
}

/* What an interrupt left is no answer. */
static calm_status map(char **out, const job *j) {
  calm_mapping *mapping;
  TRY(calm_map(&mapping, j->context, &j->files, j->options));
  const calm_status status = answer(out, mapping, j->context);
  calm_mapping_free(mapping);
  return status;
}

/* What is wrong with the files is the answer, too. */
static calm_status solve(char **out, job *j) {
  TRY(prepare(j));
  const calm_status status = map(out, j);
  if (status == CALM_OK || status == CALM_NO_MEMORY) return status;
  const sweep_result r = {.status = SWEEP_FAILED,
                          .reason = calm_context_message(j->context)};
  return sweep_result_write(out, &r, j->context);
}

static calm_status solve_and_clean(char **out, job *j) {
  arena_init(&j->arena, j->context);
  const calm_status status = solve(out, j);
  for (uint32_t i = 0; i < j->lent_count; i++)
    calm_context_lend(j->context, j->lent[i], NULL, 0);
  arena_free(&j->arena);
  return status;
}

calm_status calm_sweep_solve(char **out, calm_context *context,
                             const char *task) {
  char *result;
  json_t *root = json_loads(task, 0, NULL);
  job j = {.context = context, .task = root};
  if (!root) return refuse(context, "it is not JSON");
  calm_status status = calm_options_new(&j.options, context);
  if (status == CALM_OK) {
    status = solve_and_clean(&result, &j);
    calm_options_free(j.options);
  }
  json_decref(root);
  if (status) return status;
  if (!context_interrupted(context)) {
    *out = result;
    return CALM_OK;
  }
  calm_text_free(context, result);
  return context_fail(context, CALM_MISUSE, "interrupted");
}
