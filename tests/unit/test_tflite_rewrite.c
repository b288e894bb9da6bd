/* Exact rewritings of .tflite files: uint8 to int8, and no-ops taken out. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "model/tflite_parts.h"
#include "scarce.h"
#include "tflite_builder.h"
#include "written_model.h"

enum { F32 = 0, I32 = 2, U8 = 3, I8 = 9 };
enum {
  SPLIT_CODE,
  CONV_CODE,
  ADD_CODE,
  POOL_CODE,
  CONCAT_CODE,
  MEAN_CODE,
  RESHAPE_CODE,
  CODES
};

static const build_code codes[CODES] = {{49, NULL}, {3, NULL}, {0, NULL},
                                        {1, NULL},  {2, NULL}, {40, NULL},
                                        {22, NULL}};

static const int32_t shape_values[] = {1, 4, 4, 8};
static const build_list shape = {shape_values, 4};
static const uint8_t weights[] = {0, 1, 127, 128, 200, 255, 5, 6};

/* x -conv(w, bias)-> a; a + k -> b; b -> c, of which the kind is a test's. */
typedef struct net {
  build_tensor tensors[8];
  build_op ops[4];
  build_buffer buffers[4];
  build_metadata metadata[2];
  uint32_t op_count, metadata_count;
} net;

enum { X, W, BIAS, A, K, B, C, D };

static build_tensor quantized(const char *name, int64_t zero) {
  return (build_tensor){.name = name,
                        .shape = shape,
                        .type = U8,
                        .quantized = true,
                        .scale = 256,
                        .zero = zero};
}

static const int32_t conv_in[] = {X, W, BIAS}, conv_out[] = {A};
static const int32_t add_in[] = {A, K}, add_out[] = {B};
static const int32_t last_in[] = {B}, last_out[] = {C};
static const int32_t inputs[] = {X}, outputs[] = {C};

static net small_net(void) {
  net n = {.tensors = {quantized("x", 100),
                       quantized("w", 128),
                       {.name = "bias", .shape = shape, .type = I32},
                       quantized("a", 0),
                       quantized("k", 7),
                       quantized("b", 255),
                       quantized("c", 255),
                       {.name = "d", .shape = shape, .type = F32}},
           .ops = {{.code = CONV_CODE,
                    .inputs = {conv_in, 3},
                    .outputs = {conv_out, 1}},
                   {.code = ADD_CODE,
                    .inputs = {add_in, 2},
                    .outputs = {add_out, 1}},
                   {.code = RESHAPE_CODE,
                    .inputs = {last_in, 1},
                    .outputs = {last_out, 1}}},
           .buffers = {{NULL, 0, 0, 0},
                       {weights, 8, 0, 0},
                       {weights, 6, 0, 0},
                       {weights, 4, 0, 0}},
           .op_count = 3};
  n.tensors[W].buffer = 1;
  n.tensors[K].buffer = 2;
  n.tensors[BIAS].buffer = 3;
  return n;
}

static build_file *file_of(const net *n) {
  const build_subgraph subgraph = {.tensors = n->tensors,
                                   .tensor_count = 8,
                                   .ops = n->ops,
                                   .op_count = n->op_count,
                                   .inputs = {inputs, 1},
                                   .outputs = {outputs, 1}};
  const build_model m = {.codes = codes,
                         .code_count = CODES,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = n->buffers,
                         .buffer_count = 4,
                         .metadata = n->metadata,
                         .metadata_count = n->metadata_count};
  return build_tflite(&m, false);
}

static void end(reading *r, build_file *f) {
  assert_int_equal(reading_end(r), 0);
  free(f);
}

/* ---- uint8 to int8 ------------------------------------------------------- */

static flat_table tensor_of(const flat_file *file, tensor_id t) {
  tflite_reader r = {.file = *file};
  tflite_find_tables(&r);
  return flat_table_at(file,
                       flat_vector_of(file, flat_table_at(file, r.subgraphs, 0),
                                      TFLITE_subgraph_tensors, 4),
                       t);
}

static int64_t zero_of(const flat_file *file, tensor_id t) {
  const flat_table q =
      flat_table_of(file, tensor_of(file, t), TFLITE_tensor_quantization);
  const flat_vector zeros =
      flat_vector_of(file, q, TFLITE_quantization_zero_point, 8);
  return (int64_t)flat_number(file, zeros.position, 8);
}

static void every_number_is_lowered_by_128(void **state) {
  (void)state;
  const net n = small_net();
  build_file *f = file_of(&n);
  uint8_t before[sizeof f->bytes];
  memcpy(before, f->bytes, f->length);
  reading *r = reading_of(f);
  if (model_rewrite(&r->model, MODEL_TO_INT8))
    fail_msg("%s", reading_message(r));
  assert_memory_equal(before, f->bytes, f->length); /* a copy was changed */
  const flat_file file = {NULL, "after", r->model.map.bytes,
                          r->model.map.length};
  assert_int_equal(file.length, f->length);
  static const tensor_id lowered[] = {X, W, A, K, B, C};
  for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++) {
    const tensor_id t = lowered[i];
    assert_int_equal(flat_i8(&file, tensor_of(&file, t), 1, 0), I8);
    assert_int_equal(zero_of(&file, t), n.tensors[t].zero - 128);
    assert_int_equal(r->model.graphs.data[0].tensors.data[t].type, ELEMENT_i8);
  }
  tflite_reader tables = {.file = file};
  tflite_find_tables(&tables);
  for (uint32_t buffer = 1; buffer <= 3; buffer++) {
    const tflite_bytes bytes = tflite_buffer(&tables, buffer);
    for (uint64_t i = 0; i < bytes.size; i++)
      assert_int_equal(file.bytes[bytes.position + i],
                       buffer == 3 ? weights[i] : weights[i] ^ 0x80);
  }
  assert_int_equal(model_rewrite(&r->model, MODEL_TO_INT8), CALM_UNSUPPORTED);
  end(r, f);
}

static void expect_refusal(const net *n, const char *message) {
  build_file *f = file_of(n);
  reading *r = reading_of(f);
  if (r->status) fail_msg("%s", reading_message(r));
  char *before = reading_dump(r);
  assert_int_equal(model_rewrite(&r->model, MODEL_TO_INT8), CALM_UNSUPPORTED);
  if (!strstr(reading_message(r), message))
    fail_msg("'%s' lacks '%s'", reading_message(r), message);
  char *after = reading_dump(r);
  assert_string_equal(before, after);
  calm_text_free(r->context, before);
  calm_text_free(r->context, after);
  end(r, f);
}

static void what_might_differ_is_refused(void **state) {
  (void)state;
  net n = small_net();
  n.tensors[W].zero = 127;
  expect_refusal(&n, "'0_CONV_2D' (conv2d) has a filter whose zero point");
  n = small_net();
  n.ops[2].code = MEAN_CODE;
  expect_refusal(&n, "'2_MEAN' (mean) is not known to give the same values");
  n = small_net();
  n.tensors[A].quantized = false;
  expect_refusal(&n, "has a uint8 operand that is not quantized");
  n = small_net();
  n.tensors[B].variable = true;
  expect_refusal(&n, "has a variable of uint8");
  n = small_net();
  n.tensors[A].type = F32;
  expect_refusal(&n, "mixes uint8 with other types");
  n = small_net();
  n.tensors[BIAS].buffer = 1;
  expect_refusal(&n, "'bias' shares bytes with uint8 tensors");
  n = small_net();
  n.tensors[X].zero = 300;
  expect_refusal(&n, "'x' has the zero point 300");
  n = small_net();
  n.metadata[0] = (build_metadata){"data", 2};
  n.metadata_count = 1;
  expect_refusal(&n, "a metadata entry has the bytes");
  n = small_net();
  n.tensors[C].scale = 512;
  n.ops[2].code = CONCAT_CODE;
  expect_refusal(&n, "'2_CONCATENATION' (concat) has operands with different");
  n = small_net();
  for (int i = 0; i < 8; i++) n.tensors[i].type = F32;
  expect_refusal(&n, "no operator touches a uint8 tensor");
}

/* Padding, strides, filter, activation. */
static void means_of_odd_numbers_are_exact(void **state) {
  (void)state;
  const struct {
    int32_t padding, height, width;
    bool exact;
  } cases[] = {{1, 3, 3, true},  {1, 2, 2, false}, {1, 3, 2, false},
               {0, 3, 3, false}, {0, 1, 1, true},  {1, 1, 11, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    net n = small_net();
    const int32_t options[] = {cases[i].padding, 1, 1, cases[i].width,
                               cases[i].height,  0};
    n.ops[2].code = POOL_CODE;
    n.ops[2].options_type = 5;
    n.ops[2].options = (build_list){options, 6};
    n.ops[2].byte_options = 1 | 1 << 5;
    if (!cases[i].exact) {
      expect_refusal(&n, "may take means of an even number of values");
      continue;
    }
    build_file *f = file_of(&n);
    reading *r = reading_of(f);
    assert_int_equal(model_rewrite(&r->model, MODEL_TO_INT8), CALM_OK);
    end(r, f);
  }
}

/* Two tensors with one list of zero points, of which one must stay. */
static void shared_zero_points_are_seen(void **state) {
  (void)state;
  net n = small_net();
  n.tensors[BIAS].quantized = true;
  build_file *f = file_of(&n);
  const flat_file view = build_view(f);
  const flat_table x = flat_table_of(&view, build_tensor_at(f, 0, X), 4);
  const flat_table bias = flat_table_of(&view, build_tensor_at(f, 0, BIAS), 4);
  build_link(f, x, 3, build_target(f, bias, 3));
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(model_rewrite(&r->model, MODEL_TO_INT8), CALM_UNSUPPORTED);
  assert_non_null(strstr(reading_message(r), "'bias' shares bytes"));
  end(r, f);
}

/* ---- No-ops -------------------------------------------------------------- */

static char *without_noops(const net *n, reading **out, build_file **file) {
  *file = file_of(n);
  *out = reading_of(*file);
  assert_int_equal((*out)->status, CALM_OK);
  if (model_rewrite(&(*out)->model, MODEL_REMOVE_NOOPS))
    fail_msg("%s", reading_message(*out));
  return reading_dump(*out);
}

static void expect_ops(const net *n, uint32_t count, const char *line) {
  reading *r;
  build_file *f;
  char *text = without_noops(n, &r, &f);
  assert_int_equal(r->model.graphs.data[0].ops.count, count);
  if (!strstr(text, line)) fail_msg("'%s' is not in:\n%s", line, text);
  calm_text_free(r->context, text);
  end(r, f);
}

/* a = reshape(x), b = split(a), c = b + b: all but the last hand on. */
static net net_of_noops(void) {
  static const int32_t a[] = {A}, b[] = {B}, bb[] = {B, B};
  static const int32_t x[] = {X}, k_a[] = {K, A}, c[] = {C};
  net n = small_net();
  n.tensors[K].type = I32;
  n.tensors[K].zero = 0;
  for (int i = 0; i < 8; i++) n.tensors[i].zero = n.tensors[i].scale = 3;
  n.ops[0] =
      (build_op){.code = RESHAPE_CODE, .inputs = {x, 1}, .outputs = {a, 1}};
  n.ops[1] =
      (build_op){.code = SPLIT_CODE, .inputs = {k_a, 2}, .outputs = {b, 1}};
  n.ops[2] = (build_op){.code = ADD_CODE, .inputs = {bb, 2}, .outputs = {c, 1}};
  return n;
}

static void a_chain_of_noops_leads_to_its_head(void **state) {
  (void)state;
  const net n = net_of_noops();
  expect_ops(&n, 1, "op 0_ADD add ( x x ) -> ( c )");
}

static void what_changes_something_stays(void **state) {
  (void)state;
  static const int32_t c[] = {C}, other[] = {1, 4, 8, 4};
  net n = net_of_noops();
  n.tensors[A].shape = (build_list){other, 4};
  expect_ops(&n, 3, "op 2_ADD add ( b b ) -> ( c )");
  n = net_of_noops();
  n.tensors[A].zero = 4; /* both sides of it differ */
  expect_ops(&n, 3, "op 2_ADD add ( b b ) -> ( c )");
  n = net_of_noops();
  n.tensors[A].scale = 4;
  expect_ops(&n, 3, "op 2_ADD add ( b b ) -> ( c )");
  n = net_of_noops();
  n.tensors[X].type = I8;
  expect_ops(&n, 2, "op 1_ADD add ( a a ) -> ( c )");
  n = net_of_noops();
  n.tensors[X].variable = true;
  expect_ops(&n, 2, "op 1_ADD add ( a a ) -> ( c )");
  n = net_of_noops();
  n.ops[1].outputs = (build_list){c, 1}; /* the output of the graph */
  n.op_count = 2;
  expect_ops(&n, 1, "op 0_SPLIT split ( k x ) -> ( c )");
}

/* The plan was made for more tensors; edges speak of new places. */
static void plan_goes_and_edges_stay(void **state) {
  (void)state;
  static const int32_t plan[11] = {0, 1, 8};
  static const uint8_t edges[] = {1, 1, 1, 2, 4}; /* 1 -> 2 */
  net n = net_of_noops();
  n.buffers[2] = (build_buffer){plan, sizeof plan, 0, 0};
  n.buffers[3] = (build_buffer){edges, sizeof edges, 0, 0};
  n.tensors[K].buffer = n.tensors[W].buffer;
  n.tensors[BIAS].buffer = n.tensors[W].buffer;
  n.metadata[0] = (build_metadata){"OfflineMemoryAllocation", 2};
  n.metadata[1] = (build_metadata){"model_control_dependencies", 3};
  n.metadata_count = 2;
  reading *r;
  build_file *f;
  char *text = without_noops(&n, &r, &f);
  assert_false(r->model.offline.present);
  assert_int_equal(r->model.metadata_count, 1);
  /* operator 1 has to wait for nothing, but operator 2 for it: both stay */
  assert_non_null(strstr(text, "op 0_SPLIT split ( k x ) -> ( b )"));
  assert_non_null(
      strstr(text, "op 1_ADD add ( b b ) -> ( c ) after ( 0_SPLIT )"));
  calm_text_free(r->context, text);
  end(r, f);
}

/* Who is not touched any more is a second name of a constant. */
static void unused_tensors_take_no_room(void **state) {
  (void)state;
  const net n = net_of_noops();
  reading *r;
  build_file *f;
  char *text = without_noops(&n, &r, &f);
  const graph *g = &r->model.graphs.data[0];
  assert_int_equal(g->tensors.data[A].flags, CALM_TENSOR_CONST);
  assert_int_equal(g->tensors.data[B].flags, CALM_TENSOR_CONST);
  assert_int_equal(g->tensors.count, 8);
  calm_text_free(r->context, text);
  end(r, f);
}

/* A list that means two things cannot change for one of them. */
static void shared_lists_that_must_differ_are_refused(void **state) {
  (void)state;
  const net n = net_of_noops();
  build_file *f = file_of(&n);
  build_link(f, build_tensor_at(f, 0, D), 0,
             build_target(f, build_op_at(f, 0, 2), 1));
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  char *before = reading_dump(r);
  assert_int_equal(model_rewrite(&r->model, MODEL_REMOVE_NOOPS),
                   CALM_UNSUPPORTED);
  char *after = reading_dump(r);
  assert_string_equal(before, after);
  calm_text_free(r->context, before);
  calm_text_free(r->context, after);
  end(r, f);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (int kind = MODEL_TO_INT8; kind <= MODEL_REMOVE_NOOPS; kind++) {
    const net n = kind == MODEL_TO_INT8 ? small_net() : net_of_noops();
    build_file *f = file_of(&n);
    uint64_t left = SCARCE_NEVER;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_status status = CALM_NO_MEMORY;
    for (uint64_t granted = 0; status != CALM_OK; granted++) {
      calm_model model;
      left = SCARCE_NEVER;
      calm_context *context = calm_context_new(&allocator);
      model_init(&model, context, "scarce");
      model.map = (file_map){f->bytes, f->length};
      assert_int_equal(model_read(&model), CALM_OK);
      const uint32_t ops = model.graphs.data[0].ops.count;
      left = granted;
      status = model_rewrite(&model, (model_rewriting)kind);
      if (status != CALM_OK) {
        assert_int_equal(status, CALM_NO_MEMORY);
        assert_int_equal(model.graphs.data[0].ops.count, ops);
        assert_ptr_equal(model.map.bytes, f->bytes);
      }
      model_clear(&model);
      assert_int_equal(calm_context_bytes(context), 0);
      calm_context_free(context);
    }
    free(f);
  }
}

/* ---- Public models ------------------------------------------------------- */

static void try_model(const char *path, uint32_t *removed) {
  calm_context *context = calm_context_new(NULL);
  calm_options *options;
  calm_model *before, *after;
  assert_int_equal(calm_options_new(&options, context), CALM_OK);
  assert_int_equal(calm_options_set(options, "remove-noops", "on"), CALM_OK);
  if (calm_model_open(&before, context, path, NULL) ||
      calm_model_open(&after, context, path, options))
    fail_msg("%s", calm_context_message(context));
  *removed += calm_model_op_count(before) - calm_model_op_count(after);
  const file_map map = before->map;
  assert_int_equal(after->map.length, map.length);
  calm_model_free(before);
  calm_model_free(after);
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void public_models_lose_their_noops(void **state) {
  (void)state;
  CASES_OR_SKIP();
  char directory[1024], path[2048];
  assert_non_null(cases_path(directory, sizeof directory, "models"));
  DIR *list = opendir(directory);
  assert_non_null(list);
  uint32_t count = 0, removed = 0;
  for (struct dirent *entry; (entry = readdir(list));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".tflite")) continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    try_model(path, &removed);
    count++;
  }
  closedir(list);
  print_message("%u operators removed from %u models\n", removed, count);
  assert_true(count > 50 && removed > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_is_lowered_by_128),
      cmocka_unit_test(what_might_differ_is_refused),
      cmocka_unit_test(means_of_odd_numbers_are_exact),
      cmocka_unit_test(shared_zero_points_are_seen),
      cmocka_unit_test(a_chain_of_noops_leads_to_its_head),
      cmocka_unit_test(what_changes_something_stays),
      cmocka_unit_test(plan_goes_and_edges_stay),
      cmocka_unit_test(unused_tensors_take_no_room),
      cmocka_unit_test(shared_lists_that_must_differ_are_refused),
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(public_models_lose_their_noops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
