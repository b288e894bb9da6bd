/* The file of a sweep.  docs/sweep.md describes its keys. */
#include <string.h>

#include "accel/accel_names.h"
#include "base/file.h"
#include "base/text.h"
#include "sweep/sweep.h"

static const char *const top_keys[] = {"name",          "models",  "problems",
                                       "architectures", "mappers", "objectives",
                                       "options"};
static const char *const machine_keys[] = {"name", "file",        "files",
                                           "ert",  "constraints", "parameters"};
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* ---- Words --------------------------------------------------------------- */

static calm_status check_keys(const accel_yaml *node, const char *const *known,
                              uint32_t count, calm_context *context) {
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(context, CALM_BAD_INPUT, node->place,
                            "this is a mapping, with keys such as '%s'",
                            known[0]);
  for (uint32_t i = 0; i < node->count; i++) {
    if (accel_names_have(known, count, node->keys[i])) continue;
    const accel_hint hint = accel_names_hint(node->keys[i], known, count);
    return accel_place_fail(context, CALM_BAD_INPUT, node->key_places[i],
                            "unknown key '%s'%s; there are %s", node->keys[i],
                            hint.text, accel_names_list(known, count).text);
  }
  return CALM_OK;
}

/* One word, or a list of them; none if there is no such key. */
static calm_status read_words(const char ***out, uint32_t *count,
                              const accel_yaml *node, const char *what,
                              arena *a) {
  const char **words;
  const uint32_t most = !node || accel_yaml_is_null(node) ? 0
                        : node->kind == ACCEL_YAML_SCALAR ? 1
                                                          : node->count;
  if (most && node->kind == ACCEL_YAML_MAPPING)
    return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                            "'%s' is a list", what);
  ARENA_ARRAY(a, words, most);
  for (uint32_t i = 0; i < most; i++)
    TRY(accel_yaml_text(&words[i], a->context,
                        node->kind == ACCEL_YAML_SCALAR ? node : node->items[i],
                        what));
  *out = words;
  *count = most;
  return CALM_OK;
}

/* ---- Files --------------------------------------------------------------- */

/* Names of files are relative to the folder of the sweep's own. */
static calm_status resolve(const char **out, const calm_sweep *s,
                           const char *name, arena *a) {
  size_t length;
  const char *slash = strrchr(s->path, '/');
  text path;
  if (*name == '/' || !slash || context_lent(&length, s->context, name)) {
    *out = name;
    return CALM_OK;
  }
  text_init(&path, a->context);
  text_add(&path, s->path, (size_t)(slash - s->path) + 1);
  text_format(&path, "%s", name);
  return text_keep(&path, out, a);
}

static calm_status open_file(sweep_file *out, const calm_sweep *s,
                             const char *name, arena *a) {
  file_map map;
  sweep_file f;
  TRY(resolve(&f.name, s, name, a));
  TRY(file_map_open(&map, s->context, f.name));
  const bool whole = !memchr(map.bytes, '\0', map.length);
  f.bytes = arena_string(a, (const char *)map.bytes, map.length);
  file_map_close(&map);
  if (!f.bytes) return context_no_memory(s->context);
  if (!whole)
    return context_fail(s->context, CALM_BAD_INPUT, "%s: is no text", f.name);
  *out = f;
  return CALM_OK;
}

static calm_status open_files(sweep_file **out, uint32_t *count,
                              const calm_sweep *s, const accel_yaml *node,
                              const char *what, arena *a) {
  const char **names;
  TRY(read_words(&names, count, node, what, a));
  ARENA_ARRAY(a, *out, *count);
  for (uint32_t i = 0; i < *count; i++)
    TRY(open_file(&(*out)[i], s, names[i], a));
  return CALM_OK;
}

/* ---- Machines ------------------------------------------------------------ */

static calm_status read_parameters(sweep_machine *m, const accel_yaml *node,
                                   arena *a) {
  if (!node || accel_yaml_is_null(node)) return CALM_OK;
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                            "'parameters' is a mapping, such as "
                            "GlobalBuffer.entries: [32768, 65536]");
  ARENA_ARRAY(a, m->parameters, node->count);
  for (; m->parameter_count < node->count; m->parameter_count++)
    TRY(sweep_values_read(&m->parameters[m->parameter_count],
                          node->items[m->parameter_count],
                          node->keys[m->parameter_count], a));
  return CALM_OK;
}

/* Without a name it is called like its first file. */
static calm_status name_machine(sweep_machine *m, const accel_yaml *node,
                                arena *a) {
  const accel_yaml *name = accel_yaml_get(node, "name");
  if (name) return accel_yaml_text(&m->name, a->context, name, "name");
  const char *slash = strrchr(m->parts[0].name, '/');
  const char *base = slash ? slash + 1 : m->parts[0].name;
  const char *dot = strrchr(base, '.');
  m->name = arena_string(a, base, dot ? (size_t)(dot - base) : strlen(base));
  return m->name ? CALM_OK : context_no_memory(a->context);
}

static calm_status read_machine(sweep_machine *out, const calm_sweep *s,
                                const accel_yaml *node, arena *a) {
  sweep_machine m = {.name = NULL};
  const accel_yaml *ert = accel_yaml_get(node, "ert");
  const char *ert_name;
  TRY(check_keys(node, machine_keys, COUNT(machine_keys), a->context));
  const accel_yaml *files = accel_yaml_get(node, "files");
  if (!files) files = accel_yaml_get(node, "file");
  TRY(open_files(&m.parts, &m.part_count, s, files, "files", a));
  if (m.part_count == 0)
    return accel_place_fail(a->context, CALM_BAD_INPUT, node->place,
                            "an architecture has no 'file'");
  TRY(open_files(&m.constraints, &m.constraint_count, s,
                 accel_yaml_get(node, "constraints"), "constraints", a));
  if (ert) {
    TRY(accel_yaml_text(&ert_name, a->context, ert, "ert"));
    TRY(open_file(&m.ert, s, ert_name, a));
  }
  TRY(read_parameters(&m, accel_yaml_get(node, "parameters"), a));
  TRY(name_machine(&m, node, a));
  *out = m;
  return CALM_OK;
}

static calm_status read_machines(calm_sweep *s, const accel_yaml *root) {
  const accel_yaml *list = accel_yaml_get(root, "architectures");
  if (!list || list->kind != ACCEL_YAML_SEQUENCE || list->count == 0)
    return accel_place_fail(s->context, CALM_BAD_INPUT,
                            list ? list->place : root->place,
                            "'architectures' is a list, each with a 'file'");
  ARENA_ARRAY(&s->arena, s->machines, list->count);
  for (; s->machine_count < list->count; s->machine_count++)
    TRY(read_machine(&s->machines[s->machine_count], s,
                     list->items[s->machine_count], &s->arena));
  return CALM_OK;
}

/* ---- How to map ---------------------------------------------------------- */

/* Files are named by the machines, and what is swept has keys of its own. */
static bool is_free(const char *name) {
  static const char *const taken[] = {
      "mapper", "objective", "set",    "ert",   "constraints", "jobs",
      "timing", "explain",   "energy", "links", "dump-model",  "cosa-weights"};
  for (uint32_t i = 0; i < COUNT(taken); i++)
    if (!strcmp(taken[i], name)) return false;
  for (size_t i = 0; calm_option_at(i); i++)
    if (!strcmp(calm_option_at(i)->name, name) &&
        strstr(calm_option_at(i)->verbs, "map"))
      return true;
  return false;
}

static calm_status add_option(calm_sweep *s, calm_options *options,
                              const accel_yaml *node, uint32_t at) {
  sweep_option *o = &s->options[s->option_count];
  *o = (sweep_option){.name = node->keys[at]};
  TRY(accel_yaml_text(&o->value, s->context, node->items[at], o->name));
  if (!strcmp(o->value, "true")) o->value = "on";
  if (!strcmp(o->value, "false")) o->value = "off";
  if (!is_free(o->name))
    return accel_place_fail(s->context, CALM_BAD_INPUT, node->key_places[at],
                            "'%s' is no option of calm map that a sweep can "
                            "have",
                            o->name);
  s->option_count++;
  return calm_options_set(options, o->name, o->value);
}

static calm_status read_options(calm_sweep *s, calm_options *options,
                                const accel_yaml *node) {
  if (!node || accel_yaml_is_null(node)) return CALM_OK;
  if (node->kind != ACCEL_YAML_MAPPING)
    return accel_place_fail(s->context, CALM_BAD_INPUT, node->place,
                            "'options' is a mapping, such as time-limit: 10");
  ARENA_ARRAY(&s->arena, s->options, node->count);
  for (uint32_t i = 0; i < node->count; i++)
    TRY(add_option(s, options, node, i));
  return CALM_OK;
}

/* Words that the option of this name takes. */
static calm_status read_choices(const char ***out, uint32_t *count,
                                calm_sweep *s, calm_options *options,
                                const accel_yaml *node, const char *option,
                                const char *initial) {
  TRY(read_words(out, count, node, option, &s->arena));
  if (*count == 0) {
    ARENA_ARRAY(&s->arena, *out, 1);
    (*out)[(*count)++] = initial;
  }
  for (uint32_t i = 0; i < *count; i++) {
    TRY(calm_options_set(options, option, (*out)[i]));
    if (!strcmp((*out)[i], "pareto"))
      return accel_place_fail(s->context, CALM_UNSUPPORTED, node->place,
                              "a sweep has one nest for each point, and "
                              "pareto many; the front of designs is shown");
  }
  return CALM_OK;
}

/* ---- Layers -------------------------------------------------------------- */

static calm_status read_layers(calm_sweep *s, const accel_yaml *root,
                               const calm_options *options) {
  const char **names, *path;
  uint32_t count;
  arena *a = &s->arena;
  TRY(read_words(&names, &count, accel_yaml_get(root, "models"), "models", a));
  for (uint32_t i = 0; i < count; i++) {
    TRY(resolve(&path, s, names[i], a));
    TRY(sweep_layers_add_model(s, names[i], path, options));
  }
  TRY(read_words(&names, &count, accel_yaml_get(root, "problems"), "problems",
                 a));
  for (uint32_t i = 0; i < count; i++) {
    TRY(resolve(&path, s, names[i], a));
    TRY(sweep_layers_add_problem(s, names[i], path));
  }
  if (s->layer_count) return CALM_OK;
  return accel_place_fail(s->context, CALM_BAD_INPUT, root->place,
                          "no layers: name 'models' or 'problems'");
}

/* ---- All of it ----------------------------------------------------------- */

static calm_status read_root(calm_sweep *s, const accel_yaml *root,
                             calm_options *options) {
  const accel_yaml *name = accel_yaml_get(root, "name");
  TRY(check_keys(root, top_keys, COUNT(top_keys), s->context));
  s->name = "sweep";
  if (name) TRY(accel_yaml_text(&s->name, s->context, name, "name"));
  TRY(read_options(s, options, accel_yaml_get(root, "options")));
  TRY(read_choices(&s->mappers, &s->mapper_count, s, options,
                   accel_yaml_get(root, "mappers"), "mapper", "exact"));
  TRY(read_choices(&s->objectives, &s->objective_count, s, options,
                   accel_yaml_get(root, "objectives"), "objective", "edp"));
  TRY(read_machines(s, root));
  return read_layers(s, root, options);
}

calm_status sweep_read(calm_sweep *s) {
  accel_yaml *root;
  calm_options *options;
  TRY(accel_yaml_open(&root, s->path, &s->arena));
  TRY(calm_options_new(&options, s->context));
  const calm_status status = read_root(s, root, options);
  calm_options_free(options);
  return status;
}
