/* Plans as node data of Model Explorer: which key stands for which operator. */
#include "planned.h"

static json_t *explore(const fixture *f) {
  char *out;
  assert_int_equal(
      calm_plan_render(&out, &f->plan, CALM_FORMAT_MODEL_EXPLORER, false),
      CALM_OK);
  json_t *root = parse_json(out);
  calm_text_free(f->context, out);
  return root;
}

static void assert_value(json_t *root, const char *key, json_int_t bytes) {
  json_t *result = json_object_get(json_at(root, "results"), key);
  if (!result) fail_msg("no result for '%s'", key);
  assert_int_equal(integer_at(result, "value"), bytes);
}

static void operators_of_a_text_go_by_name(void **state) {
  fixture *f = *state;
  f->model.format = MODEL_CG;
  json_t *root = explore(f);
  assert_int_equal(json_object_size(json_at(root, "results")), 3);
  assert_value(root, "split", 64);
  assert_value(root, "copy", 64);
  assert_value(root, "add", 48);
  assert_int_equal(json_array_size(json_at(root, "gradient")), 3);
  assert_null(json_object_get(root, "thresholds"));
  json_decref(root);
}

/* The name of "copy"'s output is no UTF-8; the others have good names. */
static void operators_of_tflite_go_by_a_tensor(void **state) {
  fixture *f = *state;
  f->model.format = MODEL_TFLITE;
  f->model.graphs.data[0].ops.data[1].file_index = 1;
  json_t *root = explore(f);
  assert_value(root, "a", 64);
  assert_value(root, "1", 64);
  assert_value(root, "y", 48);
  json_decref(root);
}

/* Names that the reader made up are not in the file, and of a name that was
   there twice nobody knows which is meant. */
static void made_up_names_are_no_keys(void **state) {
  fixture *f = *state;
  graph_tensor *tensors = f->model.graphs.data[0].tensors.data;
  f->model.format = MODEL_TFLITE;
  f->model.graphs.data[0].ops.data[1].file_index = 1;
  f->model.graphs.data[0].ops.data[2].file_index = 2;
  tensors[1].name = "t8";    /* tensor 8 without a name; then b serves */
  tensors[4].file_index = 9; /* y, if there were no y#3 */
  tensors[3].file_index = 3;
  tensors[3].name = "y#3";
  json_t *root = explore(f);
  assert_int_equal(json_object_size(json_at(root, "results")), 3);
  assert_value(root, "b", 64);
  assert_value(root, "1", 64);
  assert_value(root, "2", 48);
  json_decref(root);
}

static void nodes_of_onnx_go_by_name(void **state) {
  fixture *f = *state;
  graph_op *ops = f->model.graphs.data[0].ops.data;
  f->model.format = MODEL_ONNX;
  json_t *root = explore(f);
  assert_int_equal(json_object_size(json_at(root, "results")), 3);
  assert_value(root, "split", 64);
  json_decref(root);
  ops[0].name = "node_1";
  ops[1].name = "1_Relu";
  ops[1].file_index = 1;
  ops[2].name = "2_Relu#2";
  ops[2].file_index = 2;
  root = explore(f);
  assert_int_equal(json_object_size(json_at(root, "results")), 5);
  assert_value(root, "node_1", 64);
  assert_value(root, "1_Relu", 64);
  assert_value(root, "node", 64);
  assert_value(root, "2_Relu#2", 48);
  assert_value(root, "node_2", 48);
  json_decref(root);
}

static void a_budget_divides_the_colors(void **state) {
  fixture *f = *state;
  f->plan.budget_bytes = 50;
  json_t *root = explore(f);
  assert_null(json_object_get(root, "gradient"));
  assert_int_equal(integer_at(root, "thresholds.0.value"), 50);
  assert_int_equal(integer_at(root, "thresholds.1.value"), 64);
  json_decref(root);
  f->plan.budget_bytes = 64;
  root = explore(f);
  assert_int_equal(json_array_size(json_at(root, "thresholds")), 1);
  json_decref(root);
}

static void one_of_several_graphs_is_named(void **state) {
  planned p;
  (void)state;
  planned_open(&p, planned_two_graphs, "two.cg", planned_for_tflm);
  json_t *root = planned_json(&p, CALM_FORMAT_MODEL_EXPLORER);
  assert_int_equal(json_object_size(root), 1);
  json_t *entry = json_object_get(root, "main */");
  assert_non_null(entry);
  assert_value(entry, "1_IF", 336);
  json_decref(root);
  p.model->format = MODEL_TFLITE;
  p.model->graphs.data[0].name = "subgraph0";
  root = planned_json(&p, CALM_FORMAT_MODEL_EXPLORER);
  assert_non_null(json_object_get(root, "main"));
  json_decref(root);
  p.model->format = MODEL_CG;
  planned_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(operators_of_a_text_go_by_name),
      TEST(operators_of_tflite_go_by_a_tensor),
      TEST(made_up_names_are_no_keys),
      TEST(nodes_of_onnx_go_by_name),
      TEST(a_budget_divides_the_colors),
      cmocka_unit_test(one_of_several_graphs_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
