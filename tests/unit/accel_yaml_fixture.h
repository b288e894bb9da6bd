/*
 * Small YAML texts for tests: read in a context with an arena, with the last
 * warning kept.
 */
#ifndef CALM_TESTS_ACCEL_YAML_FIXTURE_H
#define CALM_TESTS_ACCEL_YAML_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "accel/accel_yaml.h"
#include "base/arena.h"

typedef struct yaml_world {
  calm_context *context;
  arena arena;
  char warning[512]; /* the last one */
  uint32_t warnings;
} yaml_world;

static inline void keep_warning(void *payload, calm_log_level level,
                                const char *line) {
  yaml_world *w = payload;
  if (level != CALM_LOG_WARNING) return;
  snprintf(w->warning, sizeof w->warning, "%s", line);
  w->warnings++;
}

static inline void world_open(yaml_world *w) {
  *w = (yaml_world){.context = calm_context_new(NULL)};
  assert_non_null(w->context);
  calm_context_set_log(w->context, keep_warning, w);
  arena_init(&w->arena, w->context);
}

static inline void world_close(yaml_world *w) {
  arena_free(&w->arena);
  assert_int_equal(calm_context_bytes(w->context), 0);
  calm_context_free(w->context);
}

static inline accel_yaml *read_yaml(yaml_world *w, const char *text) {
  accel_yaml *root = NULL;
  if (accel_yaml_parse(&root, "t.yaml", text, strlen(text), &w->arena))
    fail_msg("%s", calm_context_message(w->context));
  return root;
}

/* The message of the last failure has this in it. */
static inline void expect_message(const yaml_world *w, const char *part) {
  const char *message = calm_context_message(w->context);
  if (!strstr(message, part)) fail_msg("'%s' lacks '%s'", message, part);
}

static inline void expect_refusal(const char *text, calm_status status,
                                  const char *part) {
  yaml_world w;
  accel_yaml *root = NULL;
  world_open(&w);
  assert_int_equal(
      accel_yaml_parse(&root, "t.yaml", text, strlen(text), &w.arena), status);
  assert_null(root);
  expect_message(&w, part);
  world_close(&w);
}

#endif
