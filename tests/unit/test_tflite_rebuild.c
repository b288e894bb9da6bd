/* Rewritten .tflite files: edits made by hand, read again from the new file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "edited.h"
#include "model/tflite_parts.h"
#include "same_graph.h"
#include "scarce.h"
#include "tflite_builder.h"

enum { F32 = 0, I8 = 9 };
enum { CONCAT_CODE, CONV_CODE, DEPTHWISE_CODE, CUSTOM_CODE, CALL_CODE, CODES };

static const build_code codes[CODES] = {
    {2, NULL}, {3, NULL}, {4, NULL}, {32, "DISPATCH_OP"}, {31, NULL}};

/* ---- A net --------------------------------------------------------------- */

/* cat = concat(x1, x2); y = relu6(conv(cat, w, bias)) */
enum { X1, X2, CAT, W, BIAS, Y, TENSORS };

static const float weights[] = {1, 2, 3, 4, 5, 6}, biases[] = {7, 8};
static const uint8_t edges[] = {1, 1, 1, 0, 2};

#define SHAPE(...) ((build_list){(const int32_t[]){__VA_ARGS__}, 4})

static const int32_t two[] = {X1, X2}, cat[] = {CAT}, conv[] = {CAT, W, BIAS},
                     out[] = {Y};
static const int32_t concat_options[] = {3, 0};
static const int32_t conv_options[] = {1, 1, 1, 3};
static const int32_t s_x1[] = {1, 2, 2, 2}, s_x2[] = {1, 2, 2, 1},
                     s_cat[] = {1, 2, 2, 3}, s_w[] = {2, 1, 1, 3}, s_b[] = {2},
                     s_open[] = {-1, 2, 2, 2};

typedef struct net {
  build_tensor tensors[TENSORS];
  build_op ops[2];
  build_buffer buffers[5];
  build_metadata metadata[3];
  build_subgraph subgraphs[2];
  build_signature signature;
  build_tensor body_tensor;
  build_model model;
} net;

static void make_net(net *n) {
  *n = (net){
      .tensors = {{.name = "x1", .shape = {s_x1, 4}},
                  {.name = "x2", .shape = {s_x2, 4}},
                  {.name = "cat", .shape = {s_cat, 4}},
                  {.name = "w", .shape = {s_w, 4}, .buffer = 2},
                  {.name = "b", .shape = {s_b, 1}, .buffer = 3},
                  {.name = "y", .shape = {s_x1, 4}, .signature = {s_open, 4}}},
      .ops = {{.code = CONCAT_CODE,
               .inputs = {two, 2},
               .outputs = {cat, 1},
               .options_type = 10,
               .options = {concat_options, 2},
               .byte_options = 2},
              {.code = CONV_CODE,
               .inputs = {conv, 3},
               .outputs = {out, 1},
               .options_type = 1,
               .options = {conv_options, 4},
               .byte_options = 1 | 8}},
      .buffers = {{NULL, 0, 0, 0},
                  {edges, sizeof edges, 0, 0},
                  {weights, sizeof weights, 0, 0},
                  {biases, sizeof biases, 0, 0},
                  {"kept", 4, 0, 0}},
      .metadata = {{"OfflineMemoryAllocation", 4},
                   {"model_control_dependencies", 1},
                   {"other", 4}},
      .signature = {0, Y},
      .body_tensor = {.name = "k", .shape = {s_b, 1}, .buffer = 3}};
  n->subgraphs[0] = (build_subgraph){.name = "main",
                                     .tensors = n->tensors,
                                     .tensor_count = TENSORS,
                                     .ops = n->ops,
                                     .op_count = 2,
                                     .inputs = {two, 2},
                                     .outputs = {out, 1}};
  n->subgraphs[1] = (build_subgraph){
      .name = "body", .tensors = &n->body_tensor, .tensor_count = 1};
  n->model = (build_model){.codes = codes,
                           .code_count = CODES,
                           .subgraphs = n->subgraphs,
                           .subgraph_count = 2,
                           .buffers = n->buffers,
                           .buffer_count = 5,
                           .metadata = n->metadata,
                           .metadata_count = 3,
                           .signatures = &n->signature,
                           .signature_count = 1};
}

/* ---- An edit ------------------------------------------------------------- */

typedef struct editing {
  build_file *file;
  reading *r, *again; /* the file, and what was made of it; NULL: nothing */
  const graph *g;
  graph_edit edit;
  arena a;
} editing;

static void begin(editing *e, build_file *file) {
  *e = (editing){.file = file, .r = reading_of(file)};
  if (e->r->status) fail_msg("%s", reading_message(e->r));
  e->g = &e->r->model.graphs.data[0];
  arena_init(&e->a, e->r->context);
  graph_edit_init(&e->edit, e->g, &e->a);
}

static void end(editing *e) {
  graph_edit_free(&e->edit);
  arena_free(&e->a);
  if (e->again) assert_int_equal(reading_end(e->again), 0);
  assert_int_equal(reading_end(e->r), 0);
  free(e->file);
}

static tensor_id keep(editing *e, tensor_id t) {
  tensor_id id;
  assert_int_equal(
      graph_edit_add_tensor(&id, &e->edit, &e->g->tensors.data[t],
                            &(edit_tensor){.from = t, .contents = EDIT_SAME}),
      CALM_OK);
  return id;
}

/* A tensor like `descent->from` with other dimensions. */
static tensor_id make(editing *e, const char *name, const int64_t *dimensions,
                      uint32_t rank, const edit_tensor *descent) {
  graph_tensor tensor = e->g->tensors.data[descent->from];
  tensor_id id;
  tensor.name = name;
  tensor.dimensions = dimensions;
  tensor.rank = rank;
  tensor.flags =
      descent->contents == EDIT_MADE ? 0 : (unsigned)CALM_TENSOR_CONST;
  assert_int_equal(graph_edit_add_tensor(&id, &e->edit, &tensor, descent),
                   CALM_OK);
  return id;
}

typedef struct operands {
  tensor_id list[4];
  uint32_t count;
} operands;

static op_id operate(editing *e, op_kind kind, const edit_op *descent,
                     operands in, tensor_id y) {
  const graph_op *from = &e->g->ops.data[descent->from];
  graph_op op = {.name = "new", .kind = kind};
  graph_attribute attributes[8];
  op_id id;
  for (uint32_t i = 0; i < from->attribute_count; i++) {
    const bool is_activation = !strcmp(from->attributes[i].key, "activation");
    if (descent->role == EDIT_ADD && !is_activation) continue;
    if (is_activation && !descent->activation) continue;
    attributes[op.attribute_count++] = from->attributes[i];
  }
  op.attributes = attributes;
  op.inputs = in.list;
  op.input_count = in.count;
  op.outputs = &y;
  op.output_count = 1;
  assert_int_equal(graph_edit_add_op(&id, &e->edit, &op, descent), CALM_OK);
  return id;
}

/* acc = conv(x1, w1, b); t = conv(x2, w2, zero); y = relu6(acc + t) */
static void split_convolution(editing *e) {
  static const float w1[] = {1, 2, 4, 5}, w2[] = {3, 6}, zeros[2];
  static const int64_t shape1[] = {2, 1, 1, 2}, shape2[] = {2, 1, 1, 1};
  const graph *g = e->g;
  const tensor_id x1 = keep(e, X1), x2 = keep(e, X2);
  const tensor_id p1 = make(e, "w/p1", shape1, 4,
                            &(edit_tensor){.from = W,
                                           .contents = EDIT_SLICE,
                                           .axis = 3,
                                           .bytes = (const uint8_t *)w1});
  const tensor_id p2 = make(e, "w/p2", shape2, 4,
                            &(edit_tensor){.from = W,
                                           .contents = EDIT_SLICE,
                                           .axis = 3,
                                           .begin = 2,
                                           .bytes = (const uint8_t *)w2});
  const tensor_id b = keep(e, BIAS);
  const tensor_id zero = make(e, "zero", g->tensors.data[BIAS].dimensions, 1,
                              &(edit_tensor){.from = BIAS,
                                             .contents = EDIT_ZERO,
                                             .bytes = (const uint8_t *)zeros});
  const edit_tensor made = {.from = Y, .contents = EDIT_MADE};
  const tensor_id acc =
      make(e, "y/acc1", g->tensors.data[Y].dimensions, 4, &made);
  const tensor_id t = make(e, "y/t2", g->tensors.data[Y].dimensions, 4, &made);
  const tensor_id y = keep(e, Y);
  const edit_op part = {.from = 1, .role = EDIT_KEEP};
  operate(e, OP_conv2d, &part, (operands){{x1, p1, b}, 3}, acc);
  operate(e, OP_conv2d, &part, (operands){{x2, p2, zero}, 3}, t);
  operate(e, OP_add,
          &(edit_op){.from = 1, .role = EDIT_ADD, .activation = true},
          (operands){{acc, t}, 2}, y);
  assert_int_equal(graph_edit_finish(&e->edit, "edit"), CALM_OK);
}

/* ---- What comes out ------------------------------------------------------ */

static calm_status rebuild(const uint8_t **bytes, size_t *length, editing *e) {
  return model_rebuild(bytes, length, &e->r->model, &e->edit, &e->a);
}

static const reading *rebuilt(editing *e) {
  const uint8_t *bytes;
  size_t length;
  if (rebuild(&bytes, &length, e)) fail_msg("%s", reading_message(e->r));
  e->again = reading_of_bytes(bytes, length);
  if (e->again->status) fail_msg("%s", reading_message(e->again));
  const char *difference =
      graph_difference(&e->edit.after, &e->again->model.graphs.data[0]);
  if (difference) fail_msg("%s differs", difference);
  return e->again;
}

static void expect_constant(const reading *r, tensor_id t, const void *bytes,
                            uint64_t length) {
  const uint8_t *found;
  uint64_t found_length;
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_constant(&found, &found_length, &r->model, t, &a),
                   CALM_OK);
  assert_int_equal(found_length, length);
  assert_memory_equal(found, bytes, length);
  arena_free(&a);
}

static flat_file view_of(const reading *r) {
  return (flat_file){r->context, "built", r->model.map.bytes,
                     r->model.map.length};
}

static uint32_t count_of(const reading *r, unsigned slot) {
  const flat_file file = view_of(r);
  return flat_vector_of(&file, flat_root(&file), slot, 4).count;
}

static void a_convolution_becomes_two_and_a_sum(void **state) {
  static const float w2[] = {3, 6}, zeros[2];
  (void)state;
  for (int misaligned = 0; misaligned < 2; misaligned++) {
    net n;
    make_net(&n);
    editing e;
    begin(&e, build_tflite(&n.model, misaligned));
    split_convolution(&e);
    const reading *again = rebuilt(&e);
    expect_constant(again, 3, w2, sizeof w2);
    expect_constant(again, 4, biases, sizeof biases);
    expect_constant(again, 5, zeros, sizeof zeros);
    assert_int_equal(count_of(again, TFLITE_model_operator_codes), CODES + 1);
    end(&e);
  }
}

/* ---- What else is in the file -------------------------------------------- */

static bool has_entry(const reading *r, const char *name) {
  for (uint32_t i = 0; i < r->model.metadata_count; i++)
    if (!strcmp(r->model.metadata_names[i], name)) return true;
  return false;
}

static void buffers_are_dropped_and_renumbered(void **state) {
  (void)state;
  net n;
  make_net(&n);
  editing e;
  begin(&e, build_tflite(&n.model, false));
  split_convolution(&e);
  const reading *again = rebuilt(&e);
  const graph_tensor *k = &again->model.graphs.data[1].tensors.data[0];
  assert_int_equal(k->flags, CALM_TENSOR_CONST);
  assert_string_equal(again->model.graphs.data[1].name, "body");
  /* the empty one, bias, "kept", two slices, zeros, control edges */
  assert_int_equal(count_of(again, TFLITE_model_buffers), 7);
  assert_false(again->model.offline.present);
  assert_true(has_entry(again, "other"));
  assert_int_equal(again->warning_count, e.r->warning_count);
  end(&e);
}

static void signatures_are_renumbered(void **state) {
  (void)state;
  net n;
  make_net(&n);
  editing e;
  begin(&e, build_tflite(&n.model, false));
  split_convolution(&e);
  const reading *again = rebuilt(&e);
  const flat_file file = view_of(again);
  const flat_vector list =
      flat_vector_of(&file, flat_root(&file), TFLITE_model_signature_defs, 4);
  const flat_table map =
      flat_table_at(&file,
                    flat_vector_of(&file, flat_table_at(&file, list, 0),
                                   TFLITE_signature_inputs, 4),
                    0);
  assert_int_equal(flat_u32(&file, map, TFLITE_tensor_map_tensor_index, 0), 8);
  end(&e);
}

/* The addition waits for the second convolution, without need. */
static void control_edges_are_said_anew(void **state) {
  (void)state;
  net n;
  make_net(&n);
  editing e;
  begin(&e, build_tflite(&n.model, false));
  assert_int_equal(e.g->ops.data[1].after_count, 1);
  split_convolution(&e);
  static op_id after[] = {0, 1};
  e.edit.after.ops.data[2].after = after;
  e.edit.after.ops.data[2].after_count = 2;
  const reading *again = rebuilt(&e);
  assert_int_equal(again->model.graphs.data[0].ops.data[2].after_count, 2);
  end(&e);
}

static void keep_all(editing *e) {
  assert_int_equal(edited_keep_all(&e->edit), CALM_OK);
}

/* An archive behind the model, and weights between the two. */
static void what_lies_behind_the_flatbuffer_stays_there(void **state) {
  static const char archive[] = "PK and so on, at least sixteen bytes";
  (void)state;
  net n;
  make_net(&n);
  n.buffers[2] = (build_buffer){.offset = 8, .size = sizeof weights};
  build_file *f = build_tflite(&n.model, false);
  const size_t place = f->length + 1;
  memcpy(f->bytes + place, weights, sizeof weights);
  build_set(f, build_child(f, build_root(f), 4, 2), 1, place, 8);
  const size_t end_of_model = place + sizeof weights;
  memcpy(f->bytes + end_of_model, archive, sizeof archive);
  f->length = end_of_model + sizeof archive;
  editing e;
  begin(&e, f);
  keep_all(&e);
  const reading *again = rebuilt(&e);
  const file_map *map = &again->model.map;
  assert_true(map->length >= f->length);
  assert_memory_equal(map->bytes + map->length - sizeof archive, archive,
                      sizeof archive);
  expect_constant(again, W, weights, sizeof weights);
  end(&e);
}

/* ---- Quantization -------------------------------------------------------- */

/* The kernel of a depthwise convolution with a scale per channel. */
static void slices_take_their_scales(void **state) {
  static const int32_t dw[] = {CAT, W};
  static const int32_t s_kernel[] = {1, 1, 1, 3};
  static const int32_t options[] = {1, 1, 1, 1, 0};
  static const int64_t part[] = {1, 1, 1, 2}, picture[] = {1, 2, 2, 2},
                       rest[] = {1, 1, 1, 1}, thin[] = {1, 2, 2, 1};
  static const uint8_t kernel[] = {1, 2, 3};
  (void)state;
  net n;
  make_net(&n);
  for (int t = 0; t < TENSORS; t++) {
    n.tensors[t].type = I8;
    n.tensors[t].quantized = true;
    n.tensors[t].scale = 16;
  }
  n.tensors[W].shape = (build_list){s_kernel, 4};
  n.tensors[W].channels = 3;
  n.tensors[W].axis = 3;
  n.tensors[Y].shape = (build_list){s_cat, 4};
  n.tensors[Y].signature = (build_list){NULL, 0};
  n.buffers[2] = (build_buffer){kernel, 3, 0, 0};
  n.ops[1] = (build_op){.code = DEPTHWISE_CODE,
                        .inputs = {dw, 2},
                        .outputs = {out, 1},
                        .options_type = 2,
                        .options = {options, 5},
                        .byte_options = 1 | 16};
  editing e;
  begin(&e, build_tflite(&n.model, false));
  const tensor_id x1 = keep(&e, X1), x2 = keep(&e, X2);
  const tensor_id w1 =
      make(&e, "w/p1", part, 4,
           &(edit_tensor){
               .from = W, .contents = EDIT_SLICE, .axis = 3, .bytes = kernel});
  const tensor_id w2 = make(&e, "w/p2", rest, 4,
                            &(edit_tensor){.from = W,
                                           .contents = EDIT_SLICE,
                                           .axis = 3,
                                           .begin = 2,
                                           .bytes = kernel + 2});
  const edit_tensor made = {.from = Y, .contents = EDIT_MADE};
  const tensor_id y1 = make(&e, "y/p1", picture, 4, &made);
  const tensor_id y2 = make(&e, "y/p2", thin, 4, &made);
  const tensor_id y = keep(&e, Y);
  const edit_op kept = {.from = 1, .role = EDIT_KEEP, .activation = true};
  operate(&e, OP_depthwise_conv2d, &kept, (operands){{x1, w1}, 2}, y1);
  operate(&e, OP_depthwise_conv2d, &kept, (operands){{x2, w2}, 2}, y2);
  operate(&e, OP_concat, &(edit_op){.from = 0, .role = EDIT_CONCAT},
          (operands){{y1, y2}, 2}, y);
  assert_int_equal(graph_edit_finish(&e.edit, "edit"), CALM_OK);
  const reading *again = rebuilt(&e);
  const graph *g = &again->model.graphs.data[0];
  const flat_file file = view_of(again);
  const flat_table subgraph = flat_table_at(
      &file, flat_vector_of(&file, flat_root(&file), TFLITE_model_subgraphs, 4),
      0);
  const flat_vector tensors =
      flat_vector_of(&file, subgraph, TFLITE_subgraph_tensors, 4);
  const flat_vector scales =
      flat_vector_of(&file,
                     flat_table_of(&file, flat_table_at(&file, tensors, w2),
                                   TFLITE_tensor_quantization),
                     TFLITE_quantization_scale, 4);
  const float third = 3 * 16.0f / 1024;
  assert_int_equal(g->tensors.data[w1].scale_count, 2);
  assert_int_equal(scales.count, 1);
  assert_memory_equal(file.bytes + scales.position, &third, 4);
  assert_int_equal(g->tensors.data[y1].quantization,
                   g->tensors.data[x1].quantization);
  end(&e);
}

/* ---- Refusals ------------------------------------------------------------ */

static void expect_refusal(editing *e, const char *words) {
  const uint8_t *bytes;
  size_t length;
  assert_int_equal(rebuild(&bytes, &length, e), CALM_UNSUPPORTED);
  if (!strstr(reading_message(e->r), words))
    fail_msg("%s", reading_message(e->r));
  end(e);
}

static void sums_on_paper_are_refused(void **state) {
  (void)state;
  net n;
  make_net(&n);
  editing e;
  begin(&e, build_tflite(&n.model, false));
  keep_all(&e);
  e.edit.ops.data[1].role = EDIT_SUM;
  expect_refusal(&e, "which .tflite does not have");
}

static void places_in_the_file_are_refused(void **state) {
  (void)state;
  net n;
  make_net(&n);
  n.ops[1] =
      (build_op){.code = CUSTOM_CODE, .inputs = {cat, 1}, .outputs = {out, 1}};
  editing e;
  begin(&e, build_tflite(&n.model, false));
  keep_all(&e);
  expect_refusal(&e, "operator '1_DISPATCH_OP' (DISPATCH_OP) names places");
}

static void outside_options_are_refused(void **state) {
  (void)state;
  net n;
  make_net(&n);
  n.ops[1].outside_offset = 8;
  n.ops[1].outside_size = 4;
  editing e;
  begin(&e, build_tflite(&n.model, false));
  keep_all(&e);
  expect_refusal(&e, "operator '1_CONV_2D' has custom options behind");
}

static void a_tensor_that_is_still_named_must_stay(void **state) {
  static const int32_t between[] = {CAT};
  (void)state;
  net n;
  make_net(&n);
  n.ops[1].intermediates = (build_list){between, 1};
  editing e;
  begin(&e, build_tflite(&n.model, false));
  split_convolution(&e);
  expect_refusal(&e, "needs tensor 'cat', which the rewriting takes away");
}

/* Slot 7 of a convolution's options leads to something. */
static void unknown_references_are_refused(void **state) {
  static const int32_t options[] = {1, 1, 1, 3, 1, 1, 0, 64};
  (void)state;
  net n;
  make_net(&n);
  n.ops[1].byte_options = 0;
  n.ops[1].options = (build_list){options, 8};
  editing e;
  begin(&e, build_tflite(&n.model, false));
  keep_all(&e);
  expect_refusal(&e, "field 7 is not known to this version");
}

static void unknown_numbers_are_kept(void **state) {
  static const int32_t options[] = {1, 1, 1, 3, 1, 1, 0, -5};
  (void)state;
  net n;
  make_net(&n);
  n.ops[1].options = (build_list){options, 8};
  editing e;
  begin(&e, build_tflite(&n.model, false));
  keep_all(&e);
  const reading *again = rebuilt(&e);
  const flat_file file = view_of(again);
  const flat_table subgraph = flat_table_at(
      &file, flat_vector_of(&file, flat_root(&file), TFLITE_model_subgraphs, 4),
      0);
  const flat_table op = flat_table_at(
      &file, flat_vector_of(&file, subgraph, TFLITE_subgraph_operators, 4), 1);
  assert_int_equal(
      flat_i32(&file, flat_table_of(&file, op, TFLITE_OPTIONS_SLOT), 7, 0), -5);
  end(&e);
}

static void only_constants_have_bytes(void **state) {
  (void)state;
  net n;
  make_net(&n);
  build_file *f = build_tflite(&n.model, false);
  reading *r = reading_of(f);
  const uint8_t *bytes;
  uint64_t length;
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_constant(&bytes, &length, &r->model, CAT, &a),
                   CALM_UNSUPPORTED);
  assert_non_null(strstr(reading_message(r), "it is no constant"));
  arena_free(&a);
  assert_int_equal(reading_end(r), 0);
  free(f);
}

/* ---- Memory -------------------------------------------------------------- */

static calm_status read_and_rebuild(calm_context *context,
                                    const build_file *f) {
  calm_model model;
  arena a;
  graph_edit edit;
  const uint8_t *bytes;
  size_t length;
  model_init(&model, context, "built");
  model.map = (file_map){f->bytes, f->length};
  calm_status status = model_read(&model);
  if (status == CALM_OK) {
    arena_init(&a, context);
    graph_edit_init(&edit, &model.graphs.data[0], &a);
    status = edited_keep_all(&edit);
    if (status == CALM_OK)
      status = model_rebuild(&bytes, &length, &model, &edit, &a);
    graph_edit_free(&edit);
    arena_free(&a);
  }
  model_clear(&model);
  return status;
}

static void every_failed_allocation_is_reported(void **state) {
  (void)state;
  net n;
  make_net(&n);
  build_file *f = build_tflite(&n.model, false);
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t most = 1; status == CALM_NO_MEMORY; most++) {
    uint64_t left = most;
    const calm_allocator allocator = {scarce_reallocate, &left};
    calm_context *context = calm_context_new(&allocator);
    if (!context) continue;
    status = read_and_rebuild(context, f);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  assert_int_equal(status, CALM_OK);
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution_becomes_two_and_a_sum),
      cmocka_unit_test(buffers_are_dropped_and_renumbered),
      cmocka_unit_test(signatures_are_renumbered),
      cmocka_unit_test(control_edges_are_said_anew),
      cmocka_unit_test(what_lies_behind_the_flatbuffer_stays_there),
      cmocka_unit_test(slices_take_their_scales),
      cmocka_unit_test(sums_on_paper_are_refused),
      cmocka_unit_test(places_in_the_file_are_refused),
      cmocka_unit_test(outside_options_are_refused),
      cmocka_unit_test(a_tensor_that_is_still_named_must_stay),
      cmocka_unit_test(unknown_references_are_refused),
      cmocka_unit_test(unknown_numbers_are_kept),
      cmocka_unit_test(only_constants_have_bytes),
      cmocka_unit_test(every_failed_allocation_is_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
