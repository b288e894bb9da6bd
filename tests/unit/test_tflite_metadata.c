/* Metadata of .tflite files: the offline plan, control edges, signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "tflite_builder.h"

static const char PLAN[] = "OfflineMemoryAllocation";
static const char EDGES[] = "model_control_dependencies";

/* A chain of no data: four operators, each free to run at any time. */
static build_file *file_with(const build_metadata *metadata, uint32_t count,
                             const build_buffer *buffers,
                             uint32_t buffer_count) {
  static const build_tensor tensors[] = {{.name = "x"}, {.name = "y"}};
  static const build_code codes[] = {{0, NULL}};
  static const build_op ops[4] = {
      {.code = 0}, {.code = 0}, {.code = 0}, {.code = 0}};
  static const build_subgraph subgraphs[] = {
      {.tensors = tensors, .tensor_count = 2, .ops = ops, .op_count = 4},
      {.tensors = tensors, .tensor_count = 2, .ops = ops, .op_count = 4}};
  const build_model model = {.codes = codes,
                             .code_count = 1,
                             .subgraphs = subgraphs,
                             .subgraph_count = 2,
                             .buffers = buffers,
                             .buffer_count = buffer_count,
                             .metadata = metadata,
                             .metadata_count = count};
  return build_tflite(&model, false);
}

static void end(reading *r, build_file *f) {
  assert_int_equal(reading_end(r), 0);
  free(f);
}

/* ---- The offline plan ---------------------------------------------------- */

static const int32_t first_plan[] = {1, 2, 4, 16, 32, 48, -1};
static const int32_t second_plan[] = {0, 0, 4, 0, -1, 64, 128};
static const build_buffer plans[] = {{NULL, 0, 0, 0},
                                     {first_plan, sizeof first_plan, 0, 0},
                                     {second_plan, sizeof second_plan, 0, 0}};

static const model_offline_plan *plan_of(const reading *r) {
  return &r->model.offline;
}

/* The offsets of all subgraphs stand in one array. */
static void a_plan_is_read(void **state) {
  (void)state;
  const build_metadata metadata[] = {{PLAN, 1}};
  build_file *f = file_with(metadata, 1, plans, 3);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_true(plan_of(r)->present);
  assert_null(plan_of(r)->fault);
  assert_int_equal(plan_of(r)->version, 1);
  assert_int_equal(plan_of(r)->subgraph, 2);
  assert_int_equal(plan_of(r)->declared_count, 4);
  assert_int_equal(plan_of(r)->word_count, 4);
  assert_int_equal(plan_of(r)->entries, 1);
  assert_memory_equal(plan_of(r)->offsets, first_plan + 3, 16);
  end(r, f);
}

/* Neither an empty name nor a beginning or a continuation is the name. */
static void names_are_compared_whole(void **state) {
  (void)state;
  static const char *const names[] = {"", NULL, "Offline",
                                      "OfflineMemoryAllocation2",
                                      "offlinememoryallocation"};
  for (size_t i = 0; i < 5; i++) {
    const build_metadata metadata[] = {{names[i], 1}};
    build_file *f = file_with(metadata, 1, plans, 3);
    reading *r = reading_of(f);
    assert_int_equal(r->status, CALM_OK);
    assert_false(plan_of(r)->present);
    assert_int_equal(plan_of(r)->entries, 0);
    assert_int_equal(r->model.metadata_count, 1);
    assert_string_equal(r->model.metadata_names[0], names[i] ? names[i] : "");
    end(r, f);
  }
}

static void the_last_of_several_plans_wins(void **state) {
  (void)state;
  const build_metadata metadata[] = {{PLAN, 1}, {"", 1}, {PLAN, 2}, {"x", 1}};
  build_file *f = file_with(metadata, 4, plans, 3);
  reading *r = reading_of(f);
  assert_int_equal(plan_of(r)->entries, 2);
  assert_memory_equal(plan_of(r)->offsets, second_plan + 3, 16);
  end(r, f);
}

/* What makes the runtime read past an array, or end, is kept for the check. */
static void a_broken_plan_is_recorded(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 9, 16, 32};
  static const int32_t negative[] = {0, 1, -5, 16};
  const struct {
    build_buffer buffer;
    uint32_t index, word_count;
    int32_t declared;
    const char *fault;
  } cases[] = {
      {{NULL, 0, 0, 0}, 0, 0, 0, "its buffer is empty"},
      {{NULL, 0, 0, 0}, 5000, 0, 0, "its buffer does not exist"},
      {{words, 0, 0, 0}, 1, 0, 0, "its buffer is empty"},
      {{words, 8, 0, 0}, 1, 0, 0, "its buffer ends before the offsets"},
      {{words, 12, 0, 0}, 1, 0, 9, NULL},
      {{words, 18, 0, 0}, 1, 1, 9, NULL},
      {{words, 20, 0, 0}, 1, 2, 9, NULL},
      {{negative, 16, 0, 0}, 1, 1, -5, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const build_metadata metadata[] = {{PLAN, cases[i].index}};
    const build_buffer buffers[] = {{NULL, 0, 0, 0}, cases[i].buffer};
    build_file *f = file_with(metadata, 1, buffers, 2);
    reading *r = reading_of(f);
    assert_int_equal(r->status, CALM_OK);
    assert_true(plan_of(r)->present);
    assert_int_equal(plan_of(r)->word_count, cases[i].word_count);
    assert_int_equal(plan_of(r)->declared_count, cases[i].declared);
    if (cases[i].fault)
      assert_string_equal(plan_of(r)->fault, cases[i].fault);
    else
      assert_null(plan_of(r)->fault);
    end(r, f);
  }
}

static void a_plan_may_lie_behind_the_flatbuffer(void **state) {
  (void)state;
  const build_metadata metadata[] = {{PLAN, 1}};
  build_buffer buffers[] = {{NULL, 0, 0, 0}, {NULL, 0, 2, 28}};
  build_file *f = file_with(metadata, 1, buffers, 2);
  size_t buffer = build_child(f, build_root(f), 4, 1);
  build_set(f, buffer, 1, f->length, 8);
  for (int i = 0; i < 7; i++)
    build_put(f, f->length + 4 * (size_t)i, (uint32_t)first_plan[i], 4);
  f->length += 28;
  reading *r = reading_of(f);
  assert_int_equal(plan_of(r)->word_count, 4);
  assert_memory_equal(plan_of(r)->offsets, first_plan + 3, 16);
  end(r, f);
  f = file_with(metadata, 1, buffers, 2);
  build_set(f, build_child(f, build_root(f), 4, 1), 1, f->length - 27, 8);
  r = reading_of(f);
  assert_int_equal(r->status, CALM_BAD_INPUT);
  assert_non_null(strstr(reading_message(r), "28 bytes of data at byte"));
  assert_non_null(strstr(reading_message(r), "(in buffer 1)"));
  end(r, f);
}

static void shipped_plans_are_read(void **state) {
  (void)state;
  CASES_OR_SKIP();
  static const char *const names[] = {"models/cfu_hps_74ops.tflite",
                                      "models/cfu_hps_shared_tiled.tflite",
                                      "models/cfu_hps_2021_tiled.tflite",
                                      "models/tflm_person_detect_vela.tflite"};
  for (size_t i = 0; i < 4; i++) {
    char path[1024];
    file_map map;
    calm_context *context = calm_context_new(NULL);
    assert_non_null(cases_path(path, sizeof path, names[i]));
    assert_int_equal(file_map_open(&map, context, path), CALM_OK);
    calm_context_free(context);
    reading *r = reading_of_bytes(map.bytes, map.length);
    assert_true(plan_of(r)->present);
    assert_int_equal(plan_of(r)->word_count,
                     r->model.graphs.data[0].tensors.count);
    assert_int_equal(plan_of(r)->declared_count, plan_of(r)->word_count);
    assert_int_equal(reading_end(r), 0);
    file_map_close(&map);
  }
}

/* ---- Control dependencies ------------------------------------------------ */

static build_file *file_with_edges(const uint8_t *bytes, uint32_t length) {
  const build_metadata metadata[] = {{EDGES, 1}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {bytes, length, 0, 0}};
  return file_with(metadata, 1, buffers, 2);
}

/* Indices are doubled; version 1; two subgraphs. */
static void control_edges_become_predecessors(void **state) {
  (void)state;
  static const uint8_t bytes[] = {1,    2,          /* version, subgraphs */
                                  3,                /* edges of the first */
                                  0,    4,    2, 4, /* 0 -> 2, 1 -> 2 */
                                  0x84, 0x00, 6,    /* 2 -> 3, long form */
                                  1,    6,    0};   /* 3 -> 0 */
  build_file *f = file_with_edges(bytes, sizeof bytes);
  reading *r = reading_of(f);
  if (r->status) fail_msg("%s", reading_message(r));
  const graph *first = &r->model.graphs.data[0];
  const graph *second = &r->model.graphs.data[1];
  assert_int_equal(first->ops.data[0].after_count, 0);
  assert_int_equal(first->ops.data[2].after_count, 2);
  assert_int_equal(first->ops.data[2].after[0], 0);
  assert_int_equal(first->ops.data[2].after[1], 1);
  assert_int_equal(first->ops.data[3].after_count, 1);
  assert_int_equal(first->ops.data[3].after[0], 2);
  assert_int_equal(first->pred_begin[4], 3);
  assert_int_equal(second->ops.data[0].after[0], 3);
  assert_false(second->file_order_valid);
  end(r, f);
}

static void broken_control_edges_are_refused(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[12];
    uint32_t length;
    const char *what;
  } cases[] = {
      {{1}, 1, "the data ends early"},
      {{1, 1, 1, 0}, 4, "the data ends early"},
      {{1, 1, 0x80}, 3, "the data ends early"},
      {{1, 3, 0, 0, 0}, 5, "fewer subgraphs"},
      {{1, 1, 1, 0, 8}, 5, "names operator 4, but subgraph 0 has 4"},
      {{1, 1, 1, 1, 0}, 5, "names operator -1"},
      {{1, 0xff, 0xff, 0xff, 0xff, 0x7f}, 6, "more than 32 bits"},
      {{1, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 7, "more than 32 bits"},
      {{1, 1, 0xff, 0xff, 0xff, 0xff, 0xf, 0}, 8, "the data ends early"},
      {{1, 1, 2, 0, 2, 2, 0}, 7, "wait for each other"},
      {{1, 1, 1, 2, 2}, 5, "wait for each other"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    build_file *f = file_with_edges(cases[i].bytes, cases[i].length);
    reading *r = reading_of(f);
    assert_int_equal(r->status, CALM_BAD_INPUT);
    if (!strstr(reading_message(r), cases[i].what))
      fail_msg("%zu: %s", i, reading_message(r));
    end(r, f);
  }
}

static void other_control_edges_are_left_out(void **state) {
  (void)state;
  static const uint8_t future[] = {2, 99};
  build_file *f = file_with_edges(future, 2);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_non_null(strstr(r->warnings, "control dependencies have version 2"));
  end(r, f);
  f = file_with_edges(future, 0);
  r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  end(r, f);
}

/* ---- Signatures ---------------------------------------------------------- */

static void signatures_that_name_nothing_are_a_warning(void **state) {
  (void)state;
  static const build_tensor tensors[] = {{.name = "x"}};
  const build_subgraph subgraphs[] = {
      {NULL, tensors, 1, NULL, 0, {NULL, 0}, {NULL, 0}}, {.name = "second"}};
  const build_signature signatures[] = {{0, 0}, {0, 1}, {2, 0}, {1, 0}};
  const build_model model = {.subgraphs = subgraphs,
                             .subgraph_count = 2,
                             .signatures = signatures,
                             .signature_count = 4};
  build_file *f = build_tflite(&model, false);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->warning_count, 3);
  assert_null(strstr(r->warnings, "signature 0"));
  end(r, f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_is_read),
      cmocka_unit_test(names_are_compared_whole),
      cmocka_unit_test(the_last_of_several_plans_wins),
      cmocka_unit_test(a_broken_plan_is_recorded),
      cmocka_unit_test(a_plan_may_lie_behind_the_flatbuffer),
      cmocka_unit_test(shipped_plans_are_read),
      cmocka_unit_test(control_edges_become_predecessors),
      cmocka_unit_test(broken_control_edges_are_refused),
      cmocka_unit_test(other_control_edges_are_left_out),
      cmocka_unit_test(signatures_that_name_nothing_are_a_warning)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
