/* Plans of rewritten graphs where memory or a file is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "calm/calm.h"
#include "scarce.h"
#include "unit/onnx_builder.h"

static const char net[] =
    "calm-graph 1\ngraph g\ntensor x f32[1,8,8,4] input\n"
    "tensor a f32[1,8,8,4]\ntensor b f32[1,8,8,4]\ntensor c f32[1,8,8,8]\n"
    "tensor d f32[1,8,8,8]\ntensor e f32[1,8,8,8]\ntensor k f32[8] const\n"
    "tensor w f32[8,3,3,8] const\ntensor y f32[1,8,8,8] output\n"
    "op a relu ( x ) -> ( a )\nop b tanh ( x ) -> ( b )\n"
    "op cat concat ( a b ) -> ( c ) axis=3\nop m mul ( c k ) -> ( d )\n"
    "op n mul ( d k ) -> ( e )\nop f conv2d ( e w ) -> ( y )\n";

/* Everything a plan of these options takes, but for `left` requests. */
static calm_status plan_with(uint64_t *left, uint64_t granted,
                             const char *const *words) {
  const calm_allocator allocator = {scarce_reallocate, left};
  calm_model *model;
  calm_options *options;
  calm_plan *plan;
  *left = SCARCE_NEVER;
  calm_context *context = calm_context_new(&allocator);
  assert_int_equal(
      calm_model_parse(&model, context, net, strlen(net), "net", NULL),
      CALM_OK);
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  for (; *words; words += 2)
    assert_int_equal(calm_options_set(options, words[0], words[1]), CALM_OK);
  *left = granted;
  const calm_status status = calm_plan_make(&plan, model, options);
  *left = SCARCE_NEVER;
  if (status == CALM_OK) calm_plan_free(plan);
  calm_options_free(options);
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void test_out_of_memory(void **state) {
  (void)state;
  static const char *const rows[][7] = {
      {"rewrite", "auto", "tick-limit", "20000", NULL},
      {"rewrite", "auto", "tick-limit", "20000", "partials", "add-copy", NULL},
      {"rewrite", "n,cat>n,n>f", "tick-limit", "20000", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t left, granted = 0;
    calm_status status;
    while ((status = plan_with(&left, granted, rows[i])) != CALM_OK) {
      assert_int_equal(status, CALM_NO_MEMORY);
      granted++;
    }
    assert_true(granted > 100);
  }
}

/* x, relu(x) -> concat -> tanh. */
static message onnx_net(void) {
  message g = {0}, cat = node("Concat", "x r", "c"),
          last = node("Tanh", "c", "y");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "1,2,4,4");
  put_message(&cat, 5, int_attribute("axis", 1));
  put_message(&g, 1, node("Relu", "x", "r"));
  put_message(&g, 1, cat);
  put_message(&g, 1, last);
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

/* What was parsed has no file that could be rewritten. */
static void test_without_file(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  calm_options *options;
  calm_model *model = NULL;
  calm_plan *plan = NULL;
  message m = onnx_net();
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  assert_int_equal(calm_options_set(options, "rewrite", "all"), CALM_OK);
  if (calm_model_parse(&model, context, m.bytes, m.length, "net", NULL) ||
      calm_plan_make(&plan, model, options))
    fail_msg("%s", calm_context_message(context));
  assert_ptr_not_equal(calm_plan_model(plan), model);
  assert_int_equal(calm_plan_write(plan, "never-written"), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(context), "read from memory"));
  calm_plan_free(plan);
  calm_model_free(model);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_memory),
                                     cmocka_unit_test(test_without_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
