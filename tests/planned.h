/*
 * Plans of graphs that are written down in a test, made by the whole pipeline,
 * and what is rendered of them.
 */
#ifndef CALM_TESTS_PLANNED_H
#define CALM_TESTS_PLANNED_H

#include "unit/report_fixture.h"

typedef struct planned {
  calm_context *context;
  calm_model *model;
  calm_plan *plan;
} planned;

/* `options` are names and values in turn, NULL at the end. */
static inline void planned_open(planned *p, const char *graph, const char *path,
                                const char *const *options) {
  calm_options *o;
  p->context = calm_context_new(NULL);
  assert_int_equal(calm_options_new(&o, p->context), CALM_OK);
  for (; options && *options; options += 2)
    assert_int_equal(calm_options_set(o, options[0], options[1]), CALM_OK);
  if (calm_model_parse(&p->model, p->context, graph, strlen(graph), path, o) ||
      calm_plan_make(&p->plan, p->model, o))
    fail_msg("%s", calm_context_message(p->context));
  calm_options_free(o);
}

static inline void planned_close(planned *p) {
  calm_plan_free(p->plan);
  calm_model_free(p->model);
  assert_int_equal(calm_context_bytes(p->context), 0);
  calm_context_free(p->context);
}

/* To be freed with calm_text_free. */
static inline char *planned_text(const planned *p, calm_format format) {
  char *out;
  if (calm_plan_render(&out, p->plan, format, false))
    fail_msg("%s", calm_context_message(p->context));
  return out;
}

static inline json_t *planned_json(const planned *p, calm_format format) {
  char *out = planned_text(p, format);
  json_t *root = parse_json(out);
  calm_text_free(p->context, out);
  return root;
}

/* Each piece is there, in this order; NULL at the end. */
static inline void planned_says(const planned *p, calm_format format,
                                const char *const *pieces) {
  char *out = planned_text(p, format);
  const char *from = out;
  for (; *pieces; pieces++) {
    const char *found = strstr(from, *pieces);
    if (!found) fail_msg("no '%s' from here on: %s", *pieces, from);
    from = found + strlen(*pieces);
  }
  calm_text_free(p->context, out);
}

/* Two graphs, with a constant, a state, a tensor of no bytes, names that C
   cannot tell apart, and scratch in both. */
static const char planned_two_graphs[] =
    "calm-graph 1\n"
    "graph \"main */\"\n"
    "tensor x i8[1,64] input\n"
    "tensor w i8[64,64] const\n"
    "tensor state i8[1,64] variable\n"
    "tensor \"a/b\" i8[1,64]\n"
    "tensor a.b i8[1,64]\n"
    "tensor nothing i8[1,0]\n"
    "tensor y i8[1,64] output\n"
    "op 0_FC fully_connected ( x w - ) -> ( \"a/b\" ) workspace=48\n"
    "op 1_IF if ( \"a/b\" ) -> ( a.b ) body=branch\n"
    "op 2_ADD add ( a.b state ) -> ( y ) workspace=20\n"
    "graph branch\n"
    "tensor p i8[1,64] input\n"
    "tensor q i8[1,64]\n"
    "tensor r i8[1,64] output\n"
    "op 0_RELU relu ( p ) -> ( q )\n"
    "op 1_ADD add ( p q ) -> ( r ) workspace=16\n";

static const char *const planned_for_tflm[] = {"memory", "tflm", NULL};

#endif
