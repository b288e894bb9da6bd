/*
 * What the tests of the rewrite room's rules share: a graph from text, its
 * sites as lines, and the text of the graph in which all are taken.
 */
#ifndef CALM_TESTS_REWRITE_FIXTURE_H
#define CALM_TESTS_REWRITE_FIXTURE_H

#include "graph_fixture.h"
#include "rewrite/rewrite.h"

typedef struct rewriting {
  fixture f;
  const graph *g;
  rewrite_options options;
  rewrite_sites sites;
  graph_edit edit;
  bool applied;
} rewriting;

/* Only the one rule is on.  `text` goes on behind "graph g". */
static inline void open_rewriting(rewriting *r, rewrite_rule rule,
                                  const char *text) {
  char whole[4096];
  memset(r, 0, sizeof *r);
  fixture_open(&r->f, NULL);
  snprintf(whole, sizeof whole, "calm-graph 1\ngraph g\n%s", text);
  fixture_must_read(&r->f, whole);
  r->g = &r->f.graphs.data[0];
  r->options.rules[rule] = true;
  r->options.accumulator_factor = 1;
}

static inline void must(rewriting *r, calm_status status) {
  if (status) fail_msg("%s", calm_context_message(r->f.context));
}

static inline void find_sites(rewriting *r) {
  must(r, rewrite_find_sites(&r->sites, r->g, &r->options, &r->f.arena));
}

/* "NAME" or "NAME: REFUSAL" per site. */
static inline void expect_sites(rewriting *r, const char *expected) {
  char lines[2048] = "";
  find_sites(r);
  for (uint32_t i = 0; i < r->sites.count; i++) {
    const rewrite_site *site = &r->sites.sites[i];
    const size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%s%s%s\n", site->name,
             site->refusal ? ": " : "", site->refusal ? site->refusal : "");
  }
  assert_string_equal(lines, expected);
}

static inline void apply_all(rewriting *r) {
  bool *taken = arena_calloc(&r->f.arena, r->sites.count, sizeof *taken);
  memset(taken, 1, r->sites.count * sizeof *taken);
  must(r, rewrite_apply(&r->edit, &r->sites, taken, &r->f.arena));
  r->applied = true;
  must(r, rewrite_check(&r->edit, r->f.context));
}

/* The lines of the operators of the graph with all sites taken. */
static inline void expect_ops(rewriting *r, const char *expected) {
  text t;
  char *whole;
  apply_all(r);
  text_init(&t, r->f.context);
  graph_text_write(&t, &r->edit.after, 1);
  assert_int_equal(text_finish(&t, &whole), CALM_OK);
  const char *ops = strstr(whole, "\nop ");
  assert_string_equal(ops ? ops + 1 : "", expected);
  calm_text_free(r->f.context, whole);
}

static inline void close_rewriting(rewriting *r) {
  if (r->applied) graph_edit_free(&r->edit);
  fixture_close(&r->f);
}

/* The tensor of a name in the rewritten graph. */
static inline tensor_id made_tensor_named(const rewriting *r,
                                          const char *name) {
  const graph *g = &r->edit.after;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (!strcmp(g->tensors.data[t].name, name)) return t;
  fail_msg("no tensor is named '%s'", name);
  return CALM_NONE;
}

#endif
