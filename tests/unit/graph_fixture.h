/*
 * What the tests of the graph room share: a context that counts its memory, the
 * graphs of one text, and the last warning.
 */
#ifndef CALM_TESTS_GRAPH_FIXTURE_H
#define CALM_TESTS_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "graph/graph_text.h"

typedef struct fixture {
  calm_context *context;
  arena arena;
  graph_vector graphs;
  char warning[1024];
  int warnings;
} fixture;

static inline void keep_warning(void *payload, calm_log_level level,
                                const char *line) {
  fixture *f = payload;
  assert_int_equal(level, CALM_LOG_WARNING);
  snprintf(f->warning, sizeof f->warning, "%s", line);
  f->warnings++;
}

static inline void fixture_open(fixture *f, const calm_allocator *allocator) {
  memset(f, 0, sizeof *f);
  f->context = calm_context_new(allocator);
  assert_non_null(f->context);
  calm_context_set_log(f->context, keep_warning, f);
  arena_init(&f->arena, f->context);
}

static inline void fixture_clear(fixture *f) {
  for (uint32_t i = 0; i < f->graphs.count; i++) graph_free(&f->graphs.data[i]);
  VECTOR_FREE(f->context, &f->graphs);
  arena_free(&f->arena);
}

/* Fails the test if anything is left. */
static inline void fixture_close(fixture *f) {
  fixture_clear(f);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

static inline calm_status fixture_read(fixture *f, const char *bytes,
                                       size_t length) {
  return graph_text_read(&f->graphs, &f->arena, "t.cg", bytes, length);
}

static inline void fixture_must_read(fixture *f, const char *string) {
  if (fixture_read(f, string, strlen(string)))
    fail_msg("%s", calm_context_message(f->context));
}

/* The text of the graphs that were read; free with calm_text_free. */
static inline char *fixture_write(fixture *f) {
  text t;
  char *out = NULL;
  text_init(&t, f->context);
  graph_text_write(&t, f->graphs.data, f->graphs.count);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  return out;
}

#endif
