/*
 * A journal: a file to which each answer is added as a line once it is there,
 * so that a run which was cut short goes on where it ended.
 *
 *     {"key":"...","options":"...","limits":"...","answer":{...}}
 *
 * The key is the identity of the run (map_identity.c).  Lines of other keys or
 * options are those of other runs and stay alone, as does what is no line: the
 * last one may have been cut in half.  An answer is read like one from a
 * process of our own, and so is judged and costed anew.
 */
#include "map_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static const char first_letters[] = "{\"key\":\"";

/* ---- What a run is ------------------------------------------------------- */

/* An option as "name=value "; the files that options name are in the key. */
static void add_CHOICE(text *t, const char *name, option_CHOICE value) {
  size_t length;
  const char *word = options_choice_name(&length, name, value);
  text_format(t, "%s=%.*s ", name, (int)length, word);
}
static void add_SWITCH(text *t, const char *name, option_SWITCH value) {
  text_format(t, "%s=%s ", name, value ? "on" : "off");
}
static void add_NUMBER(text *t, const char *name, option_NUMBER value) {
  text_format(t, "%s=%" PRIu64 " ", name, value);
}
static void add_SIZE(text *t, const char *name, option_SIZE value) {
  add_NUMBER(t, name, value);
}
static void add_SECONDS(text *t, const char *name, option_SECONDS value) {
  text_format(t, "%s=%.17g ", name, value);
}
static void add_TEXT(text *t, const char *name, option_TEXT value) {
  (void)t, (void)name, (void)value;
}
static void add_LIST(text *t, const char *name, option_LIST value) {
  (void)t, (void)name, (void)value;
}

static bool is_among(const char *const *names, const char *name) {
  for (; *names; names++)
    if (!strcmp(*names, name)) return true;
  return false;
}

/* Those that change no answer are in neither of the two. */
static bool belongs(const char *name, const char *verbs, bool limits) {
  static const char *const limiting[] = {"time-limit", "memory-limit",
                                         "tick-limit", NULL};
  static const char *const idle[] = {"jobs", "explain", "timing", NULL};
  const char *verb = strstr(verbs, "map");
  if (!verb || is_among(idle, name)) return false;
  return is_among(limiting, name) == limits;
}

static void add_options(text *t, const calm_options *options, bool limits) {
#define OPTION(field, name, type, verbs, value, initial, help) \
  if (belongs(name, verbs, limits)) add_##type(t, name, options->field);
#include "base/options.def"
#undef OPTION
}

static calm_status describe(const char **out, const map_run *run, bool limits) {
  arena *a = &run->mapping->arena;
  text t;
  text_init(&t, a->context);
  add_options(&t, run->options, limits);
  return text_keep(&t, out, a);
}

/* ---- Lines that are there ------------------------------------------------ */

static bool says(const json_t *line, const char *key, const char *value) {
  const char *word = json_string_value(json_object_get(line, key));
  return word && !strcmp(word, value);
}

/* A proof stands whatever the limits were. */
static bool is_proved(const json_t *answer) {
  const json_int_t outcome =
      json_integer_value(json_object_get(answer, "outcome"));
  return outcome == CALM_OPTIMAL || outcome == CALM_INFEASIBLE;
}

static bool is_of_run(const map_journal *j, const json_t *line) {
  return says(line, "key", j->key.digits) &&
         says(line, "options", j->options) &&
         (is_proved(json_object_get(line, "answer")) ||
          says(line, "limits", j->limits));
}

/* Whether the nest is right is seen as with any other answer; one that is not
   is as if it were not there. */
static calm_status take_answer(map_layer *l, bool *done, const json_t *answer,
                               const map_run *run) {
  calm_context *context = run->mapping->context;
  const map_layer before = *l;
  char *line = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (!line) return context_no_memory(context);
  const calm_status status = map_record_read(l, line, run);
  free(line);
  if (status == CALM_NO_MEMORY) return status;
  *done = status == CALM_OK && l->error == CALM_OK;
  if (*done) return CALM_OK;
  context_log(context, CALM_LOG_WARNING,
              "%s: what it says of %s is not so: %s; it is mapped again",
              run->files->journal, l->name,
              status ? calm_context_message(context) : l->reason);
  *l = before;
  return CALM_OK;
}

static calm_status take_line(const char *bytes, size_t length,
                             const map_journal *j, const map_run *run,
                             bool *done) {
  const calm_mapping *m = run->mapping;
  calm_status status = CALM_OK;
  json_t *line = json_loadb(bytes, length, 0, NULL);
  const json_t *answer = json_object_get(line, "answer");
  const bool ours = line && is_of_run(j, line);
  for (uint32_t i = 0; ours && status == CALM_OK && i < m->layer_count; i++)
    if (!done[i] && m->layers[i].error == CALM_OK &&
        says(answer, "layer", j->subjects[i]))
      status = take_answer(&m->layers[i], &done[i], answer, run);
  json_decref(line);
  return status;
}

/* The latest come first. */
static calm_status take_lines(map_journal *j, const file_map *map,
                              const map_run *run, bool *done) {
  const char *bytes = (const char *)map->bytes;
  size_t end = map->length;
  while (end > 0) {
    size_t begin = end - 1; /* behind a newline, or at the end of the file */
    while (begin > 0 && bytes[begin - 1] != '\n') begin--;
    TRY(take_line(bytes + begin, end - begin, j, run, done));
    end = begin;
  }
  j->torn = map->length > 0 && bytes[map->length - 1] != '\n';
  return CALM_OK;
}

/* Somebody may have mixed up the names of files. */
static calm_status check_is_journal(const map_journal *j, const file_map *map) {
  const size_t most = strlen(first_letters);
  const size_t length = map->length < most ? map->length : most;
  if (!memcmp(map->bytes, first_letters, length)) return CALM_OK;
  return context_fail(j->context, CALM_BAD_INPUT,
                      "%s: is no journal of calm map, and stays as it is",
                      j->path);
}

static calm_status read_lines(map_journal *j, const map_run *run, bool *done) {
  file_map map;
  if (access(j->path, F_OK) && errno == ENOENT) return CALM_OK;
  TRY(file_map_open(&map, j->context, j->path));
  calm_status status = check_is_journal(j, &map);
  if (status == CALM_OK) status = take_lines(j, &map, run, done);
  file_map_close(&map);
  return status;
}

static void tell_count(const map_journal *j, const map_run *run,
                       const bool *done) {
  const uint32_t layers = run->mapping->layer_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < layers; i++) count += done[i];
  if (count)
    context_log(j->context, CALM_LOG_PROGRESS,
                "%s: %u of %u layers are there already", j->path, count,
                layers);
}

/* ---- New lines ----------------------------------------------------------- */

static calm_status open_to_write(map_journal *j) {
  j->file = open(j->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (j->file >= 0) return CALM_OK;
  return context_fail(j->context, CALM_IO, "%s: cannot write: %s", j->path,
                      strerror(errno));
}

static calm_status find_subjects(map_journal *j, const map_run *run) {
  const calm_mapping *m = run->mapping;
  arena *a = &run->mapping->arena;
  ARENA_ARRAY(a, j->subjects, m->layer_count);
  for (uint32_t i = 0; i < m->layer_count; i++)
    TRY(map_layer_subject(&j->subjects[i], &m->layers[i].layer, a));
  return CALM_OK;
}

calm_status map_journal_open(map_journal *out, const map_run *run, bool *done) {
  map_journal j = {.context = run->mapping->context,
                   .path = run->files->journal,
                   .file = -1};
  if (j.path) {
    TRY(map_identity_of_run(&j.key, run));
    TRY(describe(&j.options, run, false));
    TRY(describe(&j.limits, run, true));
    TRY(find_subjects(&j, run));
    TRY(read_lines(&j, run, done));
    tell_count(&j, run, done);
    TRY(open_to_write(&j));
  }
  *out = j;
  return CALM_OK;
}

static bool write_all(int file, const char *bytes, size_t length) {
  while (length) {
    const ssize_t written = write(file, bytes, length);
    if (written < 0 && errno != EINTR) return false;
    if (written < 0) continue;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* A disk that is full costs the journal, but not what was found. */
static void give_up(map_journal *j) {
  context_log(j->context, CALM_LOG_WARNING,
              "%s: cannot write: %s; no further layer is added", j->path,
              strerror(errno));
  map_journal_close(j);
}

calm_status map_journal_add(map_journal *j, const char *answer) {
  text t;
  if (j->file < 0) return CALM_OK;
  text_init(&t, j->context);
  text_format(&t,
              "%s%s%s\",\"options\":\"%s\",\"limits\":\"%s\",\"answer\":%s}\n",
              j->torn ? "\n" : "", first_letters, j->key.digits, j->options,
              j->limits, answer);
  const bool failed = t.failed;
  if (!failed && !write_all(j->file, t.data, t.length)) give_up(j);
  text_free(&t);
  j->torn = false;
  return failed ? context_no_memory(j->context) : CALM_OK;
}

void map_journal_close(map_journal *j) {
  if (j->file >= 0) close(j->file);
  j->file = -1;
}
