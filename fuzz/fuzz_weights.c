/*
 * Whatever a file of weights holds, it is refused in one line, or it has three
 * numbers that a program can be made of, which come back from the file that is
 * written for them.  '@' stands for the machine that weights are for.
 */
#include <math.h>

#include "map_files.h"
#include "map_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_weight(double x) { return isfinite(x) && x >= 0; }

/* From the file "work".  False if it is refused. */
static bool read_weights(mapper_cosa_weights *out, const map_run *run) {
  const calm_status status = map_weights_read(out, run);
  const char *message = calm_context_message(run->mapping->context);
  demand(status == CALM_OK || status == CALM_BAD_INPUT);
  if (status == CALM_OK) return true;
  demand(strstr(message, "work: ") && !strchr(message, '\n'));
  return false;
}

static void write_weights(const mapper_cosa_weights *w, const map_run *run) {
  char *text;
  demand(map_weights_write(&text, w, run) == CALM_OK);
  map_write("work", text, strlen(text));
  calm_text_free(run->mapping->context, text);
}

/* "0123456789abcdef-123", as it stands in a file that was written. */
static void find_machine(char *out, size_t size, const map_run *run) {
  static const char key[] = "\"machine\": \"";
  const mapper_cosa_weights any = {1, 1, 1};
  char *text;
  demand(map_weights_write(&text, &any, run) == CALM_OK);
  const char *name = strstr(text, key);
  demand(name != NULL);
  snprintf(out, size, "%.*s", (int)strcspn(name + strlen(key), "\""),
           name + strlen(key));
  calm_text_free(run->mapping->context, text);
}

static void write_file(const uint8_t *data, size_t size, const map_run *run) {
  char machine[64];
  text t;
  find_machine(machine, sizeof machine, run);
  text_init(&t, run->mapping->context);
  for (size_t i = 0; i < size; i++) {
    const bool named = data[i] == '@';
    text_add(&t, named ? machine : (const char *)&data[i],
             named ? strlen(machine) : 1);
  }
  map_write("work", t.data ? t.data : "", t.length);
  text_free(&t);
}

static void try_file(const uint8_t *data, size_t size, const map_run *run) {
  mapper_cosa_weights first, second;
  write_file(data, size, run);
  if (!read_weights(&first, run)) return;
  demand(is_weight(first.compute) && is_weight(first.traffic) &&
         is_weight(first.utilization));
  write_weights(&first, run);
  demand(read_weights(&second, run));
  demand(first.compute == second.compute && first.traffic == second.traffic &&
         first.utilization == second.utilization);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char arch[MAP_PATH], work[MAP_PATH];
  const char *parts[] = {arch};
  const calm_map_files files = {.arch = parts, .arch_count = 1};
  if (size > 1 << 16) return 0;
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  map_prepare();
  map_path(arch, "arch.yaml");
  map_path(work, "work");
  calm_options options = {.cosa_weights = work};
  calm_mapping mapping = {.context = context};
  mapping.arch.name = "fuzzed";
  arena_init(&mapping.arena, context);
  const map_run run = {
      .mapping = &mapping, .files = &files, .options = &options};
  try_file(data, size, &run);
  arena_free(&mapping.arena);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
