/* The public models: each is read, and its counts and bytes are those that
   others have found (models_index.json). */
#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cases.h"
#include "model/model.h"

static void collect_warning(void *payload, calm_log_level level,
                            const char *line) {
  (void)level;
  bool *conflicts = payload;
  if (strstr(line, "is stored with")) *conflicts = true;
  if (getenv("CALM_TEST_VERBOSE")) print_message("%s\n", line);
}

/* Tensors that some operator touches, that are no weights and no state, and
   that come from somewhere. */
static uint64_t sum_activations(const graph *g) {
  uint64_t sum = 0;
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (tensor->flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE)) continue;
    if (!(tensor->flags & CALM_TENSOR_INPUT) && g->producer[t] == CALM_NONE)
      continue;
    sum += tensor->bytes;
  }
  return sum;
}

static void compare_with_index(calm_model *model, json_t *entry) {
  json_t *ops = json_object_get(entry, "ops");
  assert_int_equal(model->graphs.count, json_array_size(ops));
  for (uint32_t i = 0; i < model->graphs.count; i++)
    assert_int_equal(model->graphs.data[i].ops.count,
                     json_integer_value(json_array_get(ops, i)));
  assert_int_equal(
      sum_activations(&model->graphs.data[0]),
      json_integer_value(json_object_get(entry, "sum_activations")));
  json_t *metadata = json_object_get(entry, "metadata");
  assert_int_equal(model->metadata_count, json_array_size(metadata));
  for (uint32_t i = 0; i < model->metadata_count; i++)
    assert_string_equal(model->metadata_names[i],
                        json_string_value(json_array_get(metadata, i)));
}

static uint32_t count_flag(const calm_model *model, unsigned flag) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < model->graphs.count; i++) {
    const graph *g = &model->graphs.data[i];
    for (tensor_id t = 0; t < g->tensors.count; t++)
      if (g->tensors.data[t].flags & flag) count++;
  }
  return count;
}

static void read_entry(json_t *entry, const char *file) {
  char name[256], path[1024];
  bool conflicts = false;
  calm_model model;
  calm_context *context = calm_context_new(NULL);
  calm_context_set_log(context, collect_warning, &conflicts);
  snprintf(name, sizeof name, "models/%s", file);
  assert_non_null(cases_path(path, sizeof path, name));
  model_init(&model, context, path);
  calm_status status = file_map_open(&model.map, context, path);
  if (!status) status = model_read(&model);
  if (status) fail_msg("%s", calm_context_message(context));
  file_map_close(&model.map); /* nothing refers to it any more */
  compare_with_index(&model, entry);
  assert_int_equal(count_flag(&model, CALM_TENSOR_VARIABLE),
                   json_integer_value(json_object_get(entry, "variable")));
  /* strides, filters and paddings agree with all stored shapes */
  assert_false(conflicts);
  model_clear(&model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static json_t *load_index(void) {
  char path[1024];
  json_error_t error;
  assert_non_null(cases_path(path, sizeof path, "models/models_index.json"));
  json_t *index = json_load_file(path, 0, &error);
  assert_non_null(index);
  return index;
}

static bool is_tflite(const char *file) {
  const char *dot = strrchr(file, '.');
  return dot && !strcmp(dot, ".tflite");
}

static void every_model_is_as_the_index_says(void **state) {
  (void)state;
  CASES_OR_SKIP();
  json_t *index = load_index(), *entry;
  size_t i, models = 0;
  json_array_foreach(index, i, entry) {
    const char *file = json_string_value(json_object_get(entry, "file"));
    if (!is_tflite(file)) continue;
    if (getenv("CALM_TEST_VERBOSE")) print_message("%s\n", file);
    read_entry(entry, file);
    models++;
  }
  print_message("%zu models\n", models);
  assert_true(models > 50);
  json_decref(index);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_is_as_the_index_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
