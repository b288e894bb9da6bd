/* The public models, written: as they are, in random orders, with plans, and
   without.  What is read from the result is what was meant, and all else is
   what it was. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cases.h"
#include "model/tflite_parts.h"
#include "written_model.h"

typedef struct opened {
  calm_context *context;
  calm_model model;
  arena a;
} opened;

static opened *open_model(const char *path, const written *bytes) {
  opened *o = calloc(1, sizeof *o);
  assert_non_null(o);
  o->context = calm_context_new(NULL);
  model_init(&o->model, o->context, path);
  arena_init(&o->a, o->context);
  calm_status status = CALM_OK;
  if (bytes)
    o->model.map = (file_map){bytes->bytes, bytes->length};
  else
    status = file_map_open(&o->model.map, o->context, path);
  if (!status) status = model_read(&o->model);
  if (status) fail_msg("%s", calm_context_message(o->context));
  return o;
}

static void close_model(opened *o, bool mapped) {
  if (mapped) file_map_close(&o->model.map);
  arena_free(&o->a);
  model_clear(&o->model);
  assert_int_equal(calm_context_bytes(o->context), 0);
  calm_context_free(o->context);
  free(o);
}

/* ---- All but the order and the plan is what it was ----------------------- */

static tflite_reader tables_of(const calm_model *model) {
  tflite_reader r = {
      .file = {NULL, model->path, model->map.bytes, model->map.length}};
  tflite_find_tables(&r);
  return r;
}

/* The data of each buffer of the old file are in the new one. */
static void expect_same_buffers(const calm_model *before,
                                const calm_model *after, uint32_t plan) {
  tflite_reader old = tables_of(before), new = tables_of(after);
  assert_true(new.buffers.count >= old.buffers.count);
  for (uint32_t i = 0; i < old.buffers.count; i++) {
    const tflite_bytes a = tflite_buffer(&old, i), b = tflite_buffer(&new, i);
    if (i == plan) continue;
    assert_int_equal(a.size, b.size);
    if (a.size)
      assert_memory_equal(before->map.bytes + a.position,
                          after->map.bytes + b.position, a.size);
  }
}

static uint32_t plan_buffer(const calm_model *model) {
  tflite_reader r = tables_of(model);
  flat_vector entries =
      flat_vector_of(&r.file, r.root, TFLITE_model_metadata, 4);
  for (uint32_t i = entries.count; i-- > 0;) {
    const flat_table entry = flat_table_at(&r.file, entries, i);
    if (tflite_is_called(flat_string_of(&r.file, entry, TFLITE_metadata_name),
                         TFLITE_PLAN_NAME))
      return flat_u32(&r.file, entry, TFLITE_metadata_buffer, 0);
  }
  return CALM_NONE;
}

static void expect_same_tensors(const graph *a, const graph *b) {
  assert_int_equal(a->tensors.count, b->tensors.count);
  for (tensor_id t = 0; t < a->tensors.count; t++) {
    assert_string_equal(a->tensors.data[t].name, b->tensors.data[t].name);
    assert_int_equal(a->tensors.data[t].bytes, b->tensors.data[t].bytes);
    assert_int_equal(a->tensors.data[t].flags, b->tensors.data[t].flags);
  }
}

static void expect_permuted(const graph *before, const graph *after,
                            const op_id *sequence) {
  assert_int_equal(before->ops.count, after->ops.count);
  assert_true(after->file_order_valid);
  for (uint32_t i = 0; i < before->ops.count; i++) {
    const graph_op *a = &before->ops.data[sequence[i]];
    const graph_op *b = &after->ops.data[i];
    assert_string_equal(a->kind_name, b->kind_name);
    assert_int_equal(a->input_count, b->input_count);
    assert_memory_equal(a->inputs, b->inputs, 4 * (size_t)a->input_count);
    assert_int_equal(a->output_count, b->output_count);
    assert_memory_equal(a->outputs, b->outputs, 4 * (size_t)a->output_count);
    assert_int_equal(a->after_count, b->after_count);
    assert_int_equal(a->attribute_count, b->attribute_count);
  }
}

/* Offsets as they were meant; constants and variables have none. */
static void expect_plan(const calm_model *after, const model_patch *patch) {
  uint32_t next = 0;
  assert_true(after->offline.present);
  assert_null(after->offline.fault);
  assert_int_equal(after->offline.entries, 1);
  for (uint32_t i = 0; i < after->graphs.count; i++) {
    const graph *g = &after->graphs.data[i];
    for (tensor_id t = 0; t < g->tensors.count; t++, next++) {
      const unsigned flags = g->tensors.data[t].flags;
      const bool none = flags & (CALM_TENSOR_CONST | CALM_TENSOR_VARIABLE);
      assert_true(next < after->offline.word_count);
      assert_int_equal(after->offline.offsets[next],
                       none ? -1 : (int64_t)patch->offsets[i][t]);
    }
  }
  assert_int_equal(after->offline.declared_count, next);
}

static uint32_t other_entries(const calm_model *model) {
  return model->metadata_count - model->offline.entries;
}

static void expect_rewritten(const calm_model *before, const written *w,
                             const model_patch *patch) {
  opened *o = open_model(before->path, w);
  assert_int_equal(o->model.graphs.count, before->graphs.count);
  for (uint32_t i = 0; i < before->graphs.count; i++) {
    expect_same_tensors(&before->graphs.data[i], &o->model.graphs.data[i]);
    expect_permuted(&before->graphs.data[i], &o->model.graphs.data[i],
                    patch->sequences[i]);
  }
  expect_same_buffers(before, &o->model, plan_buffer(before));
  assert_int_equal(other_entries(before), other_entries(&o->model));
  assert_int_equal(before->weight_bytes, o->model.weight_bytes);
  if (patch->plan == MODEL_PLAN_WRITE)
    expect_plan(&o->model, patch);
  else
    assert_false(o->model.offline.present);
  close_model(o, false);
}

/* ---- Each of them -------------------------------------------------------- */

static void try_model(const char *path) {
  opened *o = open_model(path, NULL);
  random_state random = random_from_seed(7);
  written same = written_model(&o->model, NULL);
  assert_int_equal(same.status, CALM_OK);
  assert_int_equal(same.length, o->model.map.length);
  assert_memory_equal(same.bytes, o->model.map.bytes, same.length);
  free(same.bytes);
  for (int round = 0; round < 6; round++) {
    const model_plan_action plan =
        round % 2 ? MODEL_PLAN_STRIP : MODEL_PLAN_WRITE;
    const model_patch patch = random_patch(&o->model, &o->a, plan, &random);
    written w = written_model(&o->model, &patch);
    assert_int_equal(w.status, CALM_OK);
    if (plan == MODEL_PLAN_STRIP)
      assert_int_equal(w.length, o->model.map.length);
    assert_int_equal((w.length - o->model.map.length) % 16, 0);
    expect_rewritten(&o->model, &w, &patch);
    free(w.bytes);
  }
  close_model(o, true);
}

/* What was written is written again: the second plan takes the place of the
   first one, and the file does not grow. */
static void try_model_twice(const char *path) {
  opened *o = open_model(path, NULL);
  random_state random = random_from_seed(8);
  model_patch patch = random_patch(&o->model, &o->a, MODEL_PLAN_WRITE, &random);
  written first = written_model(&o->model, &patch);
  opened *again = open_model(path, &first);
  patch = random_patch(&again->model, &again->a, MODEL_PLAN_WRITE, &random);
  written second = written_model(&again->model, &patch);
  assert_int_equal(second.length, first.length);
  expect_rewritten(&again->model, &second, &patch);
  free(first.bytes);
  free(second.bytes);
  close_model(again, false);
  close_model(o, true);
}

static void for_every_model(void (*try)(const char *path)) {
  char directory[1024], path[2048];
  assert_non_null(cases_path(directory, sizeof directory, "models"));
  DIR *list = opendir(directory);
  assert_non_null(list);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(list));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".tflite")) continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (getenv("CALM_TEST_VERBOSE")) print_message("%s\n", path);
    try(path);
    count++;
  }
  closedir(list);
  print_message("%d models\n", count);
  assert_true(count > 50);
}

static void only_order_and_plan_change(void **state) {
  (void)state;
  CASES_OR_SKIP();
  for_every_model(try_model);
}

static void a_plan_replaces_the_one_before(void **state) {
  (void)state;
  CASES_OR_SKIP();
  for_every_model(try_model_twice);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_order_and_plan_change),
      cmocka_unit_test(a_plan_replaces_the_one_before)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
