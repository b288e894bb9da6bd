/* What the writer does to metadata, buffers and unknown fields, on built
   files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "model/tflite_parts.h"
#include "scarce.h"
#include "tflite_builder.h"
#include "written_model.h"

static const char PLAN[] = "OfflineMemoryAllocation";
static const char EDGES[] = "model_control_dependencies";

enum { OPS = 4, TENSORS = 5, SUBGRAPHS = 2 };

/* x feeds four operators that may run in any order; buffer 1 is a weight. */
static build_model model_with(const build_metadata *metadata, uint32_t count,
                              const build_buffer *buffers,
                              uint32_t buffer_count) {
  static const int32_t shape[] = {16};
  static const build_tensor tensors[TENSORS] = {
      {.name = "x", .shape = {shape, 1}},
      {.name = "a", .shape = {shape, 1}},
      {.name = "b", .shape = {shape, 1}},
      {.name = "c", .shape = {shape, 1}},
      {.name = "s", .shape = {shape, 1}, .variable = true}};
  static const build_code codes[] = {{0, NULL}, {101, NULL}, {109, NULL}};
  static const int32_t x[] = {0}, a[] = {1}, b[] = {2}, c[] = {3}, s[] = {4};
  static const build_op ops[OPS] = {
      {.code = 1, .inputs = {x, 1}, .outputs = {a, 1}},
      {.code = 2, .inputs = {x, 1}, .outputs = {b, 1}},
      {.code = 1, .inputs = {x, 1}, .outputs = {c, 1}},
      {.code = 1, .inputs = {s, 1}, .outputs = {NULL, 0}}};
  static const build_subgraph subgraphs[SUBGRAPHS] = {{.tensors = tensors,
                                                       .tensor_count = TENSORS,
                                                       .ops = ops,
                                                       .op_count = OPS,
                                                       .inputs = {x, 1},
                                                       .outputs = {a, 1}},
                                                      {.name = "other",
                                                       .tensors = tensors,
                                                       .tensor_count = TENSORS,
                                                       .ops = ops,
                                                       .op_count = OPS,
                                                       .inputs = {x, 1}}};
  return (build_model){.codes = codes,
                       .code_count = 3,
                       .subgraphs = subgraphs,
                       .subgraph_count = SUBGRAPHS,
                       .buffers = buffers,
                       .buffer_count = buffer_count,
                       .metadata = metadata,
                       .metadata_count = count};
}

/* A file, what was read from it, and what was written under a patch. */
typedef struct trial {
  build_file *file;
  reading *before, *after;
  written w;
  arena a;
  model_patch patch;
} trial;

static const op_id reversed[OPS] = {3, 2, 1, 0};
static const uint64_t places[TENSORS] = {0, 64, 128, 192, 256};

static trial *begin(build_file *file) {
  trial *t = calloc(1, sizeof *t);
  assert_non_null(t);
  t->file = file;
  t->before = reading_of(file);
  assert_int_equal(t->before->status, CALM_OK);
  arena_init(&t->a, t->before->context);
  t->patch = identity_patch(&t->before->model, &t->a, MODEL_PLAN_WRITE);
  for (uint32_t i = 0; i < SUBGRAPHS; i++)
    memcpy((uint64_t *)(uintptr_t)t->patch.offsets[i], places, sizeof places);
  return t;
}

static void reorder(trial *t, uint32_t subgraph, const op_id *sequence) {
  memcpy((op_id *)(uintptr_t)t->patch.sequences[subgraph], sequence,
         OPS * sizeof *sequence);
}

static void write_it(trial *t, model_plan_action plan) {
  t->patch.plan = plan;
  t->w = written_model(&t->before->model, &t->patch);
  assert_int_equal(t->w.status, CALM_OK);
  t->after = reading_of_bytes(t->w.bytes, t->w.length);
  if (t->after->status) fail_msg("%s", reading_message(t->after));
}

static void end(trial *t) {
  arena_free(&t->a);
  free(t->w.bytes);
  if (t->after) assert_int_equal(reading_end(t->after), 0);
  assert_int_equal(reading_end(t->before), 0);
  free(t->file);
  free(t);
}

static build_file *file_with(const build_metadata *metadata, uint32_t count,
                             const build_buffer *buffers,
                             uint32_t buffer_count) {
  const build_model m = model_with(metadata, count, buffers, buffer_count);
  return build_tflite(&m, false);
}

static tflite_reader tables_of(const trial *t) {
  tflite_reader r = {.file = {NULL, "written", t->w.bytes, t->w.length}};
  tflite_find_tables(&r);
  return r;
}

/* The bytes of a buffer of the written file. */
static const uint8_t *data_of(const trial *t, uint32_t buffer, size_t *size) {
  tflite_reader r = tables_of(t);
  const tflite_bytes bytes = tflite_buffer(&r, buffer);
  *size = (size_t)bytes.size;
  return t->w.bytes + bytes.position;
}

static void expect_plan(const trial *t) {
  static const int32_t wanted[] = {0, 64, 128, 192, -1, 0, 64, 128, 192, -1};
  const model_offline_plan *plan = &t->after->model.offline;
  assert_true(plan->present);
  assert_null(plan->fault);
  assert_int_equal(plan->entries, 1);
  assert_int_equal(plan->declared_count, 2 * TENSORS);
  assert_true(plan->word_count >= 2 * TENSORS);
  assert_memory_equal(plan->offsets, wanted, sizeof wanted);
}

/* Without anything that refers to buffers. */
static const build_buffer no_buffers[] = {{NULL, 0, 0, 0}};

/* ---- The plan ------------------------------------------------------------ */

static void a_plan_is_put_in_front(void **state) {
  (void)state;
  static const uint8_t weight[] = {1, 2, 3};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {weight, 3, 0, 0}};
  const build_metadata metadata[] = {{"min_runtime_version", 1}};
  trial *t = begin(file_with(metadata, 1, buffers, 2));
  write_it(t, MODEL_PLAN_WRITE);
  expect_plan(t);
  assert_int_equal(t->after->warning_count, t->before->warning_count);
  const size_t prefix = t->w.length - t->file->length;
  assert_int_equal(prefix % 16, 0);
  assert_memory_equal(t->w.bytes + prefix, t->file->bytes, t->file->length);
  assert_memory_equal(t->w.bytes + 4, "TFL3", 4);
  assert_int_equal(t->after->model.metadata_count, 2);
  assert_string_equal(t->after->model.metadata_names[0], "min_runtime_version");
  size_t size;
  assert_memory_equal(data_of(t, 1, &size), weight, 3);
  assert_int_equal(size, 3);
  assert_int_equal((size_t)(data_of(t, 2, &size) - t->w.bytes) % 16, 0);
  end(t);
}

static void a_plan_with_room_is_overwritten(void **state) {
  (void)state;
  static const int32_t old[] = {7, 8, 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 77, 88};
  const build_metadata metadata[] = {{PLAN, 1}, {"x", 2}};
  const build_buffer buffers[] = {
      {NULL, 0, 0, 0}, {old, sizeof old, 0, 0}, {old, 4, 0, 0}};
  trial *t = begin(file_with(metadata, 2, buffers, 3));
  reorder(t, 0, reversed);
  write_it(t, MODEL_PLAN_WRITE);
  assert_int_equal(t->w.length, t->file->length);
  expect_plan(t);
  assert_int_equal(t->after->model.offline.version, 7);
  assert_int_equal(t->after->model.offline.subgraph, 8);
  assert_int_equal(t->after->model.offline.word_count, 12);
  assert_int_equal(t->after->model.offline.offsets[11], 88);
  end(t);
}

/* Too short, missing, empty, shared with a weight or with another entry, or not
   the only one: the old entries go, a new one comes. */
static void a_plan_without_room_is_replaced(void **state) {
  (void)state;
  static const int32_t old[13] = {0, 0, 10};
  const build_buffer whole = {old, sizeof old, 0, 0};
  const build_buffer part = {old, 20, 0, 0}, none = {NULL, 0, 0, 0};
  const struct {
    build_metadata metadata[3];
    uint32_t count, kept;
    build_buffer buffer;
  } cases[] = {{{{PLAN, 1}}, 1, 0, part},
               {{{PLAN, 1}}, 1, 0, none},
               {{{PLAN, 0}}, 1, 0, whole},
               {{{PLAN, 900}}, 1, 0, whole},
               {{{PLAN, 1}, {PLAN, 1}}, 2, 0, whole},
               {{{PLAN, 1}, {"y", 1}}, 2, 1, whole},
               {{{"z", 0}, {PLAN, 1}, {PLAN, 2}}, 3, 1, whole}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const build_buffer buffers[] = {none, cases[i].buffer, whole};
    trial *t = begin(file_with(cases[i].metadata, cases[i].count, buffers, 3));
    reorder(t, 1, reversed);
    write_it(t, MODEL_PLAN_WRITE);
    assert_true(t->w.length > t->file->length);
    expect_plan(t);
    assert_int_equal(t->after->model.metadata_count, cases[i].kept + 1);
    end(t);
  }
}

static void a_file_without_buffers_gets_an_empty_first_one(void **state) {
  (void)state;
  trial *t = begin(file_with(NULL, 0, NULL, 0));
  write_it(t, MODEL_PLAN_WRITE);
  expect_plan(t);
  size_t size;
  data_of(t, 0, &size);
  assert_int_equal(size, 0);
  assert_int_equal(t->after->model.weight_bytes, 0);
  end(t);
}

static void a_plan_is_stripped_where_it_is(void **state) {
  (void)state;
  static const int32_t old[13] = {0, 0, 10};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {old, sizeof old, 0, 0}};
  const build_metadata metadata[] = {
      {PLAN, 1}, {"kept", 0}, {PLAN, 0}, {"OfflineMemoryAllocationX", 0}};
  trial *t = begin(file_with(metadata, 4, buffers, 2));
  reorder(t, 0, reversed);
  write_it(t, MODEL_PLAN_STRIP);
  assert_int_equal(t->w.length, t->file->length);
  assert_false(t->after->model.offline.present);
  assert_int_equal(t->after->model.metadata_count, 2);
  assert_string_equal(t->after->model.metadata_names[0], "kept");
  assert_string_equal(t->after->model.metadata_names[1],
                      "OfflineMemoryAllocationX");
  end(t);
}

static void an_offset_beyond_what_a_plan_can_say_is_refused(void **state) {
  (void)state;
  trial *t = begin(file_with(NULL, 0, no_buffers, 1));
  ((uint64_t *)(uintptr_t)t->patch.offsets[1])[2] = UINT64_C(1) << 31;
  t->w = written_model(&t->before->model, &t->patch);
  assert_int_equal(t->w.status, CALM_UNSUPPORTED);
  assert_non_null(strstr(reading_message(t->before), "'b' lies at offset"));
  end(t);
}

/* ---- Operators and what names them --------------------------------------- */

static void operators_are_permuted_in_every_subgraph(void **state) {
  (void)state;
  trial *t = begin(file_with(NULL, 0, no_buffers, 1));
  const op_id sequence[] = {1, 3, 0, 2};
  reorder(t, 0, sequence);
  reorder(t, 1, reversed);
  write_it(t, MODEL_PLAN_STRIP);
  assert_int_equal(t->w.length, t->file->length);
  for (uint32_t i = 0; i < OPS; i++)
    for (uint32_t s = 0; s < SUBGRAPHS; s++) {
      const graph_op *a =
          &t->before->model.graphs.data[s].ops.data[t->patch.sequences[s][i]];
      const graph_op *b = &t->after->model.graphs.data[s].ops.data[i];
      assert_string_equal(a->kind_name, b->kind_name);
      assert_memory_equal(a->inputs, b->inputs, 4);
      assert_int_equal(a->output_count, b->output_count);
      if (a->output_count) assert_memory_equal(a->outputs, b->outputs, 4);
    }
  end(t);
}

/* Let subgraph 0 use the list of operators of subgraph 1. */
static build_file *file_with_one_list(void) {
  build_file *f = file_with(NULL, 0, no_buffers, 1);
  tflite_reader r = {.file = {NULL, "shared", f->bytes, f->length}};
  tflite_find_tables(&r);
  const size_t place =
      (size_t)flat_place(&r.file, flat_table_at(&r.file, r.subgraphs, 0),
                         TFLITE_subgraph_operators);
  const size_t list =
      flat_table_of(&r.file, flat_table_at(&r.file, r.subgraphs, 1),
                    TFLITE_subgraph_operators);
  assert_true(list > place);
  for (unsigned i = 0; i < 4; i++)
    f->bytes[place + i] = (uint8_t)((list - place) >> 8 * i);
  return f;
}

static void a_list_of_two_subgraphs_has_one_order(void **state) {
  (void)state;
  trial *t = begin(file_with_one_list());
  reorder(t, 1, reversed);
  t->w = written_model(&t->before->model, &t->patch);
  assert_int_equal(t->w.status, CALM_UNSUPPORTED);
  assert_non_null(strstr(reading_message(t->before),
                         "subgraphs 1 and 0 share their list of operators"));
  reorder(t, 0, reversed);
  write_it(t, MODEL_PLAN_STRIP);
  for (uint32_t s = 0; s < SUBGRAPHS; s++)
    assert_int_equal(t->after->model.graphs.data[s].ops.data[0].inputs[0], 4);
  end(t);
}

static build_file *file_with_edges(const uint8_t *bytes, uint32_t length) {
  const build_metadata metadata[] = {{EDGES, 1}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {bytes, length, 0, 0}};
  return file_with(metadata, 1, buffers, 2);
}

static void expect_edge(const trial *t, uint32_t subgraph, op_id from,
                        op_id to) {
  const graph_op *op = &t->after->model.graphs.data[subgraph].ops.data[to];
  assert_int_equal(op->after_count, 1);
  assert_int_equal(op->after[0], from);
}

/* Version 1, two lists: 0 -> 2 and 1 -> 2. */
static void control_edges_follow_their_operators(void **state) {
  (void)state;
  static const uint8_t edges[] = {1, 2, 1, 0, 4, 1, 2, 4};
  trial *t = begin(file_with_edges(edges, sizeof edges));
  const op_id sequence[] = {3, 0, 1, 2}, other[] = {1, 2, 3, 0};
  reorder(t, 0, sequence);
  reorder(t, 1, other);
  write_it(t, MODEL_PLAN_STRIP);
  assert_int_equal(t->w.length, t->file->length);
  size_t size;
  static const uint8_t wanted[] = {1, 2, 1, 2, 6, 1, 0, 2};
  assert_memory_equal(data_of(t, 1, &size), wanted, sizeof wanted);
  expect_edge(t, 0, 1, 3);
  expect_edge(t, 1, 0, 1);
  end(t);
}

/* Numbers may have been written with more bytes than needed: then the data
   become shorter. */
static void control_edges_may_take_less_room(void **state) {
  (void)state;
  static const uint8_t edges[] = {1, 2, 1, 0x80, 0x00, 4, 0};
  trial *t = begin(file_with_edges(edges, sizeof edges));
  const op_id sequence[] = {3, 0, 1, 2};
  reorder(t, 0, sequence);
  write_it(t, MODEL_PLAN_STRIP);
  assert_int_equal(t->w.length, t->file->length);
  size_t size;
  static const uint8_t wanted[] = {1, 2, 1, 2, 6, 0};
  assert_memory_equal(data_of(t, 1, &size), wanted, sizeof wanted);
  assert_int_equal(size, sizeof wanted);
  expect_edge(t, 0, 1, 3);
  end(t);
}

/* Operator 64 needs two bytes where operator 1 needed one. */
static void control_edges_may_take_more_room(void **state) {
  (void)state;
  enum { MANY = 70 };
  static const uint8_t edges[] = {1, 1, 1, 0, 2};
  static build_op ops[MANY];
  static const build_tensor tensors[] = {{.name = "x"}};
  static const build_code codes[] = {{101, NULL}};
  const build_subgraph subgraph = {
      .tensors = tensors, .tensor_count = 1, .ops = ops, .op_count = MANY};
  const build_metadata metadata[] = {{EDGES, 1}, {"kept", 1}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {edges, sizeof edges, 0, 0}};
  const build_model m = {.codes = codes,
                         .code_count = 1,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = buffers,
                         .buffer_count = 2,
                         .metadata = metadata,
                         .metadata_count = 2};
  op_id sequence[MANY];
  for (op_id u = 0; u < MANY; u++) sequence[u] = (u + 2) % MANY;
  trial *t = calloc(1, sizeof *t);
  t->file = build_tflite(&m, false);
  t->before = reading_of(t->file);
  arena_init(&t->a, t->before->context);
  t->patch = identity_patch(&t->before->model, &t->a, MODEL_PLAN_STRIP);
  memcpy((op_id *)(uintptr_t)t->patch.sequences[0], sequence, sizeof sequence);
  write_it(t, MODEL_PLAN_STRIP);
  assert_true(t->w.length > t->file->length);
  assert_int_equal(t->after->model.metadata_count, 2);
  assert_string_equal(t->after->model.metadata_names[0], "kept");
  expect_edge(t, 0, MANY - 2, MANY - 1);
  end(t);
}

static void edges_and_plan_share_one_prefix(void **state) {
  (void)state;
  static const uint8_t edges[] = {1, 1, 1, 0, 4, 0, 0};
  const build_metadata metadata[] = {{EDGES, 1}, {EDGES, 1}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {edges, sizeof edges, 0, 0}};
  trial *t = begin(file_with(metadata, 2, buffers, 2));
  const op_id sequence[] = {3, 0, 1, 2};
  reorder(t, 0, sequence);
  write_it(t, MODEL_PLAN_WRITE);
  expect_plan(t);
  expect_edge(t, 0, 1, 3);
  assert_int_equal(t->after->model.metadata_count, 2);
  end(t);
}

/* ---- Places in the file, unknown fields ---------------------------------- */

/* T4: data behind the FlatBuffer, and custom options there. */
static void places_in_the_file_move_with_the_prefix(void **state) {
  (void)state;
  static const char behind[] = "behind the FlatBuffer";
  const build_buffer buffers[] = {
      {NULL, 0, 0, 0}, {NULL, 0, 2, sizeof behind}, {NULL, 0, 1, 5}};
  build_file *f = file_with(NULL, 0, buffers, 3);
  build_set(f, build_child(f, build_root(f), 4, 1), 1, f->length, 8);
  build_set(f, build_op_at(f, 1, 2), 9, f->length, 8);
  build_set(f, build_op_at(f, 1, 2), 10, sizeof behind, 8);
  memcpy(f->bytes + f->length, behind, sizeof behind);
  f->length += sizeof behind;
  trial *t = begin(f);
  reorder(t, 1, reversed);
  write_it(t, MODEL_PLAN_WRITE);
  expect_plan(t);
  size_t size;
  assert_string_equal((const char *)data_of(t, 1, &size), behind);
  data_of(t, 2, &size); /* place 1 means that there is none */
  assert_int_equal(size, 0);
  tflite_reader r = tables_of(t);
  const flat_table subgraph = flat_table_at(&r.file, r.subgraphs, 1);
  const flat_table op = flat_table_at(
      &r.file, flat_vector_of(&r.file, subgraph, TFLITE_subgraph_operators, 4),
      1);
  const uint64_t place =
      flat_u64(&r.file, op, TFLITE_operator_large_custom_options_offset, 0);
  assert_string_equal((const char *)t->w.bytes + place, behind);
  end(t);
}

/* C031: fields of a newer schema: a number, a wide number, a list. */
static void unknown_fields_of_the_model_are_kept(void **state) {
  (void)state;
  static const uint8_t sizes[] = {4, 4, 4, 0, 4, 0, 0, 0, 0, 0, 4, 8, 4, 1};
  build_file *f = file_with(NULL, 0, no_buffers, 1);
  const size_t old = build_root(f);
  const size_t root = build_table(f, sizes, sizeof sizes);
  /* Offsets lead forward: the parts are built again behind the new root. */
  const build_model m = model_with(NULL, 0, no_buffers, 1);
  build_put(f, 0, root, 4);
  build_set(f, root, 0, 3, 4);
  build_codes(f, root, &m);
  build_subgraphs(f, root, &m);
  build_buffers(f, root, &m);
  build_set(f, root, 10, 12345, 4);
  build_set(f, root, 11, UINT64_C(0x123456789abcdef0), 8);
  build_bytes(f, root, 12, "newer", 5);
  build_set(f, root, 13, 200, 1);
  assert_true(old < root);
  trial *t = begin(f);
  write_it(t, MODEL_PLAN_WRITE);
  expect_plan(t);
  tflite_reader r = tables_of(t);
  assert_int_equal(flat_u32(&r.file, r.root, 10, 0), 12345);
  assert_true(flat_u64(&r.file, r.root, 11, 0) == UINT64_C(0x123456789abcdef0));
  const flat_string newer = flat_string_of(&r.file, r.root, 12);
  assert_int_equal(newer.length, 5);
  assert_memory_equal(newer.text, "newer", 5);
  assert_int_equal(flat_u8(&r.file, r.root, 13, 0), 200);
  end(t);
}

static void a_model_from_memory_has_no_file(void **state) {
  (void)state;
  build_file *f = file_with(NULL, 0, no_buffers, 1);
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  assert_int_equal(
      calm_model_parse(&model, context, f->bytes, f->length, "memory", NULL),
      CALM_OK);
  assert_int_equal(calm_model_write(model, "/tmp/calm-never"), CALM_MISUSE);
  calm_model_free(model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  free(f);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  static const uint8_t edges[] = {1, 1, 1, 0, 4, 0, 0};
  const build_metadata metadata[] = {{EDGES, 1}, {EDGES, 1}, {PLAN, 0}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {edges, sizeof edges, 0, 0}};
  build_file *f = file_with(metadata, 3, buffers, 2);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  written w = {CALM_NO_MEMORY, NULL, 0};
  for (uint64_t granted = 0; w.status != CALM_OK; granted++) {
    calm_model model;
    arena a;
    left = SCARCE_NEVER;
    calm_context *context = calm_context_new(&allocator);
    model_init(&model, context, "scarce");
    model.map = (file_map){f->bytes, f->length};
    assert_int_equal(model_read(&model), CALM_OK);
    arena_init(&a, context);
    model_patch patch = identity_patch(&model, &a, MODEL_PLAN_WRITE);
    memcpy((op_id *)(uintptr_t)patch.sequences[1], reversed, sizeof reversed);
    left = granted;
    w = written_model(&model, &patch);
    if (w.status != CALM_OK) assert_int_equal(w.status, CALM_NO_MEMORY);
    free(w.bytes);
    arena_free(&a);
    model_clear(&model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_is_put_in_front),
      cmocka_unit_test(a_plan_with_room_is_overwritten),
      cmocka_unit_test(a_plan_without_room_is_replaced),
      cmocka_unit_test(a_file_without_buffers_gets_an_empty_first_one),
      cmocka_unit_test(a_plan_is_stripped_where_it_is),
      cmocka_unit_test(an_offset_beyond_what_a_plan_can_say_is_refused),
      cmocka_unit_test(operators_are_permuted_in_every_subgraph),
      cmocka_unit_test(a_list_of_two_subgraphs_has_one_order),
      cmocka_unit_test(control_edges_follow_their_operators),
      cmocka_unit_test(control_edges_may_take_less_room),
      cmocka_unit_test(control_edges_may_take_more_room),
      cmocka_unit_test(edges_and_plan_share_one_prefix),
      cmocka_unit_test(places_in_the_file_move_with_the_prefix),
      cmocka_unit_test(unknown_fields_of_the_model_are_kept),
      cmocka_unit_test(a_model_from_memory_has_no_file),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
