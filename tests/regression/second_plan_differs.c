/*
 * Planning the same object again failed or gave another answer, because
 * something of the first time was left in it: tensorflow/tensorflow PR 26248
 * (operators resized twice, "erased_allocs_count != 1 (0 != 1)").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "calm/calm.h"

static const char network[] =
    "calm-graph 1\n"
    "graph main\n"
    "tensor x 40 input\ntensor s 8 variable\n"
    "tensor a 30\ntensor b 25\ntensor c 17\ntensor d 17\ntensor v 17\n"
    "tensor ab 55\ntensor y 9 output\n"
    "op one conv2d ( x s ) -> ( a ) workspace=12\n"
    "op two conv2d ( x ) -> ( b )\n"
    "op three conv2d ( a ) -> ( c )\n"
    "op four relu ( c ) -> ( d ) body=inner\n"
    "op five concat ( a b ) -> ( ab )\n"
    "op six reshape ( d ) -> ( v )\n"
    "op end opaque ( ab v ) -> ( y )\n"
    "graph inner\ntensor p 5 input\ntensor q 33 output\n"
    "op in opaque ( p ) -> ( q )\n";

typedef struct setting {
  const char *options[7][2];
} setting;

/* Neighbours differ in what they place and where. */
static const setting settings[] = {
    {{{NULL, NULL}}},
    {{{"memory", "serenity"}, {"inplace", "elementwise"}}},
    {{{"memory", "tflm-default"}, {"order", "dp"}, {"layout", "size"}}},
    {{{"inputs", "external"}, {"outputs", "external"}, {"order", "file"}}},
    {{{"variables", "whole-run"}, {"align", "64"}, {"layout", "greedy"}}},
    {{{"tick-limit", "1"}, {"order", "exact"}}},
    {{{"concat", "elide"}, {"seed", "7"}, {"budget", "1"}}}};
enum { SETTINGS = sizeof settings / sizeof *settings };

static calm_model *open_model(calm_context *context) {
  calm_model *model = NULL;
  if (calm_model_parse(&model, context, network, strlen(network), "net.cg",
                       NULL))
    fail_msg("%s", calm_context_message(context));
  return model;
}

static calm_options *options_of(calm_context *context, const setting *s) {
  calm_options *options;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  for (size_t i = 0; i < 7 && s->options[i][0]; i++)
    assert_int_equal(
        calm_options_set(options, s->options[i][0], s->options[i][1]), CALM_OK);
  return options;
}

/* Everything that a plan says, to be freed with calm_text_free. */
static char *plan(calm_context *context, calm_model *model,
                  const setting *setting) {
  char *json = NULL;
  calm_plan *made = NULL;
  calm_options *options = options_of(context, setting);
  if (calm_plan_make(&made, model, options) ||
      calm_plan_render(&json, made, CALM_FORMAT_JSON, false))
    fail_msg("%s", calm_context_message(context));
  calm_plan_free(made);
  calm_options_free(options);
  return json;
}

/* What a model says that nobody has planned before. */
static char *plan_afresh(calm_context *context, const setting *setting) {
  calm_model *model = open_model(context);
  char *json = plan(context, model, setting);
  calm_model_free(model);
  return json;
}

/* Looking at a model, judging it and dumping it must leave nothing either. */
static void look(calm_context *context, calm_model *model) {
  char *text;
  calm_inspection *inspection;
  calm_verdict *verdict;
  assert_int_equal(calm_inspect(&inspection, model, NULL), CALM_OK);
  assert_int_equal(calm_check(&verdict, model, NULL, NULL), CALM_OK);
  assert_int_equal(calm_model_dump(&text, model), CALM_OK);
  calm_text_free(context, text);
  calm_verdict_free(verdict);
  calm_inspection_free(inspection);
}

/* Each setting after each other one, on one model. */
static void every_plan_is_as_the_first(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  calm_model *model = open_model(context);
  char *first[SETTINGS];
  for (size_t i = 0; i < SETTINGS; i++)
    first[i] = plan_afresh(context, &settings[i]);
  for (size_t i = 0; i < SETTINGS; i++)
    for (size_t k = 0; k < SETTINGS; k++) {
      char *before = plan(context, model, &settings[i]);
      if ((i + k) % 3 == 0) look(context, model);
      char *again = plan(context, model, &settings[k]);
      assert_string_equal(before, first[i]);
      assert_string_equal(again, first[k]);
      calm_text_free(context, before);
      calm_text_free(context, again);
    }
  for (size_t i = 0; i < SETTINGS; i++) calm_text_free(context, first[i]);
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* A plan is the caller's own: a later one does not change it. */
static void an_older_plan_stays_as_it_is(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  calm_model *model = open_model(context);
  calm_plan *plans[SETTINGS];
  char *texts[SETTINGS];
  for (size_t i = 0; i < SETTINGS; i++) {
    calm_options *options = options_of(context, &settings[i]);
    assert_int_equal(calm_plan_make(&plans[i], model, options), CALM_OK);
    assert_int_equal(
        calm_plan_render(&texts[i], plans[i], CALM_FORMAT_LONG, false),
        CALM_OK);
    calm_options_free(options);
  }
  for (size_t i = 0; i < SETTINGS; i++) {
    char *again;
    assert_int_equal(
        calm_plan_render(&again, plans[i], CALM_FORMAT_LONG, false), CALM_OK);
    assert_string_equal(again, texts[i]);
    calm_text_free(context, again);
    calm_text_free(context, texts[i]);
    calm_plan_free(plans[i]);
  }
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_plan_is_as_the_first),
      cmocka_unit_test(an_older_plan_stays_as_it_is)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
