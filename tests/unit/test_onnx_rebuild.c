/* Rewritten .onnx files, read again. */
#include "cases.h"
#include "edited.h"
#include "model/protobuf.h"
#include "onnx_builder.h"
#include "scarce.h"

/* A model, an edit of it that the test makes, and what was written. */
typedef struct rewriting {
  message file;
  reading *r;
  const graph *g;
  arena a;
  graph_edit edit;
  const uint8_t *bytes;
  size_t length;
} rewriting;

static rewriting *begin(message file) {
  rewriting *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->file = file;
  w->r = reading_of_model(&w->file);
  if (w->r->status != CALM_OK) fail_msg("%s", reading_message(w->r));
  w->g = &w->r->model.graphs.data[0];
  arena_init(&w->a, w->r->context);
  graph_edit_init(&w->edit, w->g, &w->a);
  return w;
}

static void end(rewriting *w) {
  graph_edit_free(&w->edit);
  arena_free(&w->a);
  assert_int_equal(reading_end(w->r), 0);
  free(w->file.bytes);
  free(w);
}

static calm_status rebuild(rewriting *w) {
  if (graph_edit_finish(&w->edit, "edit"))
    fail_msg("%s", reading_message(w->r));
  return model_rebuild(&w->bytes, &w->length, &w->r->model, &w->edit, &w->a);
}

/* What was written reads as what was meant. */
static void expect_meant(rewriting *w) {
  char buffer[256];
  calm_model again;
  if (rebuild(w)) fail_msg("%s", reading_message(w->r));
  model_init(&again, w->r->context, "again");
  again.map = (file_map){w->bytes, w->length};
  if (model_read(&again)) fail_msg("%s", reading_message(w->r));
  const char *difference = edited_compare(buffer, sizeof buffer, &w->edit.after,
                                          &again.graphs.data[0]);
  if (difference) fail_msg("%s", difference);
  model_clear(&again);
}

static bool occurs(const rewriting *w, const char *text) {
  const size_t length = strlen(text);
  for (size_t i = 0; i + length <= w->length; i++)
    if (!memcmp(w->bytes + i, text, length)) return true;
  return false;
}

static void expect_refusal(rewriting *w, const char *words) {
  assert_int_equal(rebuild(w), CALM_UNSUPPORTED);
  if (!strstr(reading_message(w->r), words))
    fail_msg("%s", reading_message(w->r));
}

/* ---- Making edits -------------------------------------------------------- */

static tensor_id find_before(const rewriting *w, const char *name) {
  for (tensor_id t = 0; t < w->g->tensors.count; t++)
    if (!strcmp(w->g->tensors.data[t].name, name)) return t;
  fail_msg("no tensor '%s'", name);
  return CALM_NONE;
}

static op_id find_op(const rewriting *w, const char *name) {
  for (op_id u = 0; u < w->g->ops.count; u++)
    if (!strcmp(w->g->ops.data[u].name, name)) return u;
  fail_msg("no operator '%s'", name);
  return CALM_NONE;
}

/* All tensors but those between spaces in `without`. */
static void keep_tensors(rewriting *w, const char *without) {
  for (tensor_id t = 0; t < w->g->tensors.count; t++) {
    const edit_tensor descent = {.from = t, .contents = EDIT_SAME};
    char name[64];
    tensor_id id;
    snprintf(name, sizeof name, " %s ", w->g->tensors.data[t].name);
    if (!strstr(without, name))
      assert_int_equal(graph_edit_add_tensor(&id, &w->edit,
                                             &w->g->tensors.data[t], &descent),
                       CALM_OK);
  }
}

/* A tensor like another one, with another name and size along an axis. */
static void new_tensor(rewriting *w, const char *name, const char *like,
                       edit_contents contents, uint32_t axis, int64_t size) {
  const tensor_id from = find_before(w, like);
  graph_tensor tensor = w->g->tensors.data[from];
  int64_t dimensions[GRAPH_MAX_RANK];
  tensor_id id;
  for (uint32_t i = 0; i < tensor.rank; i++)
    dimensions[i] = tensor.dimensions[i];
  if (tensor.rank) dimensions[axis] = size;
  tensor.name = name;
  tensor.dimensions = dimensions;
  tensor.flags &= ~(unsigned)CALM_TENSOR_OUTPUT;
  uint64_t bytes;
  assert_true(graph_bytes_of(&bytes, tensor.type, dimensions, tensor.rank));
  uint8_t *filled = arena_calloc(&w->a, bytes + 1, 1);
  assert_non_null(filled);
  memset(filled, name[0], bytes);
  const edit_tensor descent = {.from = from,
                               .contents = contents,
                               .axis = axis,
                               .bytes = contents == EDIT_MADE ? NULL : filled};
  assert_int_equal(graph_edit_add_tensor(&id, &w->edit, &tensor, &descent),
                   CALM_OK);
}

/* Names between spaces, "-" for an absent one, to ids of the edit. */
static uint32_t list(tensor_id *out, const rewriting *w, const char *names) {
  char copy[256];
  uint32_t count = 0;
  snprintf(copy, sizeof copy, "%s", names);
  for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
    out[count] = strcmp(at, "-") ? name_table_find(&w->edit.tensor_names, at)
                                 : CALM_NONE;
    if (out[count] == CALM_NONE && strcmp(at, "-")) fail_msg("no '%s'", at);
    count++;
  }
  return count;
}

/* An operator like another one; `attributes` NULL: the same ones. */
static void new_op(rewriting *w, const char *name, const char *like,
                   edit_role role, op_kind kind, const char *inputs,
                   const char *outputs, graph_attribute *attributes,
                   uint32_t attribute_count) {
  graph_op op = w->g->ops.data[find_op(w, like)];
  tensor_id in[16], out[16];
  op.name = name;
  op.kind = kind;
  op.kind_name = kind == OP_OPAQUE ? op.kind_name : op_kind_name(kind);
  op.inputs = in;
  op.outputs = out;
  op.input_count = list(in, w, inputs);
  op.output_count = list(out, w, outputs);
  if (attributes) {
    op.attributes = attributes;
    op.attribute_count = attribute_count;
  }
  const edit_op descent = {.from = find_op(w, like), .role = role};
  op_id id;
  assert_int_equal(graph_edit_add_op(&id, &w->edit, &op, &descent), CALM_OK);
}

static void keep_op(rewriting *w, const char *name, const char *inputs,
                    const char *outputs) {
  const graph_op *op = &w->g->ops.data[find_op(w, name)];
  new_op(w, name, name, EDIT_KEEP, op->kind, inputs, outputs, NULL, 0);
}

static graph_attribute plain[] = {{"layout", "channels_first"}};

/* ---- Files --------------------------------------------------------------- */

static message text_attribute(const char *name, const char *value) {
  message a = attribute(name);
  put_text(&a, 4, value);
  put_number(&a, 20, 3);
  return a;
}

static message floats(const char *name, const char *dims, size_t count) {
  message w = weight(name, FLOAT, dims);
  uint8_t *bytes = calloc(count + 1, 4);
  assert_non_null(bytes);
  put_bytes(&w, 9, bytes, count * 4);
  free(bytes);
  return w;
}

/* x1, x2 -> Concat -> convolution `node` -> Relu -> y */
static message sum_net(message convolution, int64_t ir) {
  message g = {0}, n = node("Concat", "x1 x2", "cat"), annotation = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x1", FLOAT, "1,2,4,4");
  add_input(&g, "x2", FLOAT, "1,3,4,4");
  if (ir < 4) {
    add_input(&g, "w", FLOAT, "6,5,1,1");
    add_input(&g, "b", FLOAT, "6");
  }
  put_message(&n, 5, int_attribute("axis", 1));
  put_text(&n, 3, "Cat");
  put_message(&g, 1, n);
  put_message(&g, 1, convolution);
  add_node(&g, "Relu", "c", "y");
  put_text(&g, 10, "a doc string");
  add_weight(&g, floats("w", "6,5,1,1", 30));
  add_weight(&g, floats("b", "6", 6));
  add_weight(&g, floats("spare", "7", 7));
  if (ir < 4) add_input(&g, "spare", FLOAT, "7");
  put_text(&annotation, 1, "cat");
  put_message(&g, 14, annotation);
  put_message(&g, 13, value_info("cat", FLOAT, "1,5,4,4"));
  put_message(&g, 13, value_info("c", FLOAT, "1,6,4,4"));
  add_output(&g, "y", FLOAT, "1,6,4,4");
  message m = model_of(g, ir, 13);
  put_text(&m, 99, "behind the graph");
  return m;
}

static message plain_convolution(void) {
  message n = node("Conv", "cat w b", "c");
  put_text(&n, 3, "C");
  put_text(&n, 6, "what it is for");
  return n;
}

static message fused_convolution(void) {
  message n = node("FusedConv", "cat w b", "c");
  put_text(&n, 3, "C");
  put_text(&n, 7, "com.microsoft");
  put_message(&n, 5, text_attribute("activation", "Relu"));
  return n;
}

static message fused_net(int64_t ir) {
  message m = sum_net(fused_convolution(), ir), opset = {0};
  put_text(&opset, 1, "com.microsoft");
  put_number(&opset, 2, 1);
  put_message(&m, 8, opset);
  return m;
}

static void keep_rest(rewriting *w) {
  keep_tensors(w, " cat w ");
  new_tensor(w, "w/p1", "w", EDIT_SLICE, 1, 2);
  new_tensor(w, "w/p2", "w", EDIT_SLICE, 1, 3);
  new_tensor(w, "c/acc1", "c", EDIT_MADE, 0, 1);
}

/* ---- What stays ---------------------------------------------------------- */

static void expect_same_bytes(message m) {
  rewriting *w = begin(m);
  graph_edit_free(&w->edit);
  assert_int_equal(edited_identity(&w->edit, w->g, &w->a), CALM_OK);
  if (rebuild(w)) fail_msg("%s", reading_message(w->r));
  assert_int_equal(w->length, w->file.length);
  assert_memory_equal(w->bytes, w->file.bytes, w->length);
  end(w);
}

static message body_reading(const char *name, const char *weight) {
  message body = {0};
  add_node(&body, "Add", name, "inner");
  add_node(&body, "Add", weight, "made");
  add_output(&body, "made", FLOAT, "4");
  return body;
}

static message body_net(void) {
  message g = {0}, n = node("If", "flag", "y");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  add_input(&g, "flag", BOOL, "1");
  add_weight(&g, floats("w", "4", 4));
  add_node(&g, "Neg", "x", "a");
  add_node(&g, "Abs", "a", "b");
  add_node(&g, "Exp", "b", "z");
  put_message(
      &n, 5, graph_attribute_of("then_branch", body_reading("a b", "inner w")));
  put_message(
      &n, 5, graph_attribute_of("else_branch", body_reading("b a", "inner w")));
  put_message(&g, 1, n);
  add_output(&g, "y", FLOAT, "4");
  add_output(&g, "z", FLOAT, "4");
  return plain_model(g);
}

/* Weights that nodes make, and outputs that nobody reads. */
static message made_weights(void) {
  message g = {0}, n = node("Constant", "", "k");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "2,2");
  put_message(&n, 5, tensor_attribute("value", integers("", "2,2")));
  add_node(&g, "Dropout", "x", "d mask");
  put_message(&g, 1, n);
  add_node(&g, "Reshape", "flat k", "w");
  add_node(&g, "Add", "d w", "y");
  add_node(&g, "Identity", "flat", "nobody");
  add_weight(&g, floats("flat", "4", 4));
  put_message(&g, 13, value_info("mask", BOOL, "2,2"));
  add_output(&g, "y", FLOAT, "2,2");
  return plain_model(g);
}

static void an_edit_that_changes_nothing_yields_the_file(void **state) {
  (void)state;
  expect_same_bytes(sum_net(plain_convolution(), 8));
  expect_same_bytes(fused_net(3));
  expect_same_bytes(body_net());
  expect_same_bytes(made_weights());
}

static void expect_case(const char *name) {
  char path[512], buffer[256];
  if (!cases_path(path, sizeof path, name)) return;
  calm_context *context = calm_context_new(NULL);
  file_map map;
  assert_int_equal(file_map_open(&map, context, path), CALM_OK);
  message m = {0};
  put(&m, map.bytes, map.length);
  file_map_close(&map);
  calm_context_free(context);
  rewriting *w = begin(m);
  graph_edit_free(&w->edit);
  assert_int_equal(edited_identity(&w->edit, w->g, &w->a), CALM_OK);
  expect_meant(w);
  snprintf(buffer, sizeof buffer, "%s: other bytes", name);
  if (w->length != m.length || memcmp(w->bytes, m.bytes, m.length))
    fail_msg("%s", buffer);
  end(w);
}

static void public_files_stay_what_they_are(void **state) {
  (void)state;
  static const char *const names[] = {"onnx2c_conv_yolov6n_biggest",
                                      "onnx2c_scalar_input",
                                      "onnx_conv2d_groups",
                                      "onnx_light_densenet121",
                                      "onnx_light_inception_v1",
                                      "onnx_light_resnet50",
                                      "onnx_light_shufflenet",
                                      "onnx_light_squeezenet",
                                      "onnx2c_split_variable_parts_opset7",
                                      "zigzag_mobilenetv2"};
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    snprintf(path, sizeof path, "models/%s.onnx", names[i]);
    expect_case(path);
  }
}

/* ---- Sums ---------------------------------------------------------------- */

static void a_convolution_adds_to_another(void **state) {
  (void)state;
  rewriting *w = begin(sum_net(plain_convolution(), 8));
  keep_rest(w);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1 b", "c/acc1", NULL, 0);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_fused_conv, "x2 w/p2 - c/acc1", "c",
         NULL, 0);
  keep_op(w, "2_Relu", "c", "y");
  expect_meant(w);
  assert_true(occurs(w, "com.microsoft"));
  assert_true(occurs(w, "what it is for"));
  assert_true(occurs(w, "a doc string"));
  assert_true(occurs(w, "behind the graph"));
  assert_true(occurs(w, "spare"));
  assert_false(occurs(w, "Concat"));
  assert_false(occurs(w, "cat"));
  end(w);
}

static void an_addition_adds_them(void **state) {
  (void)state;
  rewriting *w = begin(sum_net(plain_convolution(), 8));
  graph_attribute none[1] = {{NULL, NULL}};
  keep_rest(w);
  new_tensor(w, "c/t2", "c", EDIT_MADE, 0, 1);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1 b", "c/acc1", NULL, 0);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_conv2d, "x2 w/p2", "c/t2", NULL, 0);
  new_op(w, "C/a2", "C", EDIT_ADD, OP_add, "c/acc1 c/t2", "c", none, 0);
  keep_op(w, "2_Relu", "c", "y");
  expect_meant(w);
  assert_false(occurs(w, "com.microsoft"));
  end(w);
}

static void the_last_one_has_the_activation(void **state) {
  (void)state;
  rewriting *w = begin(fused_net(8));
  keep_rest(w);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1 b", "c/acc1", plain, 1);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_fused_conv, "x2 w/p2 - c/acc1", "c",
         NULL, 0);
  keep_op(w, "2_Relu", "c", "y");
  expect_meant(w);
  end(w);
}

static void an_addition_has_none(void **state) {
  (void)state;
  graph_attribute relu[] = {{"activation", "relu"}};
  rewriting *w = begin(fused_net(8));
  keep_rest(w);
  new_tensor(w, "c/t2", "c", EDIT_MADE, 0, 1);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1 b", "c/acc1", plain, 1);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_conv2d, "x2 w/p2", "c/t2", plain, 1);
  new_op(w, "C/a2", "C", EDIT_ADD, OP_add, "c/acc1 c/t2", "c", relu, 1);
  keep_op(w, "2_Relu", "c", "y");
  expect_refusal(w, "cannot have an activation");
  end(w);
}

/* Up to IR 3 initializers are inputs, too: old ones leave both lists. */
static void weights_are_listed_where_they_must(void **state) {
  (void)state;
  rewriting *w = begin(sum_net(plain_convolution(), 3));
  keep_rest(w);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1 b", "c/acc1", NULL, 0);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_fused_conv, "x2 w/p2 - c/acc1", "c",
         NULL, 0);
  keep_op(w, "2_Relu", "c", "y");
  expect_meant(w);
  uint32_t inputs = 0, weights = 0;
  proto_file file = {NULL, "", w->bytes, w->length};
  for (proto_cursor c = proto_open(&file, (proto_span){0, w->length});
       proto_more(&c);) {
    proto_field f;
    assert_int_equal(proto_next(&f, &c), CALM_OK);
    if (f.key != PROTO_KEY(7, PROTO_BYTES)) continue;
    for (proto_cursor in = proto_open(&file, f.span); proto_more(&in);) {
      assert_int_equal(proto_next(&f, &in), CALM_OK);
      inputs += f.key == PROTO_KEY(11, PROTO_BYTES);
      weights += f.key == PROTO_KEY(5, PROTO_BYTES);
    }
  }
  assert_int_equal(weights, 4); /* b spare w/p1 w/p2 */
  assert_int_equal(inputs, weights + 2);
  end(w);
}

/* ---- Channel by channel -------------------------------------------------- */

static message depthwise_net(void) {
  message g = {0}, cat = node("Concat", "x1 x2", "cat"),
          n = node("Conv", "cat w", "y");
  put_text(&g, 2, "net");
  add_input(&g, "x1", FLOAT, "1,2,4,4");
  add_input(&g, "x2", FLOAT, "1,3,4,4");
  put_message(&cat, 5, int_attribute("axis", -3));
  put_text(&cat, 3, "Cat");
  put_message(&g, 1, cat);
  put_message(&n, 5, int_attribute("group", 5));
  put_text(&n, 3, "D");
  put_message(&g, 1, n);
  add_weight(&g, floats("w", "5,1,1,1", 5));
  add_output(&g, "y", FLOAT, "1,5,4,4");
  return plain_model(g);
}

static void groups_are_those_of_the_part(void **state) {
  (void)state;
  graph_attribute two[] = {{"layout", "channels_first"}, {"group", "2"}};
  graph_attribute three[] = {{"layout", "channels_first"}, {"group", "3"}};
  graph_attribute axis[] = {{"axis", "1"}};
  rewriting *w = begin(depthwise_net());
  keep_tensors(w, " cat w ");
  new_tensor(w, "w/p1", "w", EDIT_SLICE, 0, 2);
  new_tensor(w, "w/p2", "w", EDIT_SLICE, 0, 3);
  new_tensor(w, "y/p1", "y", EDIT_MADE, 1, 2);
  new_tensor(w, "y/p2", "y", EDIT_MADE, 1, 3);
  new_op(w, "D/p1", "D", EDIT_KEEP, OP_depthwise_conv2d, "x1 w/p1", "y/p1", two,
         2);
  new_op(w, "D/p2", "D", EDIT_KEEP, OP_depthwise_conv2d, "x2 w/p2", "y/p2",
         three, 2);
  new_op(w, "D", "Cat", EDIT_CONCAT, OP_concat, "y/p1 y/p2", "y", axis, 1);
  expect_meant(w);
  end(w);
}

/* ---- One for many -------------------------------------------------------- */

static void a_normalization_is_made(void **state) {
  (void)state;
  graph_attribute epsilon[] = {{"epsilon", "0.001"}};
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "1,3,4,4");
  add_weight(&g, floats("a", "3,1,1", 3));
  add_weight(&g, floats("b", "3,1,1", 3));
  add_weight(&g, floats("v", "3", 3));
  add_named(&g, "M", "Mul", "x a", "t");
  add_named(&g, "A", "Add", "t b", "u");
  add_named(&g, "N", "Neg", "u", "y");
  add_output(&g, "y", FLOAT, "1,3,4,4");
  rewriting *w = begin(plain_model(g));
  keep_tensors(w, " a b t ");
  const char *const names[] = {"s1", "s2", "s3", "s4"};
  for (int i = 0; i < 4; i++) {
    const tensor_id from = find_before(w, "a");
    const int64_t three = 3;
    graph_tensor tensor = w->g->tensors.data[from];
    tensor_id id;
    tensor.name = names[i];
    tensor.rank = 1;
    tensor.dimensions = &three;
    const edit_tensor descent = {.from = from,
                                 .contents = EDIT_GIVEN,
                                 .bytes = (const uint8_t *)"123456789012"};
    assert_int_equal(graph_edit_add_tensor(&id, &w->edit, &tensor, &descent),
                     CALM_OK);
  }
  new_op(w, "A", "A", EDIT_AFFINE, OP_batch_normalization, "x s1 s2 s3 s4", "u",
         epsilon, 1);
  keep_op(w, "N", "u", "y");
  expect_meant(w);
  assert_false(occurs(w, "Mul"));
  end(w);
}

/* ---- Refusals ------------------------------------------------------------ */

static void what_bodies_read_must_stay(void **state) {
  (void)state;
  rewriting *w = begin(body_net());
  keep_tensors(w, " a ");
  keep_op(w, "1_Abs", "x", "b");
  keep_op(w, "2_Exp", "b", "z");
  keep_op(w, "3_If", "flag b", "y");
  expect_refusal(w, "a body reads 'a'");
  end(w);
}

static void new_names_are_new(void **state) {
  (void)state;
  rewriting *w = begin(body_net());
  keep_tensors(w, "");
  new_tensor(w, "inner", "a", EDIT_MADE, 0, 4);
  keep_op(w, "0_Neg", "x", "a");
  new_op(w, "more", "0_Neg", EDIT_KEEP, OP_neg, "x", "inner", NULL, 0);
  keep_op(w, "1_Abs", "a", "b");
  keep_op(w, "2_Exp", "b", "z");
  keep_op(w, "3_If", "flag a b", "y");
  expect_refusal(w, "'inner' is there already, in a body");
  end(w);
}

static void abstract_operators_are_not_written(void **state) {
  (void)state;
  rewriting *w = begin(sum_net(plain_convolution(), 8));
  keep_rest(w);
  new_tensor(w, "c/p2", "c", EDIT_MADE, 0, 1);
  new_op(w, "C/p1", "C", EDIT_KEEP, OP_conv2d, "x1 w/p1", "c/acc1", NULL, 0);
  new_op(w, "C/p2", "C", EDIT_KEEP, OP_conv2d, "x2 w/p2", "c/p2", NULL, 0);
  new_op(w, "C", "C", EDIT_SUM, OP_partial_sum, "c/acc1 c/p2", "c", NULL, 0);
  keep_op(w, "2_Relu", "c", "y");
  expect_refusal(w, "of no kind that an .onnx file can have");
  end(w);
}

/* ---- Memory -------------------------------------------------------------- */

static calm_status rebuild_scarcely(const message *m, uint64_t granted) {
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = calm_context_new(&allocator);
  calm_model model;
  graph_edit edit;
  arena a, result;
  const uint8_t *bytes;
  size_t length;
  model_init(&model, context, "scarce");
  model.map = (file_map){m->bytes, m->length};
  if (model_read(&model)) fail_msg("%s", calm_context_message(context));
  arena_init(&a, context);
  arena_init(&result, context);
  assert_int_equal(edited_identity(&edit, &model.graphs.data[0], &a), CALM_OK);
  left = granted;
  calm_status status = model_rebuild(&bytes, &length, &model, &edit, &result);
  arena_free(&result);
  graph_edit_free(&edit);
  arena_free(&a);
  model_clear(&model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  message m = fused_net(3);
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    status = rebuild_scarcely(&m, granted);
    if (status != CALM_OK) assert_int_equal(status, CALM_NO_MEMORY);
  }
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_edit_that_changes_nothing_yields_the_file),
      cmocka_unit_test(public_files_stay_what_they_are),
      cmocka_unit_test(a_convolution_adds_to_another),
      cmocka_unit_test(an_addition_adds_them),
      cmocka_unit_test(the_last_one_has_the_activation),
      cmocka_unit_test(an_addition_has_none),
      cmocka_unit_test(weights_are_listed_where_they_must),
      cmocka_unit_test(groups_are_those_of_the_part),
      cmocka_unit_test(a_normalization_is_made),
      cmocka_unit_test(what_bodies_read_must_stay),
      cmocka_unit_test(new_names_are_new),
      cmocka_unit_test(abstract_operators_are_not_written),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
