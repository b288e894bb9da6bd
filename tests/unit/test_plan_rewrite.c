/* Plans of rewritten graphs through the public interface: what they say, how
   they end, and that lack of memory anywhere on the way leaves nothing. */
#include "planned.h"
#include "scarce.h"

static const char net[] =
    "calm-graph 1\n"
    "graph net\n"
    "tensor x 10 input\n"
    "tensor a 40\n"
    "tensor b 40\n"
    "tensor c 40\n"
    "tensor d 40\n"
    "tensor cat 160\n"
    "tensor r 160\n"
    "tensor y 20\n"
    "tensor same 20\n"
    "tensor z 20 output\n"
    "op a conv2d ( x ) -> ( a )\n"
    "op b conv2d ( x ) -> ( b )\n"
    "op c conv2d ( x ) -> ( c )\n"
    "op d conv2d ( x ) -> ( d )\n"
    "op cat concat ( a b c d ) -> ( cat )\n"
    "op relu relu ( cat ) -> ( r )\n"
    "op y conv2d ( r ) -> ( y )\n"
    "op same identity ( y ) -> ( same )\n"
    "op z conv2d ( same ) -> ( z )\n";

static const char *const rewritten[] = {"rewrite", "auto", NULL};

static const plan_site *find_site(const calm_plan *plan, const char *name) {
  for (uint32_t i = 0; i < plan->rewriting.site_count; i++)
    if (!strcmp(plan->rewriting.sites[i].name, name))
      return &plan->rewriting.sites[i];
  fail_msg("no site %s", name);
  return NULL;
}

/* Two rounds: the no-op first, then the concat with what it opens. */
static void test_rounds(void **state) {
  (void)state;
  planned p;
  planned_open(&p, net, "net.cg", rewritten);
  assert_int_equal(p.plan->round_count, 2);
  assert_int_equal(calm_plan_summary_of(p.plan)->baseline_peak_bytes, 320);
  assert_int_equal(calm_plan_summary_of(p.plan)->peak_bytes, 110);
  assert_non_null(p.plan->rewriting.proof);
  assert_null(find_site(p.plan, "same")->reason);
  assert_null(find_site(p.plan, "cat>relu")->reason);
  assert_null(find_site(p.plan, "relu>y")->reason);
  assert_true(find_site(p.plan, "relu>y")->bytes_together > 0);
  planned_close(&p);
}

/* Ids are those of the model that the plan speaks of. */
static void test_model_of_plan(void **state) {
  (void)state;
  planned p;
  planned_open(&p, net, "net.cg", rewritten);
  const calm_model *model = calm_plan_model(p.plan);
  assert_ptr_not_equal(model, p.model);
  assert_true(calm_model_op_count(model) > calm_model_op_count(p.model));
  for (uint32_t step = 0; step < calm_model_op_count(model); step++)
    assert_non_null(calm_model_op_name(model, calm_plan_op_at(p.plan, step)));
  assert_int_equal(calm_plan_op_at(p.plan, calm_model_op_count(model)),
                   CALM_NONE);
  planned_close(&p);
  planned_open(&p, net, "net.cg", NULL);
  assert_ptr_equal(calm_plan_model(p.plan), p.model);
  planned_close(&p);
}

static void test_words(void **state) {
  (void)state;
  static const char *const words[] = {"auto: ", "are rewritten", "proved",
                                      "relu>y", NULL};
  planned p;
  planned_open(&p, net, "net.cg", rewritten);
  planned_says(&p, CALM_FORMAT_TABLE, words);
  planned_says(&p, CALM_FORMAT_LONG, words);
  planned_close(&p);
}

static calm_status try_all(calm_context *context, const char *sites) {
  calm_options *o = NULL;
  calm_model *model = NULL;
  calm_plan *plan = NULL;
  char *out = NULL;
  calm_status status = calm_options_new(&o, context);
  if (!status) status = calm_options_set(o, "rewrite", sites);
  if (!status) status = calm_options_set(o, "partials", "add-copy");
  if (!status)
    status =
        calm_model_parse(&model, context, net, sizeof net - 1, "net.cg", o);
  if (!status) status = calm_plan_make(&plan, model, o);
  if (!status) status = calm_plan_render(&out, plan, CALM_FORMAT_LONG, false);
  if (!status) calm_text_free(context, out);
  calm_plan_free(plan);
  calm_model_free(model);
  calm_options_free(o);
  return status;
}

static uint64_t grants_needed(const char *sites) {
  for (uint64_t grants = 0;; grants++) {
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    assert_non_null(context);
    left = grants;
    const calm_status status = try_all(context, sites);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    if (status == CALM_OK) return grants;
    assert_int_equal(status, CALM_NO_MEMORY);
    if (grants > 2000) grants += 96; /* the searches are many and alike */
  }
}

static void test_lack_of_memory(void **state) {
  (void)state;
  assert_true(grants_needed("auto") > 400);
  assert_true(grants_needed("cat,same") > 100);
}

static void test_misuse_leaves_nothing(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  assert_int_equal(try_all(context, "no-such-site"), CALM_MISUSE);
  assert_int_equal(try_all(context, ",,"), CALM_MISUSE);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rounds),
      cmocka_unit_test(test_model_of_plan),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_lack_of_memory),
      cmocka_unit_test(test_misuse_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
