/*
 * A machine and a layer for tests of mappings and constraints: DRAM, a global
 * buffer, and 16 (4 x 4) processing elements with a buffer and four multipliers
 * in a row each; a convolution R3 S3 P8 Q4 C6 K16 N1.  Texts are read in it,
 * what is logged is kept.
 */
#ifndef CALM_TESTS_NEST_FIXTURE_H
#define CALM_TESTS_NEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel/accel_constraints.h"

enum { PE, GB, DRAM, LEVELS };
enum { R, S, P, Q, C, K, N, DIMENSIONS };

typedef struct nest_fixture {
  calm_context *context;
  arena arena;
  accel_level levels[LEVELS];
  accel_arch arch;
  accel_layer layer;
  accel_nest nest;
  char log[2048];
} nest_fixture;

static inline void nest_keep_line(void *payload, calm_log_level level,
                                  const char *line) {
  nest_fixture *f = payload;
  (void)level;
  strncat(f->log, line, sizeof f->log - strlen(f->log) - 2);
  strcat(f->log, "\n");
}

static inline accel_level nest_level(const char *name, uint64_t x, uint64_t y,
                                     uint64_t entries) {
  return (accel_level){.name = name,
                       .class_name = "",
                       .entries = entries,
                       .capacity_words = entries,
                       .multiple_buffering = 1,
                       .word_bits = 16,
                       .block_words = 1,
                       .cluster = 1,
                       .instances = x * y,
                       .mesh_x = x,
                       .mesh_y = y,
                       .reduction_supported = true};
}

static inline int nest_open(void **state) {
  nest_fixture *f = calloc(1, sizeof *f);
  f->context = calm_context_new(NULL);
  calm_context_set_log(f->context, nest_keep_line, f);
  arena_init(&f->arena, f->context);
  f->levels[PE] = nest_level("PEBuffer", 4, 4, 512);
  f->levels[GB] = nest_level("GlobalBuffer", 1, 1, 8192);
  f->levels[DRAM] = nest_level("DRAM", 1, 1, ACCEL_UNLIMITED);
  f->arch = (accel_arch){
      .name = "test",
      .compute = {.name = "MAC", .instances = 64, .mesh_x = 16, .mesh_y = 4},
      .levels = f->levels,
      .level_count = LEVELS};
  const accel_convolution c = {3, 3, 8, 4, 6, 16, 1, 1, 1, 1, 1, 1};
  assert_int_equal(accel_layer_convolution(&f->layer, "test", &c, &f->arena),
                   CALM_OK);
  *state = f;
  return 0;
}

static inline int nest_close(void **state) {
  nest_fixture *f = *state;
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  free(f);
  return 0;
}

static inline accel_yaml *nest_yaml(nest_fixture *f, const char *text) {
  accel_yaml *root;
  f->log[0] = 0;
  if (accel_yaml_parse(&root, "t.yaml", text, strlen(text), &f->arena))
    fail_msg("%s", calm_context_message(f->context));
  return root;
}

static inline calm_status nest_read(nest_fixture *f, const char *text) {
  return accel_nest_read(&f->nest, nest_yaml(f, text), &f->arch, &f->layer,
                         &f->arena);
}

/* The message, if there is one, has this text in it. */
#define NEST_SAYS(f, words)                                 \
  do {                                                      \
    const char *said_ = calm_context_message((f)->context); \
    if (!strstr(said_, (words)))                            \
      fail_msg("'%s' is not in '%s'", (words), said_);      \
  } while (0)

/* The loops as "gb:P4 C2, gb/x:K4 ...", innermost first. */
static inline const char *nest_loops(const nest_fixture *f,
                                     const accel_nest *nest) {
  static char all[4096];
  all[0] = 0;
  for (uint32_t i = 0; i < nest->loop_count; i++) {
    const accel_loop *l = &nest->loops[i];
    static const char *const kinds[] = {"x", "y", "t"};
    char word[64];
    snprintf(word, sizeof word, "%s%u%s:%s%llu", i ? " " : "", l->level,
             kinds[l->kind], f->layer.dimensions[l->dimension].name,
             (unsigned long long)l->bound);
    strcat(all, word);
    if (l->residual != l->bound) {
      snprintf(word, sizeof word, "/%llu", (unsigned long long)l->residual);
      strcat(all, word);
    }
  }
  return all;
}

#endif
