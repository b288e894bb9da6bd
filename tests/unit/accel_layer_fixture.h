/*
 * What the tests of layers share: a context that counts its memory, the last
 * warning, and layers from a text.
 */
#ifndef CALM_TESTS_ACCEL_LAYER_FIXTURE_H
#define CALM_TESTS_ACCEL_LAYER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "accel/accel_layer.h"

typedef struct layer_fixture {
  calm_context *context;
  arena arena;
  accel_layer layer;
  char warning[1024];
  uint32_t warnings;
} layer_fixture;

static inline void keep_layer_warning(void *payload, calm_log_level level,
                                      const char *line) {
  layer_fixture *f = payload;
  assert_int_equal(level, CALM_LOG_WARNING);
  snprintf(f->warning, sizeof f->warning, "%s", line);
  f->warnings++;
}

static inline void layer_fixture_open(layer_fixture *f,
                                      const calm_allocator *allocator) {
  memset(f, 0, sizeof *f);
  f->context = calm_context_new(allocator);
  assert_non_null(f->context);
  calm_context_set_log(f->context, keep_layer_warning, f);
  arena_init(&f->arena, f->context);
}

/* Fails the test if anything is left. */
static inline void layer_fixture_close(layer_fixture *f) {
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

static inline calm_status layer_fixture_read(layer_fixture *f, const char *text,
                                             accel_dilation_zero zero) {
  accel_yaml *root;
  const calm_status status =
      accel_yaml_parse(&root, "dir/some.yaml", text, strlen(text), &f->arena);
  if (status != CALM_OK) return status;
  return accel_layer_read(&f->layer, root, zero, &f->arena);
}

static inline void layer_fixture_must_read(layer_fixture *f, const char *text) {
  if (layer_fixture_read(f, text, ACCEL_DILATION_LITERAL))
    fail_msg("%s", calm_context_message(f->context));
}

/* The bound of a dimension of the layer that was read last. */
static inline uint64_t layer_fixture_bound(const layer_fixture *f,
                                           const char *name) {
  const uint32_t d = accel_layer_dimension(&f->layer, name);
  assert_int_not_equal(d, CALM_NONE);
  return f->layer.dimensions[d].bound;
}

/* Words of a tensor of the layer that was read last. */
static inline uint64_t layer_fixture_words(const layer_fixture *f,
                                           const char *name) {
  uint64_t extents[ACCEL_MAX_DIMENSIONS];
  const uint32_t t = accel_layer_tensor(&f->layer, name);
  assert_int_not_equal(t, CALM_NONE);
  for (uint32_t d = 0; d < f->layer.dimension_count; d++)
    extents[d] = f->layer.dimensions[d].bound;
  return accel_tensor_words(&f->layer.tensors[t], extents);
}

#endif
