/* DenseNet-121, where folding and partitioning help each other: the least peak
   as it is, folded, and with the first block's concats gone as well. */
#include "cases.h"
#include "memory/memory.h"
#include "model/model.h"
#include "rewrite_fixture.h"

static const char NAME[] = "models/onnx_light_densenet121.onnx";

static uint64_t peak_of(const graph *g, calm_context *context,
                        order_method method) {
  arena a;
  memory_problem problem;
  order_options options = order_options_default();
  order_result result;
  limits l;
  arena_init(&a, context);
  limits_init(&l, context);
  options.method = method;
  assert_int_equal(
      memory_problem_build(&problem, g, memory_model_find("ort"), NULL, &a),
      CALM_OK);
  assert_int_equal(order_solve(&result, &problem.order, &options, &a, &l),
                   CALM_OK);
  if (method == ORDER_EXACT)
    assert_int_equal(result.peak_bytes, result.bound_bytes);
  arena_free(&a);
  return result.peak_bytes;
}

/* All sites of the first `groups` groups, and those of none. */
static void rewrite_some(graph_edit *out, const graph *g,
                         const rewrite_options *options, uint32_t groups,
                         arena *a) {
  rewrite_sites sites;
  assert_int_equal(rewrite_find_sites(&sites, g, options, a), CALM_OK);
  bool *taken = arena_calloc(a, sites.count, sizeof *taken);
  for (uint32_t i = 0; i < sites.count; i++) {
    const uint32_t group = sites.sites[i].group;
    assert_null(sites.sites[i].refusal);
    taken[i] = group == CALM_NONE || group < groups;
  }
  assert_int_equal(rewrite_apply(out, &sites, taken, a), CALM_OK);
  assert_int_equal(rewrite_check(out, a->context), CALM_OK);
}

/* Its weights are made by nodes, so this is about a machine on paper. */
static void test_densenet(void **state) {
  (void)state;
  char path[1024];
  CASES_OR_SKIP();
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  assert_non_null(cases_path(path, sizeof path, NAME));
  assert_int_equal(calm_model_open(&model, context, path, NULL), CALM_OK);
  const graph *g = &model->graphs.data[0];
  arena a;
  arena_init(&a, context);
  rewrite_options options = {.abstract = true, .accumulator_factor = 1};
  graph_edit folded, rewritten;
  options.rules[REWRITE_affine] = true;
  assert_int_equal(peak_of(g, context, ORDER_FILE), 8429568);
  rewrite_some(&folded, g, &options, 0, &a);
  assert_int_equal(g->ops.count, 668);
  assert_int_equal(folded.after.ops.count, 367);
  assert_int_equal(peak_of(&folded.after, context, ORDER_FILE), 7225344);
  options.rules[REWRITE_affine] = false;
  options.rules[REWRITE_channels] = options.rules[REWRITE_kernels] = true;
  rewrite_some(&rewritten, &folded.after, &options, 1, &a);
  assert_int_equal(peak_of(&rewritten.after, context, ORDER_EXACT), 5218304);
  graph_edit_free(&rewritten);
  graph_edit_free(&folded);
  arena_free(&a);
  calm_model_free(model);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_densenet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
