/* What has bytes of its own in an arena, and why the rest has none. */
#include "report/report_blocks.h"

#include "planned.h"

static report_blocks list(const calm_plan *plan, arena *a) {
  report_blocks out;
  assert_int_equal(report_blocks_list(&out, plan, a), CALM_OK);
  return out;
}

static void tensors_come_first_then_scratch(void **state) {
  fixture *f = *state;
  arena scratch;
  arena_init(&scratch, f->context);
  const report_blocks blocks = list(&f->plan, &scratch);
  const char *const names[] = {"x", "a", "b", "odd\xff", "y", "copy"};
  assert_int_equal(blocks.count, 6);
  for (uint32_t i = 0; i < 6; i++) {
    assert_string_equal(blocks.data[i].name, names[i]);
    assert_int_equal(blocks.data[i].scratch, i == 5);
  }
  assert_int_equal(blocks.data[5].first, 1);
  assert_int_equal(blocks.data[5].last, 1);
  assert_int_equal(blocks.data[5].offset, 16);
  arena_free(&scratch);
}

/* The scratch of an operator, which may ask several times, keeps together. */
static void rows_of_scratch_are_per_operator(void **state) {
  planned p;
  arena scratch;
  uint32_t *begin;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  arena_init(&scratch, p.context);
  plan_scratch many[] = {{0, 0, 48, 0},   {0, 0, 16, 64}, {0, 2, 20, 96},
                         {1, 1, 16, 320}, {1, 1, 8, 160}, {1, 1, 4, 176}};
  p.plan->runtime.scratch = many;
  p.plan->runtime.scratch_count = 6;
  const uint32_t entry[] = {0, 2, 2, 3}, branch[] = {3, 3, 6};
  assert_int_equal(report_scratch_rows(&begin, p.plan, 0, &scratch), CALM_OK);
  assert_memory_equal(begin, entry, sizeof entry);
  assert_int_equal(report_scratch_rows(&begin, p.plan, 1, &scratch), CALM_OK);
  assert_memory_equal(begin, branch, sizeof branch);
  assert_int_equal(list(p.plan, &scratch).count, 4 + 3);
  arena_free(&scratch);
  planned_close(&p);
}

static void each_absence_has_its_words(void **state) {
  fixture *f = *state;
  graph_tensor *tensors = f->model.graphs.data[0].tensors.data;
  assert_null(report_tensor_absence(&f->plan, 0));
  f->offsets[0] = UINT64_MAX;
  assert_string_equal(report_tensor_absence(&f->plan, 0),
                      "placed by the runtime, wherever it likes");
  f->lives[0].counted = false;
  assert_string_equal(report_tensor_absence(&f->plan, 0),
                      "touched by no operator");
  f->plan.memory.inputs = INPUTS_EXTERNAL;
  assert_string_equal(report_tensor_absence(&f->plan, 0),
                      "an input that the caller owns, not in the arena");
  tensors[0].flags = CALM_TENSOR_VARIABLE;
  assert_string_equal(report_tensor_absence(&f->plan, 0),
                      "state that the runtime keeps, not in the arena");
  tensors[0].flags = CALM_TENSOR_CONST;
  assert_string_equal(report_tensor_absence(&f->plan, 0),
                      "a constant, not in the arena");
  f->lives[4].counted = false;
  f->plan.memory.outputs = OUTPUTS_EXTERNAL;
  assert_string_equal(report_tensor_absence(&f->plan, 4),
                      "an output that the caller owns, not in the arena");
  f->lives[1].counted = false;
  f->lives[1].storage = 0;
  assert_string_equal(report_tensor_absence(&f->plan, 1),
                      "lies in the bytes of another tensor");
  f->offsets[1] = UINT64_MAX;
  assert_string_equal(report_tensor_absence(&f->plan, 1),
                      "another name for what is not in the arena");
  tensors[1].bytes = 0;
  assert_string_equal(report_tensor_absence(&f->plan, 1), "needs no bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(tensors_come_first_then_scratch),
      cmocka_unit_test(rows_of_scratch_are_per_operator),
      TEST(each_absence_has_its_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
