/*
 * Any model that can be read can be planned with its sites rewritten, all or
 * those that auto finds with hardly any effort, however partial sums execute.
 * The library checks each rewritten graph and each plan itself and says
 * CALM_INTERNAL where one does not hold: a finding.  Auto is never worse than
 * none, twice the same gives the same text, and nothing is left behind.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_OPS = 120, MOST_TENSORS = 600 };

/* The plan of some options, names and values in turn; NULL where that is
   refused. */
static calm_plan *plan(calm_context *context, calm_model *model,
                       const char *const *words) {
  calm_options *options;
  calm_plan *out = NULL;
  demand(calm_options_new(&options, context) == CALM_OK);
  demand(calm_options_set(options, "tick-limit", "3000") == CALM_OK);
  for (; *words; words += 2)
    demand(calm_options_set(options, words[0], words[1]) == CALM_OK);
  const calm_status status = calm_plan_make(&out, model, options);
  demand(status != CALM_INTERNAL);
  demand(status == CALM_OK || *calm_context_message(context) != '\0');
  calm_options_free(options);
  return status ? NULL : out;
}

static char *render(calm_context *context, const calm_plan *plan) {
  char *out;
  demand(calm_plan_render(&out, plan, CALM_FORMAT_JSON, false) == CALM_OK);
  demand(*calm_context_message(context) == '\0' || out);
  return out;
}

static void try_twice(calm_context *context, calm_model *model,
                      const char *const *words) {
  calm_plan *one = plan(context, model, words);
  calm_plan *two = plan(context, model, words);
  demand(!one == !two);
  if (!one) return;
  char *first = render(context, one), *second = render(context, two);
  demand(!strcmp(first, second));
  calm_text_free(context, first);
  calm_text_free(context, second);
  calm_plan_free(one);
  calm_plan_free(two);
}

static void try_auto(calm_context *context, calm_model *model,
                     const char *partials) {
  calm_plan *as_is =
      plan(context, model, (const char *[]){"memory", "plain", NULL});
  calm_plan *now = plan(context, model,
                        (const char *[]){"memory", "plain", "rewrite", "auto",
                                         "partials", partials, NULL});
  demand(!as_is || now);
  if (now && as_is)
    demand(calm_plan_summary_of(now)->arena_bytes <=
           calm_plan_summary_of(as_is)->arena_bytes);
  if (now) calm_plan_free(now);
  if (as_is) calm_plan_free(as_is);
}

static void try_model(calm_context *context, calm_model *model) {
  static const char *const partials[] = {"accumulate", "add-inplace",
                                         "add-copy"};
  static const char *const memories[] = {"auto", "plain", "ort", "litert",
                                         "tflm"};
  for (int i = 0; i < 3; i++) {
    try_auto(context, model, partials[i]);
    for (int k = 0; k < 5; k++)
      try_twice(context, model,
                (const char *[]){"order", "greedy", "layout", "greedy",
                                 "rewrite", "all", "memory", memories[k],
                                 "partials", partials[i], NULL});
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  if (!context) return 0;
  if (calm_model_parse(&model, context, data, size, "fuzz", NULL) == CALM_OK) {
    if (is_small(model, MOST_OPS, MOST_TENSORS)) try_model(context, model);
    calm_model_free(model);
  }
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
