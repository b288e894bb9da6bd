/* The figures of an inspection, without rendering. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "calm/calm.h"

static void figures_need_no_rendering(void **state) {
  (void)state;
  static const char net[] =
      "calm-graph 1\ngraph g\n"
      "tensor x 10 input\ntensor w 7 const\ntensor y 20\ntensor z 5 output\n"
      "op a opaque ( x w ) -> ( y )\nop b opaque ( y ) -> ( z )\n";
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  calm_inspection *inspection;
  assert_int_equal(
      calm_model_parse(&model, context, net, strlen(net), "net", NULL),
      CALM_OK);
  assert_int_equal(calm_inspect(&inspection, model, NULL), CALM_OK);
  const calm_inspection_summary *s = calm_inspection_summary_of(inspection);
  assert_int_equal(s->op_count, 2);
  assert_int_equal(s->tensor_count, 4);
  assert_int_equal(s->activation_bytes, 35);
  assert_int_equal(s->weight_bytes, 7);
  assert_int_equal(s->peak_bytes, 30);
  assert_int_equal(s->peak_op, 0);
  assert_int_equal(s->floor_bytes, 30);
  calm_inspection_free(inspection);
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_need_no_rendering)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
