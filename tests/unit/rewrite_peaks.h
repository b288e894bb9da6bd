/*
 * Graphs in the text form, their sites, what becomes of them (which is checked
 * each time), and the least peak of that under the memory model "plain".
 */
#ifndef CALM_TESTS_REWRITE_PEAKS_H
#define CALM_TESTS_REWRITE_PEAKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "cases.h"
#include "graph/graph_text.h"
#include "memory/memory.h"
#include "rewrite/rewrite.h"

typedef struct rewrite_fixture {
  calm_context *context;
  arena a;
  graph_vector graphs;
  graph *g;
  rewrite_options options;
  rewrite_sites sites;
  bool *taken;
  graph_edit edit;
  bool applied;
} rewrite_fixture;

/* All rules, kernels that accumulate, a machine on paper. */
static inline void rewrite_open(rewrite_fixture *x, const char *text) {
  memset(x, 0, sizeof *x);
  x->context = calm_context_new(NULL);
  arena_init(&x->a, x->context);
  if (graph_text_read(&x->graphs, &x->a, "test", text, strlen(text)))
    fail_msg("%s", calm_context_message(x->context));
  x->g = &x->graphs.data[0];
  for (uint32_t i = 0; i < REWRITE_RULES; i++) x->options.rules[i] = true;
  x->options.abstract = true;
  x->options.accumulator_factor = 1;
}

/* A graph of "calm-graph 1" and a first line of its own. */
static inline void rewrite_open_lines(rewrite_fixture *x, const char *lines) {
  char *text = malloc(strlen(lines) + 64);
  sprintf(text, "calm-graph 1\ngraph g\n%s", lines);
  rewrite_open(x, text);
  free(text);
}

static inline char *rewrite_read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  char *text = calloc(1, (size_t)size + 1);
  rewind(file);
  if (fread(text, 1, (size_t)size, file) != (size_t)size) fail_msg("%s", path);
  fclose(file);
  return text;
}

static inline void rewrite_open_file(rewrite_fixture *x, const char *path) {
  char *text = rewrite_read_text(path);
  rewrite_open(x, text);
  free(text);
}

static inline void rewrite_release(rewrite_fixture *x) {
  if (x->applied) graph_edit_free(&x->edit);
  x->applied = false;
}

static inline void rewrite_close(rewrite_fixture *x) {
  rewrite_release(x);
  for (uint32_t i = 0; i < x->graphs.count; i++) graph_free(&x->graphs.data[i]);
  VECTOR_FREE(x->context, &x->graphs);
  arena_free(&x->a);
  assert_int_equal(calm_context_bytes(x->context), 0);
  calm_context_free(x->context);
}

static inline void rewrite_find(rewrite_fixture *x) {
  if (rewrite_find_sites(&x->sites, x->g, &x->options, &x->a))
    fail_msg("%s", calm_context_message(x->context));
  x->taken = arena_calloc(&x->a, x->sites.count, sizeof *x->taken);
}

static inline void rewrite_do(rewrite_fixture *x) {
  rewrite_release(x);
  if (rewrite_apply(&x->edit, &x->sites, x->taken, &x->a))
    fail_msg("%s", calm_context_message(x->context));
  x->applied = true;
  if (rewrite_check(&x->edit, x->context))
    fail_msg("%s", calm_context_message(x->context));
}

static inline void rewrite_do_all(rewrite_fixture *x) {
  rewrite_find(x);
  for (uint32_t i = 0; i < x->sites.count; i++) x->taken[i] = true;
  rewrite_do(x);
}

static inline const rewrite_site *rewrite_site_named(const rewrite_fixture *x,
                                                     const char *name) {
  for (uint32_t i = 0; i < x->sites.count; i++)
    if (!strcmp(x->sites.sites[i].name, name)) return &x->sites.sites[i];
  fail_msg("no site '%s'", name);
  return NULL;
}

/* How many sites can be rewritten. */
static inline uint32_t rewrite_count(const rewrite_fixture *x) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < x->sites.count; i++)
    count += !x->sites.sites[i].refusal;
  return count;
}

static inline uint64_t rewrite_peak_of(const graph *g, arena *a) {
  memory_problem problem;
  order_result result;
  limits l;
  const order_options options = order_options_default();
  limits_init(&l, a->context);
  if (memory_problem_build(&problem, g, memory_model_find("plain"), NULL, a) ||
      order_solve(&result, &problem.order, &options, a, &l))
    fail_msg("%s", calm_context_message(a->context));
  assert_int_equal(result.outcome, CALM_OPTIMAL);
  return result.peak_bytes;
}

static inline uint64_t rewrite_peak(rewrite_fixture *x) {
  return rewrite_peak_of(&x->edit.after, &x->a);
}

/* The rewritten graph as a text, without its first lines: compared whole. */
static inline void rewrite_gives(rewrite_fixture *x, const char *expected) {
  text t;
  char *out;
  text_init(&t, x->context);
  graph_text_write(&t, &x->edit.after, 1);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  const char *body = strstr(out, "graph g\n");
  assert_string_equal(body ? body + 8 : out, expected);
  calm_text_free(x->context, out);
}

#endif
