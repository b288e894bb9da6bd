/* Plans of tiled graphs through the public interface: regions, the front and
   what each step bought, and that lack of memory anywhere on the way leaves
   nothing. */
#include "planned.h"
#include "scarce.h"

static const char net[] =
    "calm-graph 1\n"
    "graph net\n"
    "tensor x i8[1,16,16,2] input\n"
    "tensor w1 i8[16,3,3,2] const\n"
    "tensor a i8[1,16,16,16]\n"
    "tensor w2 i8[1,3,3,16] const\n"
    "tensor b i8[1,8,8,16]\n"
    "tensor w3 i8[4,1,1,16] const\n"
    "tensor c i8[1,8,8,4]\n"
    "tensor d i8[1,8,8,4] output\n"
    "op conv conv2d ( x w1 - ) -> ( a ) stride=1,1 pad=same\n"
    "op depth depthwise_conv2d ( a w2 - ) -> ( b ) stride=2,2 pad=same\n"
    "op point conv2d ( b w3 - ) -> ( c ) stride=1,1 pad=same\n"
    "op relu relu ( c ) -> ( d )\n";

/* Two strips of the first two operators in tiles that somebody cut by hand. */
static const char by_hand[] =
    "calm-graph 1\n"
    "graph by_hand\n"
    "tensor x i8[1,16,16,2] input\n"
    "tensor begin1 i32[4] const\n"
    "tensor size i32[4] const\n"
    "tensor begin2 i32[4] const\n"
    "tensor w i8[8,1,1,2] const\n"
    "tensor top i8[1,8,16,2]\n"
    "tensor bottom i8[1,8,16,2]\n"
    "tensor made1 i8[1,8,16,8]\n"
    "tensor made2 i8[1,8,16,8]\n"
    "tensor y i8[1,16,16,8] output\n"
    "op cut1 slice ( x begin1 size ) -> ( top ) begin=0,0,0,0 size=1,8,16,2\n"
    "op conv1 conv2d ( top w - ) -> ( made1 ) stride=1,1 pad=same\n"
    "op cut2 slice ( x begin2 size ) -> ( bottom ) begin=0,8,0,0 "
    "size=1,8,16,2\n"
    "op conv2 conv2d ( bottom w - ) -> ( made2 ) stride=1,1 pad=same\n"
    "op join concat ( made1 made2 ) -> ( y ) axis=1\n";

static void expect_tiles(const planned *p, uint32_t index, const char *tiles) {
  char *words;
  assert_int_equal(calm_plan_tiles(&words, p->plan, index), CALM_OK);
  assert_string_equal(words, tiles);
  calm_text_free(p->context, words);
}

static void test_given(void **state) {
  (void)state;
  static const char *const options[] = {"tile", "0-2:4:cache", NULL};
  planned p;
  calm_tiling point;
  planned_open(&p, net, "net.cg", options);
  const plan_tiling *t = &p.plan->tiling;
  assert_string_equal(t->mode, "given");
  assert_null(t->reason);
  assert_int_equal(t->macs, t->plan_macs);
  assert_int_equal(t->step_count, 3);
  assert_true(t->steps[2].head_bytes < t->steps[0].head_bytes);
  assert_int_equal(t->steps[2].head_bytes,
                   calm_plan_summary_of(p.plan)->arena_bytes);
  assert_true(calm_plan_tiling(&point, p.plan, 0));
  assert_true(point.chosen);
  assert_int_equal(point.head_bytes, t->steps[2].head_bytes);
  expect_tiles(&p, 0, "0-2:4:cache");
  expect_tiles(&p, 1, "none");
  assert_false(calm_plan_tiling(&point, p.plan, 2));
  planned_close(&p);
}

/* The plan is of the tiled graph; what it is compared with is the original. */
static void test_models(void **state) {
  (void)state;
  static const char *const options[] = {"tile", "0-2:2:pad", NULL};
  planned p;
  planned_open(&p, net, "net.cg", options);
  assert_ptr_equal(p.plan->original, p.model);
  assert_ptr_not_equal(calm_plan_model(p.plan), p.model);
  assert_ptr_equal(p.plan->tiling.of, &p.model->graphs.data[0]);
  assert_int_equal(calm_plan_summary_of(p.plan)->baseline_arena_bytes,
                   4096 + 1024);
  planned_close(&p);
}

static void test_search(void **state) {
  (void)state;
  static const char *const options[] = {
      "tile", "auto", "tick-limit", "3000000", "max-extra-macs", "0.5%", NULL};
  planned p;
  calm_tiling point, last = {0};
  uint32_t chosen = 0;
  planned_open(&p, net, "net.cg", options);
  const plan_tiling *t = &p.plan->tiling;
  assert_true(t->choice.judged > 10);
  assert_true(calm_plan_summary_of(p.plan)->arena_bytes < 4096);
  assert_true((t->plan_macs - t->macs) * 200 <= t->macs);
  for (uint32_t i = 0; calm_plan_tiling(&point, p.plan, i); i++) {
    assert_true(point.head_bytes >= last.head_bytes);
    chosen += point.chosen;
    last = point;
  }
  assert_int_equal(chosen, 1);
  planned_close(&p);
}

static void test_budget_that_holds(void **state) {
  (void)state;
  static const char *const options[] = {"tile", "auto", "budget", "5120", NULL};
  planned p;
  planned_open(&p, net, "net.cg", options);
  assert_ptr_equal(calm_plan_model(p.plan), p.model);
  assert_string_equal(p.plan->tiling.reason, "the budget holds without tiles");
  assert_true(calm_plan_summary_of(p.plan)->within_budget);
  assert_int_equal(calm_plan_summary_of(p.plan)->needed_bytes, 5120);
  planned_close(&p);
}

static void test_folds(void **state) {
  (void)state;
  static const char *const options[] = {"tile", "auto", "tick-limit", "1000000",
                                        NULL};
  static const char *const kept[] = {
      "tile", "auto", "tick-limit", "1000000", "fold-tiles", "off", NULL};
  planned p;
  planned_open(&p, by_hand, "hand.cg", options);
  assert_int_equal(p.plan->tiling.folded, 1);
  assert_int_equal(p.plan->tiling.of->ops.count, 1);
  planned_close(&p);
  planned_open(&p, by_hand, "hand.cg", kept);
  assert_int_equal(p.plan->tiling.folded, 0);
  assert_int_equal(p.plan->tiling.of->ops.count, 5);
  planned_close(&p);
}

static void test_rewriting_first(void **state) {
  (void)state;
  static const char *const options[] = {"effort", "max", "tick-limit",
                                        "1000000", NULL};
  planned p;
  planned_open(&p, net, "net.cg", options);
  assert_string_equal(p.plan->rewriting.mode, "auto");
  assert_string_equal(p.plan->tiling.mode, "auto");
  planned_close(&p);
}

static calm_status plan_scarcely(uint64_t grants, const char *graph) {
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&allocator);
  calm_options *options;
  calm_model *model;
  calm_plan *plan = NULL;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  assert_int_equal(calm_options_set(options, "effort", "max"), CALM_OK);
  assert_int_equal(calm_options_set(options, "tick-limit", "20000"), CALM_OK);
  assert_int_equal(calm_model_parse(&model, context, graph, strlen(graph),
                                    "net.cg", options),
                   CALM_OK);
  left = grants;
  const calm_status status = calm_plan_make(&plan, model, options);
  left = SCARCE_NEVER;
  calm_plan_free(plan);
  calm_model_free(model);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void test_scarce_memory(void **state) {
  (void)state;
  for (uint64_t grants = 0;; grants += 1 + grants / 40) {
    const calm_status status = plan_scarcely(grants, by_hand);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_given),
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_budget_that_holds),
      cmocka_unit_test(test_folds),
      cmocka_unit_test(test_rewriting_first),
      cmocka_unit_test(test_scarce_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
