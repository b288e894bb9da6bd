/*
 * Published machines and layers, with the mappings and constraints that go with
 * them, from the public cases.
 */
#ifndef CALM_TESTS_PUBLISHED_FIXTURE_H
#define CALM_TESTS_PUBLISHED_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel_constraints.h"
#include "cases.h"

typedef struct bench {
  calm_context *context;
  arena arena;
  accel_arch arch;
  accel_layer layer;
  accel_nest nest;
} bench;

static inline int open_bench(void **state) {
  bench *b = calloc(1, sizeof *b);
  b->context = calm_context_new(NULL);
  arena_init(&b->arena, b->context);
  *state = b;
  return 0;
}

static inline int close_bench(void **state) {
  bench *b = *state;
  arena_free(&b->arena);
  calm_context_free(b->context);
  free(b);
  return 0;
}

static inline accel_yaml *open_case(bench *b, const char *name) {
  char inside[256], path[1024];
  accel_yaml *root;
  snprintf(inside, sizeof inside, "mapping/%s", name);
  if (!cases_path(path, sizeof path, inside)) fail_msg("no %s", name);
  if (accel_yaml_open(&root, path, &b->arena) != CALM_OK)
    fail_msg("%s", calm_context_message(b->context));
  return root;
}

static inline void open_machine(bench *b, const char *arch,
                                const char *problem) {
  arena_free(&b->arena);
  arena_init(&b->arena, b->context);
  if (accel_arch_read(&b->arch, open_case(b, arch), NULL, false, &b->arena) !=
      CALM_OK)
    fail_msg("%s: %s", arch, calm_context_message(b->context));
  if (accel_layer_read(&b->layer, open_case(b, problem), ACCEL_DILATION_LITERAL,
                       &b->arena) != CALM_OK)
    fail_msg("%s: %s", problem, calm_context_message(b->context));
}

/* A file, what it is for, and what is said of it; NULL: it is read. */
typedef struct file_row {
  const char *arch, *problem, *file;
  const char *says; /* NULL: it is read; else part of the message */
} file_row;

#define ISPASS "ispass2020/"

#endif
