/*
 * Any model that can be read can be written: rewritten where that is exact,
 * planned with hardly any effort, written, and read again.  The writer compares
 * what it wrote with the plan, so a plan that cannot be written is either
 * refused with one line or a finding.  Nothing is left behind.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demand.h"
#include "plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_OPS = 300, MOST_TENSORS = 2000 };

static void choose(calm_options *options, const char *name, const char *value) {
  demand(calm_options_set(options, name, value) == CALM_OK);
}

/* The content of a file; the caller frees it. */
static uint8_t *load(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  demand(file != NULL);
  demand(fseek(file, 0, SEEK_END) == 0);
  *length = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*length + 1);
  demand(bytes && fread(bytes, 1, *length, file) == *length);
  fclose(file);
  return bytes;
}

static void expect_content(const char *path, const uint8_t *data, size_t size) {
  size_t length;
  uint8_t *bytes = load(path, &length);
  demand(length == size && (size == 0 || !memcmp(bytes, data, size)));
  free(bytes);
}

/* CALM_INTERNAL is what the writer says when it does not find its plan. */
static void write_plan(calm_context *context, calm_model *model,
                       const calm_options *options, const char *path) {
  calm_plan *plan;
  calm_status status = calm_plan_make(&plan, model, options);
  demand(status != CALM_INTERNAL);
  if (status) return;
  status = calm_plan_write(plan, path);
  if (status) demand(*calm_context_message(context) != '\0');
  demand(status != CALM_INTERNAL);
  calm_plan_free(plan);
  if (status) return;
  calm_model *again;
  demand(calm_model_open(&again, context, path, NULL) == CALM_OK);
  demand(again->graphs.count == model->graphs.count);
  calm_model_free(again);
}

static void try_model(calm_context *context, calm_options *options,
                      const char *in, const char *out, const uint8_t *data,
                      size_t size) {
  calm_model *model;
  if (calm_model_open(&model, context, in, options)) return;
  if (is_small(model, MOST_OPS, MOST_TENSORS)) {
    if (!model->altered) {
      demand(calm_model_write(model, out) == CALM_OK);
      expect_content(out, data, size);
    }
    write_plan(context, model, options, out);
  }
  calm_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const rewritings[] = {"off", "on"};
  static const char *const memories[] = {"auto", "plain"};
  char in[64], out[80];
  snprintf(in, sizeof in, "/tmp/calm-fuzz-%ld", (long)getpid());
  snprintf(out, sizeof out, "%s.out", in);
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  demand(file_write(context, in, data, size) == CALM_OK);
  for (int i = 0; i < 3; i++) {
    calm_options *options;
    demand(calm_options_new(&options, context) == CALM_OK);
    choose(options, "order", "greedy");
    choose(options, "layout", "greedy");
    choose(options, "tick-limit", "10000");
    choose(options, "memory", memories[i % 2]);
    choose(options, "remove-noops", rewritings[i == 1]);
    choose(options, "to-int8", rewritings[i == 2]);
    try_model(context, options, in, out, data, size);
    calm_options_free(options);
  }
  unlink(in);
  unlink(out);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
