/*
 * Weights were taken for activations, or refused because they are no inputs:
 * onnx/onnx #3180 (initializers that are no inputs), microsoft/onnxruntime PR
 * 3449 (that are), the light models of the onnx package (made by nodes).  Each
 * way to hold the same weight leads to the same plan.
 */
#include "unit/onnx_builder.h"

#include "calm/calm.h"

typedef enum way {
  INITIALIZER,
  LISTED,
  LISTED_BEFORE_IR_4,
  CONSTANT,
  CONSTANT_OF_SHAPE,
  COPIED,
  TRANSPOSED,
  DEQUANTIZED,
  BEHIND_ITS_READER,
  WAYS
} way;

static void add_constant(message *g, const char *name) {
  message n = node("Constant", "", name);
  put_message(&n, 5, tensor_attribute("value", weight("", FLOAT, "8,8")));
  put_message(g, 1, n);
}

static void add_source(message *g, way w) {
  switch (w) {
    case LISTED:
    case LISTED_BEFORE_IR_4: add_input(g, "w", FLOAT, "8,8");
    /* and it is an initializer */
    /* fall through */
    case INITIALIZER: add_weight(g, weight("w", FLOAT, "8,8")); break;
    case CONSTANT: add_constant(g, "w"); break;
    case CONSTANT_OF_SHAPE:
      add_weight(g, integers("s", "8,8"));
      add_node(g, "ConstantOfShape", "s", "w");
      break;
    case COPIED:
      add_constant(g, "c");
      add_node(g, "Identity", "c", "w");
      break;
    case TRANSPOSED:
      add_constant(g, "c");
      add_node(g, "Transpose", "c", "w");
      break;
    case DEQUANTIZED:
      add_weight(g, weight("q", INT8, "8,8"));
      add_weight(g, weight("scale", FLOAT, ""));
      add_node(g, "DequantizeLinear", "q scale", "w");
      break;
    default: break;
  }
}

static message network(way w) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "8,8");
  add_source(&g, w);
  add_named(&g, "relu", "Relu", "x", "a");
  add_named(&g, "product", "MatMul", "a w", "b");
  add_named(&g, "sum", "Add", "b w", "y");
  if (w == BEHIND_ITS_READER) add_constant(&g, "w");
  add_output(&g, "y", FLOAT, "8,8");
  return model_of(g, w == LISTED_BEFORE_IR_4 ? 3 : 8, 13);
}

static void each_way_gives_the_same_plan(void **state) {
  (void)state;
  for (way w = 0; w < WAYS; w++) {
    message m = network(w);
    calm_context *context = calm_context_new(NULL);
    calm_options *options;
    calm_model *model = NULL;
    calm_plan *plan = NULL;
    assert_int_equal(calm_options_new(&options, context), CALM_OK);
    assert_int_equal(calm_options_set(options, "memory", "plain"), CALM_OK);
    if (calm_model_parse(&model, context, m.bytes, m.length, "net", NULL) ||
        calm_plan_make(&plan, model, options))
      fail_msg("way %d: %s", (int)w, calm_context_message(context));
    assert_int_equal(calm_model_op_count(model), 3);
    assert_int_equal(calm_plan_summary_of(plan)->peak_bytes, 512);
    assert_int_equal(calm_plan_summary_of(plan)->baseline_peak_bytes, 512);
    calm_plan_free(plan);
    calm_model_free(model);
    calm_options_free(options);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
    free(m.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_way_gives_the_same_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
