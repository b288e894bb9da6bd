/* Mappings through the public interface, from files of a few lines. */
#ifndef CALM_TESTS_MAP_FIXTURE_H
#define CALM_TESTS_MAP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calm/calm.h"
#include "scarce.h"

static const char map_arch[] =
    "arch:\n"
    "  arithmetic: {instances: 4, word-bits: 16}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: 16, instances: 1, word-bits: 16}\n"
    "  - {name: Memory, technology: DRAM, instances: 1, word-bits: 16}\n";

static const char map_first[] =
    "problem: {shape: gemm_ABZ, M: 4, N: 2, K: 4}\n";
static const char map_second[] =
    "problem: {shape: gemm_ABZ, M: 8, N: 2, K: 6}\n";

typedef struct map_fixture {
  uint64_t allocations_left;
  calm_context *context;
  calm_options *options;
  char folder[32];
  char arch[64], first[64], second[64], other[64], journal[64];
  char heard[8192]; /* by the log */
} map_fixture;

static inline void map_write_file(char *path, const map_fixture *f,
                                  const char *name, const char *content) {
  snprintf(path, 64, "%s/%s", f->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(content, file);
  fclose(file);
}

static inline void map_hear(void *payload, calm_log_level level,
                            const char *line) {
  map_fixture *f = payload;
  const size_t length = strlen(f->heard);
  snprintf(f->heard + length, sizeof f->heard - length, "%d %s\n", (int)level,
           line);
}

static inline int map_set_up(void **state) {
  static map_fixture f;
  const calm_allocator scarce = {scarce_reallocate, &f.allocations_left};
  memset(&f, 0, sizeof f);
  f.allocations_left = SCARCE_NEVER;
  f.context = calm_context_new(&scarce);
  assert_int_equal(calm_options_new(&f.options, f.context), CALM_OK);
  strcpy(f.folder, "/tmp/calm-map-XXXXXX");
  assert_non_null(mkdtemp(f.folder));
  map_write_file(f.arch, &f, "arch.yaml", map_arch);
  map_write_file(f.first, &f, "first.yaml", map_first);
  map_write_file(f.second, &f, "second.yaml", map_second);
  map_write_file(f.other, &f, "other.yaml", "");
  snprintf(f.journal, sizeof f.journal, "%s/journal", f.folder);
  calm_context_set_log(f.context, map_hear, &f);
  *state = &f;
  return 0;
}

static inline int map_tear_down(void **state) {
  map_fixture *f = *state;
  const char *paths[] = {f->arch,  f->first,   f->second,
                         f->other, f->journal, f->folder};
  for (int i = 0; i < 6; i++) remove(paths[i]);
  calm_options_free(f->options);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  return 0;
}

#define MAP_TEST(name) \
  cmocka_unit_test_setup_teardown(name, map_set_up, map_tear_down)

static inline void map_set(map_fixture *f, const char *name,
                           const char *value) {
  assert_int_equal(calm_options_set(f->options, name, value), CALM_OK);
}

/* The first problem, the second, and the first again. */
static inline calm_status map_three(calm_mapping **out, map_fixture *f,
                                    const char *journal) {
  const char *parts[] = {f->arch};
  const char *problems[] = {f->first, f->second, f->first};
  const calm_map_files files = {.arch = parts,
                                .arch_count = 1,
                                .problems = problems,
                                .problem_count = 3,
                                .journal = journal};
  return calm_map(out, f->context, &files, f->options);
}

static inline calm_status map_one(calm_mapping **out, map_fixture *f,
                                  const char *problem) {
  const char *parts[] = {f->arch};
  const calm_map_files files = {
      .arch = parts, .arch_count = 1, .problems = &problem, .problem_count = 1};
  return calm_map(out, f->context, &files, f->options);
}

static inline calm_status map_model(calm_mapping **out, map_fixture *f,
                                    const char *model) {
  const char *parts[] = {f->arch};
  const calm_map_files files = {.arch = parts, .arch_count = 1, .model = model};
  return calm_map(out, f->context, &files, f->options);
}

static inline calm_layer_summary map_layer_at(const calm_mapping *m,
                                              uint32_t layer) {
  calm_layer_summary s;
  assert_true(calm_mapping_layer(&s, m, layer));
  return s;
}

#endif
