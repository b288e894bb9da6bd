/*
 * Whatever a journal holds, it stays as it is but for what is added, and what
 * is taken from it is a nest that is valid and costs what is shown: never less
 * than the optimum, never less than its bound.  '@' stands for what begins each
 * line of this very run, '$' for the layer; so answers can be bent, too.
 */
#include <math.h>

#include "calm/calm.h"
#include "map_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The beginning of a line, the layer in it, and the optimum; found once. */
typedef struct truth {
  char head[2048], subject[2048];
  calm_layer_summary summary;
} truth;

static void read_file(text *out) {
  char path[MAP_PATH], bytes[4096];
  size_t count;
  map_path(path, "work");
  FILE *file = fopen(path, "rb");
  demand(file != NULL);
  while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
    text_add(out, bytes, count);
  fclose(file);
}

/* With the journal as it is.  False if it is refused. */
static bool map(calm_layer_summary *out, calm_context *context) {
  char arch[MAP_PATH], layer[MAP_PATH], journal[MAP_PATH];
  const char *parts[] = {arch}, *problems[] = {layer};
  const calm_map_files files = {parts, 1, problems, 1, NULL, journal};
  calm_options *options;
  calm_mapping *mapping;
  map_path(arch, "arch.yaml");
  map_path(layer, "layer.yaml");
  map_path(journal, "work");
  demand(calm_options_new(&options, context) == CALM_OK);
  demand(calm_options_set(options, "objective", "delay") == CALM_OK);
  const calm_status status = calm_map(&mapping, context, &files, options);
  calm_options_free(options);
  demand(status == CALM_OK || status == CALM_BAD_INPUT);
  if (status != CALM_OK) {
    const char *message = calm_context_message(context);
    demand(strstr(message, "work: ") && !strchr(message, '\n'));
    return false;
  }
  char *shown;
  demand(calm_mapping_render(&shown, mapping, CALM_FORMAT_JSON, false) ==
         CALM_OK);
  calm_text_free(context, shown);
  demand(calm_mapping_layer(out, mapping, 0));
  out->name = out->reason = NULL;
  calm_mapping_free(mapping);
  return true;
}

/* ---- What is right ------------------------------------------------------- */

/* From `from` up to the next `to`, which is not taken. */
static void cut(char *out, size_t size, const char *from, const char *to) {
  const char *end = strstr(from, to);
  demand(end && (size_t)(end - from) < size);
  memcpy(out, from, (size_t)(end - from));
  out[end - from] = '\0';
}

static void find_truth(truth *out, calm_context *context) {
  static const char answer[] = "\"answer\":", layer[] = "\"layer\":";
  text t;
  text_init(&t, context);
  map_remove("work");
  demand(map(&out->summary, context));
  demand(out->summary.outcome == CALM_OPTIMAL);
  read_file(&t);
  cut(out->head, sizeof out->head, t.data, answer);
  snprintf(out->head + strlen(out->head), sizeof answer, "%s", answer);
  const char *subject = strstr(t.data, layer);
  demand(subject != NULL);
  cut(out->subject, sizeof out->subject, subject + strlen(layer), ",\"error");
  text_free(&t);
}

/* ---- What is tried ------------------------------------------------------- */

static void write_journal(text *out, const truth *right, const uint8_t *data,
                          size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (data[i] == '@')
      text_add(out, right->head, strlen(right->head));
    else if (data[i] == '$')
      text_add(out, right->subject, strlen(right->subject));
    else
      text_add(out, (const char *)&data[i], 1);
  }
  demand(!out->failed);
  map_write("work", out->data ? out->data : "", out->length);
}

/* What was there is there still. */
static void check_kept(const text *before, bool same, calm_context *context) {
  text after;
  text_init(&after, context);
  read_file(&after);
  demand(after.length >= before->length);
  demand(before->length == 0 ||
         !memcmp(after.data, before->data, before->length));
  demand(!same || after.length == before->length);
  text_free(&after);
}

static void check_summary(const calm_layer_summary *s, const truth *right) {
  if (s->error || (s->outcome != CALM_OPTIMAL && s->outcome != CALM_FEASIBLE))
    return;
  demand(s->cycles >= right->summary.cycles);
  demand(s->value == (double)s->cycles);
  demand(isfinite(s->bound) && s->bound <= s->value);
  demand(s->outcome != CALM_OPTIMAL || s->bound == s->value);
}

static void try_journal(const truth *right, const uint8_t *data, size_t size,
                        calm_context *context) {
  calm_layer_summary first, second;
  text before;
  text_init(&before, context);
  write_journal(&before, right, data, size);
  const bool read = map(&first, context);
  check_kept(&before, !read, context);
  if (read) {
    check_summary(&first, right);
    demand(map(&second, context));
    demand(first.error == second.error && first.outcome == second.outcome &&
           first.cycles == second.cycles);
  }
  text_free(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static truth right;
  if (size > 1 << 16) return 0;
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  calm_context_set_log(context, take_line, NULL);
  map_prepare();
  if (!*right.head) find_truth(&right, context);
  try_journal(&right, data, size, context);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
