/* Tiles in rebuilt .tflite files: slices, pads, windows, joins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "hand_tiled.h"
#include "model/tflite_parts.h"
#include "same_graph.h"
#include "tflite_builder.h"

enum { F32 = 0, I16 = 7, I8 = 9 };
enum { X, W, BIAS, Y, TENSORS };

static const uint8_t weights[2 * 3 * 3 * 2 * 4], biases[2 * 8];

/* y = conv(x, w, bias), of elements of `type`; the batch is open. */
static build_file *net_file(int type, int32_t kind) {
  const unsigned size = type == F32 ? 4 : 1;
  const build_code codes[] = {{kind, NULL}};
  const build_tensor tensors[] = {{.name = "x",
                                   .shape = LIST(1, 7, 5, 2),
                                   .signature = LIST(-1, 7, 5, 2),
                                   .type = type,
                                   .quantized = type != F32,
                                   .scale = 7,
                                   .zero = type == I8 ? -3 : 0},
                                  {.name = "w",
                                   .shape = LIST(2, 3, 3, 2),
                                   .type = type == F32 ? F32 : I8,
                                   .buffer = 1},
                                  {.name = "b",
                                   .shape = LIST(2),
                                   .type = type == F32 ? F32 : 2,
                                   .buffer = 2},
                                  {.name = "y",
                                   .shape = LIST(1, 7, 5, 2),
                                   .signature = LIST(-1, 7, 5, 2),
                                   .type = type,
                                   .quantized = type != F32,
                                   .scale = 9}};
  const build_op conv = {.inputs = LIST(X, W, BIAS),
                         .outputs = LIST(Y),
                         .options_type = 1,
                         .options = LIST(0, 1, 1, 1, 1, 1),
                         .byte_options = 1 | 8};
  const build_buffer buffers[] = {
      {NULL, 0, 0, 0}, {weights, 36 * size, 0, 0}, {biases, 8, 0, 0}};
  const build_subgraph subgraph = {NULL, tensors, TENSORS, &conv,
                                   1,    LIST(X), LIST(Y)};
  const build_model model = {.codes = codes,
                             .code_count = 1,
                             .subgraphs = &subgraph,
                             .subgraph_count = 1,
                             .buffers = buffers,
                             .buffer_count = 3};
  return build_tflite(&model, false);
}

typedef struct editing {
  build_file *file;
  reading *r, *again; /* the file, and what was made of it; NULL: nothing */
  graph_edit edit;
  arena a;
} editing;

static void begin(editing *e, build_file *file) {
  *e = (editing){.file = file, .r = reading_of(file)};
  if (e->r->status) fail_msg("%s", reading_message(e->r));
  arena_init(&e->a, e->r->context);
  graph_edit_init(&e->edit, &e->r->model.graphs.data[0], &e->a);
}

static void end(editing *e) {
  graph_edit_free(&e->edit);
  arena_free(&e->a);
  if (e->again) assert_int_equal(reading_end(e->again), 0);
  assert_int_equal(reading_end(e->r), 0);
  free(e->file);
}

static const reading *rebuilt(editing *e) {
  const uint8_t *bytes;
  size_t length;
  if (model_rebuild(&bytes, &length, &e->r->model, &e->edit, &e->a))
    fail_msg("%s", reading_message(e->r));
  e->again = reading_of_bytes(bytes, length);
  if (e->again->status) fail_msg("%s", reading_message(e->again));
  const char *difference =
      graph_difference(&e->edit.after, &e->again->model.graphs.data[0]);
  if (difference) fail_msg("%s differs", difference);
  return e->again;
}

static flat_file view_of(const reading *r) {
  return (flat_file){r->context, "built", r->model.map.bytes,
                     r->model.map.length};
}

/* ---- Operators ----------------------------------------------------------- */

static const graph_op *find_op(const reading *r, op_kind kind, uint32_t nth) {
  const graph *g = &r->model.graphs.data[0];
  for (op_id u = 0; u < g->ops.count; u++)
    if (g->ops.data[u].kind == kind && nth-- == 0) return &g->ops.data[u];
  fail_msg("there is no such operator");
  return NULL;
}

static void expect_attribute(const graph_op *op, const char *key,
                             const char *wanted) {
  const char *found = graph_op_attribute(op, key);
  if (!found) fail_msg("no %s", key);
  assert_string_equal(found, wanted);
}

/* 7 rows: 3 of the first strip from 4, 4 of the second from 5. */
static void a_convolution_becomes_two_strips(void **state) {
  (void)state;
  editing e;
  begin(&e, net_file(I8, 3));
  assert_int_equal(hand_tiled(&e.edit, 0, false, false, &e.a), CALM_OK);
  const reading *r = rebuilt(&e);
  expect_attribute(find_op(r, OP_slice, 1), "begin", "0,2,0,0");
  expect_attribute(find_op(r, OP_slice, 1), "size", "1,5,5,2");
  expect_attribute(find_op(r, OP_pad, 0), "before", "0,1,1,0");
  expect_attribute(find_op(r, OP_pad, 0), "after", "0,0,1,0");
  expect_attribute(find_op(r, OP_conv2d, 0), "pad", "valid");
  expect_attribute(find_op(r, OP_conv2d, 1), "activation", "relu");
  expect_attribute(find_op(r, OP_concat, 0), "axis", "1");
  end(&e);
}

/* ---- Tensors ------------------------------------------------------------- */

static flat_table table_of(const reading *r, tensor_id t) {
  const flat_file file = view_of(r);
  const flat_table subgraph = flat_table_at(
      &file, flat_vector_of(&file, flat_root(&file), TFLITE_model_subgraphs, 4),
      0);
  return flat_table_at(
      &file, flat_vector_of(&file, subgraph, TFLITE_subgraph_tensors, 4), t);
}

/* What is made from x: its quantization, its open batch, its own rows. */
static void strips_are_quantized_like_the_picture(void **state) {
  (void)state;
  editing e;
  begin(&e, net_file(I8, 3));
  assert_int_equal(hand_tiled(&e.edit, 0, false, false, &e.a), CALM_OK);
  const reading *r = rebuilt(&e);
  const graph *g = &r->model.graphs.data[0];
  const tensor_id strip = find_op(r, OP_slice, 0)->outputs[0];
  const tensor_id padded = find_op(r, OP_pad, 0)->outputs[0];
  const tensor_id tile = find_op(r, OP_conv2d, 0)->outputs[0];
  const uint32_t x = g->tensors.data[X].quantization;
  const flat_file file = view_of(r);
  assert_true(x);
  assert_int_equal(g->tensors.data[strip].quantization, x);
  assert_int_equal(g->tensors.data[padded].quantization, x);
  assert_int_equal(g->tensors.data[tile].quantization,
                   g->tensors.data[Y].quantization);
  assert_false(g->tensors.data[strip].dynamic);
  const flat_vector open = flat_vector_of(&file, table_of(r, padded),
                                          TFLITE_tensor_shape_signature, 4);
  const int32_t wanted[] = {-1, 5, 7, 2};
  assert_int_equal(open.count, 4);
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(flat_i32_at(&file, open, i), wanted[i]);
  end(&e);
}

static void numbers_have_neither_scales_nor_signature(void **state) {
  (void)state;
  editing e;
  begin(&e, net_file(I8, 3));
  assert_int_equal(hand_tiled(&e.edit, 0, false, false, &e.a), CALM_OK);
  const reading *r = rebuilt(&e);
  const flat_file file = view_of(r);
  const tensor_id paddings = find_op(r, OP_pad, 0)->inputs[1];
  const graph_tensor *tensor = &r->model.graphs.data[0].tensors.data[paddings];
  assert_int_equal(tensor->type, ELEMENT_i32);
  assert_int_equal(tensor->quantization, 0);
  assert_int_equal(tensor->rank, 2);
  assert_int_equal(
      flat_table_of(&file, table_of(r, paddings), TFLITE_tensor_quantization),
      0);
  assert_int_equal(flat_vector_of(&file, table_of(r, paddings),
                                  TFLITE_tensor_shape_signature, 4)
                       .count,
                   0);
  end(&e);
}

/* ---- Operator codes ------------------------------------------------------ */

static void versions_follow_the_type(void **state) {
  (void)state;
  enum { SLICE = 65, PAD = 34, CONCAT = 2 };
  const struct {
    int type;
    int32_t slice, pad, concat;
  } cases[] = {{F32, 1, 1, 1}, {I8, 2, 2, 2}, {I16, 4, 3, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    editing e;
    begin(&e, net_file(cases[i].type, 3));
    assert_int_equal(hand_tiled(&e.edit, 0, false, false, &e.a), CALM_OK);
    const reading *r = rebuilt(&e);
    const flat_file file = view_of(r);
    const flat_vector codes =
        flat_vector_of(&file, flat_root(&file), TFLITE_model_operator_codes, 4);
    const int32_t wanted[][2] = {{SLICE, cases[i].slice},
                                 {PAD, cases[i].pad},
                                 {CONCAT, cases[i].concat}};
    assert_int_equal(codes.count, 4);
    for (uint32_t k = 0; k < 3; k++) {
      const flat_table code = flat_table_at(&file, codes, k + 1);
      assert_int_equal(
          flat_i32(&file, code, TFLITE_operator_code_builtin_code, 0),
          wanted[k][0]);
      assert_int_equal(
          flat_i8(&file, code, TFLITE_operator_code_deprecated_builtin_code, 0),
          wanted[k][0]);
      assert_int_equal(flat_i32(&file, code, TFLITE_operator_code_version, 1),
                       wanted[k][1]);
    }
    end(&e);
  }
}

/* ---- Windows ------------------------------------------------------------- */

/* All of the graph as it is, but for the attributes of the convolution. */
static calm_status redo_conv(editing *e, graph_attribute *attributes,
                             uint32_t count) {
  const graph *g = e->edit.before;
  graph_op op = g->ops.data[0];
  uint32_t id;
  for (tensor_id t = 0; t < g->tensors.count; t++)
    TRY(graph_edit_add_tensor(
        &id, &e->edit, &g->tensors.data[t],
        &(edit_tensor){.from = t, .contents = EDIT_SAME}));
  op.attributes = attributes;
  op.attribute_count = count;
  TRY(graph_edit_add_op(&id, &e->edit, &op,
                        &(edit_op){.role = EDIT_WINDOW, .activation = true}));
  return graph_edit_finish(&e->edit, "dilated");
}

static void a_dilation_is_written_into_the_options(void **state) {
  (void)state;
  graph_attribute attributes[] = {{"stride", "1,1"},
                                  {"pad", "same"},
                                  {"dilation", "3,2"},
                                  {"activation", "relu"}};
  editing e;
  begin(&e, net_file(I8, 3));
  assert_int_equal(redo_conv(&e, attributes, 4), CALM_OK);
  expect_attribute(find_op(rebuilt(&e), OP_conv2d, 0), "dilation", "3,2");
  end(&e);
}

static void what_is_no_padding_is_refused(void **state) {
  (void)state;
  graph_attribute attributes[] = {
      {"stride", "1,1"}, {"pad", "some"}, {"activation", "relu"}};
  const uint8_t *bytes;
  size_t length;
  editing e;
  begin(&e, net_file(I8, 3));
  assert_int_equal(redo_conv(&e, attributes, 3), CALM_OK);
  assert_int_equal(model_rebuild(&bytes, &length, &e.r->model, &e.edit, &e.a),
                   CALM_UNSUPPORTED);
  if (!strstr(reading_message(e.r), "neither 'same' nor 'valid'"))
    fail_msg("%s", reading_message(e.r));
  end(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution_becomes_two_strips),
      cmocka_unit_test(strips_are_quantized_like_the_picture),
      cmocka_unit_test(numbers_have_neither_scales_nor_signature),
      cmocka_unit_test(versions_follow_the_type),
      cmocka_unit_test(a_dilation_is_written_into_the_options),
      cmocka_unit_test(what_is_no_padding_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
