/* Tensors of .tflite files: names, types, shapes, what is a constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "tflite_builder.h"

static const build_code codes[] = {{0, NULL}, {32, "ethos-u"}};

/* One ADD over all tensors but the last, which it writes. */
static build_file *file_with(const build_tensor *tensors, uint32_t count,
                             const build_buffer *buffers,
                             uint32_t buffer_count) {
  static int32_t inputs[32];
  for (uint32_t i = 0; i + 1 < count; i++) inputs[i] = (int32_t)i;
  build_op op = {.inputs = {inputs, count - 1},
                 .outputs = LIST((int32_t)count - 1)};
  build_subgraph subgraph = {.tensors = tensors,
                             .tensor_count = count,
                             .ops = &op,
                             .op_count = 1,
                             .inputs = LIST(0),
                             .outputs = LIST((int32_t)count - 1)};
  build_model model = {.codes = codes,
                       .code_count = 2,
                       .subgraphs = &subgraph,
                       .subgraph_count = 1,
                       .buffers = buffers,
                       .buffer_count = buffer_count};
  return build_tflite(&model, false);
}

static reading *read_ok(const build_file *f) {
  reading *r = reading_of(f);
  if (r->status) fail_msg("%s", reading_message(r));
  return r;
}

static const graph_tensor *tensor(const reading *r, uint32_t i) {
  return &r->model.graphs.data[0].tensors.data[i];
}

static void end(reading *r, build_file *f) {
  assert_int_equal(reading_end(r), 0);
  free(f);
}

static void names_become_unique(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.name = "a"},  {.name = NULL},  {.name = "a"},  {.name = ""},
      {.name = "t3"}, {.name = "a#2"}, {.name = "a#2"}};
  static const char *const wanted[] = {"a",    "t1",    "a#2",  "t3",
                                       "t3#4", "a#2#5", "a#2#6"};
  build_file *f = file_with(tensors, 7, NULL, 0);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < 7; i++) {
    assert_string_equal(tensor(r, i)->name, wanted[i]);
    assert_int_equal(tensor(r, i)->file_index, i);
  }
  end(r, f);
}

static void odd_bytes_in_names_survive_the_text_form(void **state) {
  (void)state;
  static const char odd[] = "\xff \"q\" \\ \x01\t\xc3\xa4 -";
  const build_tensor tensors[] = {
      {.name = odd}, {.name = "-", .variable = true}, {.name = "plain"}};
  build_file *f = file_with(tensors, 3, NULL, 0);
  reading *r = read_ok(f);
  assert_string_equal(tensor(r, 0)->name, odd);
  char *text = reading_dump(r);
  reading *again = reading_of_bytes((const uint8_t *)text, strlen(text));
  assert_int_equal(again->status, CALM_OK);
  assert_string_equal(tensor(again, 0)->name, odd);
  assert_int_equal(reading_end(again), 0);
  calm_text_free(r->context, text);
  end(r, f);
}

static void a_name_ends_at_its_first_nul(void **state) {
  (void)state;
  const build_tensor tensors[] = {{.name = "abcd"}, {.name = "ab"}};
  build_file *f = file_with(tensors, 2, NULL, 0);
  f->bytes[build_target(f, build_tensor_at(f, 0, 0), 3) + 4 + 2] = 0;
  reading *r = read_ok(f);
  assert_string_equal(tensor(r, 0)->name, "ab");
  assert_string_equal(tensor(r, 1)->name, "ab#1");
  end(r, f);
}

static void element_types_have_their_sizes(void **state) {
  (void)state;
  /* bytes of 7 elements, by the code of the type; sub-byte types are packed,
     handles and texts lie elsewhere */
  static const uint64_t bytes[] = {28, 14, 28, 7,   56, 0, 7, 14,
                                   56, 7,  56, 112, 56, 0, 0, 28,
                                   14, 4,  14, 2,   4,  7, 7};
  static const int32_t seven = 7;
  build_tensor tensors[sizeof bytes / sizeof *bytes] = {{.name = NULL}};
  const uint32_t count = sizeof bytes / sizeof *bytes;
  for (uint32_t i = 0; i < count; i++) {
    tensors[i].type = (int)i;
    tensors[i].shape = (build_list){&seven, 1};
  }
  build_file *f = file_with(tensors, count, NULL, 0);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(tensor(r, i)->bytes, bytes[i]);
  assert_non_null(strstr(r->warnings, "'t5' has elements of type str"));
  assert_non_null(strstr(r->warnings, "(and 1 more like it)"));
  end(r, f);
}

static void an_unknown_type_is_refused_by_name(void **state) {
  (void)state;
  static const int codes_of_types[] = {23, 127, -1};
  for (int i = 0; i < 3; i++) {
    const build_tensor tensors[] = {{.name = "x"},
                                    {.name = "new", .type = codes_of_types[i]}};
    build_file *f = file_with(tensors, 2, NULL, 0);
    reading *r = reading_of(f);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "tensor 'new' has element type %d",
             codes_of_types[i]);
    assert_int_equal(r->status, CALM_UNSUPPORTED);
    assert_non_null(strstr(reading_message(r), wanted));
    end(r, f);
  }
}

static void shapes_are_checked(void **state) {
  (void)state;
  static const struct {
    int32_t shape[4];
    const char *message; /* NULL: fine */
    uint64_t bytes;
  } cases[] = {
      {{1, 2, 3, 4}, NULL, 24},
      {{1, -1, 3, 4}, "dimension 1 of 'x' is -1", 0},
      {{INT32_MIN, 1, 1, 1}, "dimension 0 of 'x' is -2147483648", 0},
      {{INT32_MAX, INT32_MAX, INT32_MAX, 1}, "more than 2^62 bytes", 0},
      {{65536, 65536, 65536, 16384}, NULL, UINT64_C(1) << 62},
      {{65536, 65536, 65536, 16385}, "more than 2^62 bytes", 0},
      {{INT32_MAX, INT32_MAX, INT32_MAX, 0}, NULL, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const build_tensor tensors[] = {
        {.name = "x", .type = 9, .shape = {cases[i].shape, 4}},
        {.name = "y", .shape = LIST(0)}};
    build_file *f = file_with(tensors, 2, NULL, 0);
    reading *r = reading_of(f);
    if (cases[i].message) {
      assert_int_equal(r->status, CALM_BAD_INPUT);
      assert_non_null(strstr(reading_message(r), cases[i].message));
      assert_non_null(strstr(reading_message(r), "subgraph 0, tensor 0"));
    } else {
      assert_int_equal(r->status, CALM_OK);
      assert_int_equal(tensor(r, 0)->bytes, cases[i].bytes);
    }
    end(r, f);
  }
}

static void too_many_dimensions_are_refused(void **state) {
  (void)state;
  int32_t ones[65];
  for (int i = 0; i < 65; i++) ones[i] = 1;
  for (uint32_t rank = 64; rank <= 65; rank++) {
    const build_tensor tensors[] = {{.name = "x", .shape = {ones, rank}},
                                    {.name = "y"}};
    build_file *f = file_with(tensors, 2, NULL, 0);
    reading *r = reading_of(f);
    assert_int_equal(r->status, rank == 64 ? CALM_OK : CALM_BAD_INPUT);
    end(r, f);
  }
}

static void the_stored_shape_counts_and_a_warning_says_so(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.name = "x", .shape = LIST(1, 8), .signature = LIST(-1, 8)},
      {.name = "y", .shape = LIST(1, 8), .signature = LIST(-1, 8)},
      {.name = "z", .shape = LIST(1, 8), .signature = LIST(1, 8)}};
  build_file *f = file_with(tensors, 3, NULL, 0);
  reading *r = read_ok(f);
  assert_int_equal(tensor(r, 0)->bytes, 32);
  assert_non_null(strstr(r->warnings,
                         "'x' has the dynamic shape [-1,8]; its stored shape "
                         "[1,8] is what counts (and 1 more like it)"));
  end(r, f);
}

static void data_makes_a_constant(void **state) {
  (void)state;
  static const uint8_t data[24];
  const build_buffer buffers[] = {{NULL, 0, 0, 0},   /* no data */
                                  {data, 24, 0, 0},  /* inside */
                                  {NULL, 0, 8, 16},  /* by its place */
                                  {data, 0, 0, 0},   /* of length 0 */
                                  {NULL, 0, 1, 16}}; /* place 1: none */
  const build_tensor tensors[] = {
      {.buffer = 0},   {.buffer = 1},  {.buffer = 2},      {.buffer = 3},
      {.buffer = 4},   {.buffer = 1},  {.shape = LIST(0)}, {.variable = true},
      {.external = 1}, {.name = "out"}};
  static const unsigned flags[] = {CALM_TENSOR_INPUT,
                                   CALM_TENSOR_CONST,
                                   CALM_TENSOR_CONST,
                                   0,
                                   0,
                                   CALM_TENSOR_CONST,
                                   0,
                                   CALM_TENSOR_VARIABLE,
                                   CALM_TENSOR_CONST,
                                   CALM_TENSOR_OUTPUT};
  build_file *f = file_with(tensors, 10, buffers, 5);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < 10; i++)
    assert_int_equal(tensor(r, i)->flags, flags[i]);
  /* a buffer that two tensors share counts once */
  assert_int_equal(r->model.weight_bytes, 24 + 16);
  end(r, f);
}

static void constants_may_be_outputs_or_inputs(void **state) {
  (void)state;
  static const uint8_t data[4];
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {data, 4, 0, 0}};
  const build_tensor tensors[] = {
      {.name = "x", .buffer = 1}, {.name = "c", .buffer = 1}, {.name = "y"}};
  build_op op = {.inputs = LIST(0, 1), .outputs = LIST(2)};
  build_subgraph subgraph = {.tensors = tensors,
                             .tensor_count = 3,
                             .ops = &op,
                             .op_count = 1,
                             .inputs = LIST(0),
                             .outputs = LIST(1, 2)};
  build_model model = {.codes = codes,
                       .code_count = 2,
                       .subgraphs = &subgraph,
                       .subgraph_count = 1,
                       .buffers = buffers,
                       .buffer_count = 2};
  build_file *f = build_tflite(&model, false);
  reading *r = read_ok(f);
  assert_int_equal(tensor(r, 0)->flags, CALM_TENSOR_CONST);
  assert_int_equal(tensor(r, 1)->flags, CALM_TENSOR_CONST | CALM_TENSOR_OUTPUT);
  end(r, f);
}

static void external_buffers_are_weights(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.name = "x"}, {.external = 1}, {.name = NULL}};
  build_op op = {.inputs = LIST(0, 1), .outputs = LIST(2)};
  build_subgraph subgraph = {.tensors = tensors,
                             .tensor_count = 3,
                             .ops = &op,
                             .op_count = 1,
                             .inputs = LIST(0),
                             .outputs = LIST(2)};
  build_model model = {.codes = codes,
                       .code_count = 1,
                       .subgraphs = &subgraph,
                       .subgraph_count = 1,
                       .external_length = 1000};
  build_file *f = build_tflite(&model, false);
  reading *r = read_ok(f);
  assert_int_equal(r->model.weight_bytes, 1000);
  end(r, f);
}

/* An index is never used before it was compared with the count. */
static void buffers_and_graph_operands_have_to_exist(void **state) {
  (void)state;
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
  const build_tensor tensors[] = {{.name = "x", .buffer = 2}, {.name = "y"}};
  build_file *f = file_with(tensors, 2, buffers, 2);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_BAD_INPUT);
  assert_non_null(strstr(reading_message(r),
                         "'x' has buffer 2, but there are "
                         "2 (in subgraph 0, tensor 0)"));
  end(r, f);
  const build_tensor fine[] = {{.name = "x"}, {.name = "y"}};
  f = file_with(fine, 2, NULL, 0);
  size_t subgraph = build_child(f, build_root(f), 2, 0);
  build_put(f, build_target(f, subgraph, 2) + 4, 7, 4);
  r = reading_of(f);
  assert_int_equal(r->status, CALM_BAD_INPUT);
  assert_non_null(strstr(reading_message(r),
                         "tensor 7 does not exist, there are 2 (in subgraph 0, "
                         "output 0)"));
  end(r, f);
}

/* Scratch that an accelerator's compiler put into the file. */
static void tensors_from_nowhere_are_listed(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.name = "x", .shape = LIST(4)},
      {.name = "scratch", .shape = LIST(74464), .type = 9},
      {.name = "again", .shape = LIST(74464), .type = 9},
      {.name = "y", .shape = LIST(4)}};
  build_file *f = file_with(tensors, 4, NULL, 0);
  reading *r = read_ok(f);
  assert_non_null(strstr(r->warnings,
                         "no operator writes tensor 'scratch' of 74464 bytes"));
  assert_non_null(strstr(r->warnings, "0 bytes (and 1 more like it)"));
  end(r, f);
}

static void an_untouched_tensor_is_no_fault(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.name = "x"}, {.name = "dead"}, {.name = NULL}};
  build_op op = {.inputs = LIST(0), .outputs = LIST(2)};
  build_subgraph subgraph = {.tensors = tensors,
                             .tensor_count = 3,
                             .ops = &op,
                             .op_count = 1,
                             .inputs = LIST(0),
                             .outputs = LIST(2)};
  build_model model = {.codes = codes,
                       .code_count = 2,
                       .subgraphs = &subgraph,
                       .subgraph_count = 1};
  build_file *f = build_tflite(&model, false);
  reading *r = read_ok(f);
  assert_int_equal(r->warning_count, 0);
  assert_int_equal(r->model.graphs.data[0].tensors.count, 3);
  end(r, f);
}

static const int32_t four[] = {4};

static build_tensor quantized(uint32_t scale, int64_t zero) {
  return (build_tensor){.shape = {four, 1},
                        .type = 9,
                        .quantized = true,
                        .scale = scale,
                        .zero = zero};
}

static void tensors_quantized_alike_have_one_number(void **state) {
  (void)state;
  const build_tensor tensors[] = {quantized(512, 3),
                                  quantized(512, 4),
                                  quantized(512, 3),
                                  {.shape = LIST(4)},
                                  quantized(256, 4),
                                  quantized(512, 4),
                                  {.shape = LIST(4), .type = 9}};
  static const uint32_t wanted[] = {1, 2, 1, 0, 3, 2, 0};
  build_file *f = file_with(tensors, 7, NULL, 0);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < 7; i++)
    assert_int_equal(tensor(r, i)->quantization, wanted[i]);
  end(r, f);
}

static void many_quantizations_are_told_apart(void **state) {
  enum { COUNT = 30 };
  (void)state;
  build_tensor tensors[COUNT];
  for (uint32_t i = 0; i < COUNT; i++)
    tensors[i] = quantized(1 + i % 15, i % 2);
  build_file *f = file_with(tensors, COUNT, NULL, 0);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < COUNT; i++)
    for (uint32_t j = 0; j < i; j++)
      assert_int_equal(tensor(r, i)->quantization == tensor(r, j)->quantization,
                       i % 15 == j % 15 && i % 2 == j % 2);
  end(r, f);
}

static void parts_of_odd_constants_are_elsewhere(void **state) {
  (void)state;
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {"abcd", 4, 0, 0}};
  const build_tensor tensors[] = {{.shape = LIST(4), .type = 9, .buffer = 1},
                                  {.shape = LIST(5), .type = 9, .buffer = 1},
                                  {.shape = LIST(4), .type = 9, .external = 1},
                                  {.shape = LIST(4), .type = 9}};
  static const graph_contents wanted[] = {CONTENTS_HERE, CONTENTS_ELSEWHERE,
                                          CONTENTS_ELSEWHERE, CONTENTS_HERE};
  build_file *f = file_with(tensors, 4, buffers, 2);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(tensor(r, i)->contents, wanted[i]);
  end(r, f);
}

static void only_the_batch_may_be_open(void **state) {
  (void)state;
  const build_tensor tensors[] = {
      {.shape = LIST(1, 4), .signature = LIST(-1, 4)},
      {.shape = LIST(1, 4), .signature = LIST(1, -1)},
      {.shape = LIST(1, 4), .signature = LIST(-2, 4)},
      {.shape = LIST(1, 4)}};
  static const bool wanted[] = {false, true, true, false};
  build_file *f = file_with(tensors, 4, NULL, 0);
  reading *r = read_ok(f);
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(tensor(r, i)->dynamic, wanted[i]);
  end(r, f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_become_unique),
      cmocka_unit_test(odd_bytes_in_names_survive_the_text_form),
      cmocka_unit_test(a_name_ends_at_its_first_nul),
      cmocka_unit_test(element_types_have_their_sizes),
      cmocka_unit_test(an_unknown_type_is_refused_by_name),
      cmocka_unit_test(shapes_are_checked),
      cmocka_unit_test(too_many_dimensions_are_refused),
      cmocka_unit_test(the_stored_shape_counts_and_a_warning_says_so),
      cmocka_unit_test(data_makes_a_constant),
      cmocka_unit_test(constants_may_be_outputs_or_inputs),
      cmocka_unit_test(external_buffers_are_weights),
      cmocka_unit_test(buffers_and_graph_operands_have_to_exist),
      cmocka_unit_test(tensors_from_nowhere_are_listed),
      cmocka_unit_test(an_untouched_tensor_is_no_fault),
      cmocka_unit_test(tensors_quantized_alike_have_one_number),
      cmocka_unit_test(many_quantizations_are_told_apart),
      cmocka_unit_test(parts_of_odd_constants_are_elsewhere),
      cmocka_unit_test(only_the_batch_may_be_open)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
