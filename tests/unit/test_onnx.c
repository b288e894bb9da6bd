/* The outside of ONNX models: recognition, header, what is in each graph. */
#include "onnx_builder.h"

static message chain(void) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "2,3");
  add_named(&g, "first", "Relu", "x", "a");
  add_node(&g, "Add", "a w", "y");
  add_weight(&g, weight("w", FLOAT, "3"));
  add_output(&g, "y", FLOAT, "2,3");
  return g;
}

static const char chain_text[] =
    "calm-graph 1\n"
    "graph net layout=nchw\n"
    "tensor x f32[2,3] input\n"
    "tensor w f32[3] const\n"
    "tensor a f32[2,3]\n"
    "tensor y f32[2,3] output\n"
    "op first relu ( x ) -> ( a )\n"
    "op 1_Add add ( a w ) -> ( y )\n";

static void a_model_becomes_a_graph(void **state) {
  (void)state;
  expect_text(plain_model(chain()), "", chain_text);
}

/* Fields may come in any order, unknown ones and groups are passed over. */
static void order_and_unknown_fields_do_not_matter(void **state) {
  (void)state;
  message graph = {0}, m = {0}, opset = {0};
  put_number(&graph, 77, 5);
  add_output(&graph, "y", FLOAT, "2,3");
  add_named(&graph, "first", "Relu", "x", "a");
  add_weight(&graph, weight("w", FLOAT, "3"));
  add_node(&graph, "Add", "a w", "y");
  put(&graph, "\x9b\x06\x9c\x06", 4); /* group 99 */
  add_input(&graph, "x", FLOAT, "2,3");
  put_text(&graph, 2, "net");
  put_text(&m, 99, "a field of the future");
  put_message(&m, 7, graph);
  put_number(&opset, 2, 17);
  put_message(&m, 8, opset);
  put_number(&m, 1, 8);
  expect_text(m, "", chain_text);
}

static void content_decides(void **state) {
  (void)state;
  message m = plain_model(chain());
  assert_true(onnx_recognise(m.bytes, m.length));
  assert_true(onnx_recognise(m.bytes, 8)); /* cut off, but begins like one */
  assert_false(onnx_recognise(m.bytes + 2, m.length - 2));
  assert_false(onnx_recognise((const uint8_t *)"", 0));
  assert_false(onnx_recognise((const uint8_t *)"hello\n", 6));
  free(m.bytes);
  message empty = {0};
  put_number(&empty, 1, 8);
  put_text(&empty, 2, "someone");
  expect_failure(empty, "", CALM_BAD_INPUT, "without a graph");
}

static void a_file_that_is_cut_off_is_refused(void **state) {
  (void)state;
  message m = plain_model(chain());
  for (size_t length = 8; length < m.length; length++) {
    reading *r = reading_of_bytes(m.bytes, length);
    assert_int_equal(r->status, CALM_BAD_INPUT);
    assert_non_null(strstr(reading_message(r), "byte "));
    assert_int_equal(reading_end(r), 0);
  }
  free(m.bytes);
}

static void the_header_is_read(void **state) {
  (void)state;
  message m = plain_model(chain()), entry = {0}, second = {0};
  put_text(&entry, 1, "author");
  put_text(&entry, 2, "someone");
  put_message(&m, 14, entry);
  reading *r = reading_of_model(&m);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->model.format, MODEL_ONNX);
  assert_int_equal(r->model.metadata_count, 1);
  assert_string_equal(r->model.metadata_names[0], "author");
  assert_int_equal(r->model.weight_bytes, 12);
  assert_int_equal(r->model.graphs.data[0].ops.data[1].file_index, 1);
  assert_int_equal(reading_end(r), 0);
  put_message(&m, 7, second);
  expect_failure(m, "", CALM_BAD_INPUT, "a second graph");
}

/* The same one twice is no matter, also under its other name. */
static void an_opset_has_one_version(void **state) {
  (void)state;
  static const struct {
    const char *domain;
    int64_t version;
    const char *words;
  } cases[] = {
      {"", 17, NULL},
      {"ai.onnx", 17, NULL},
      {"com.example", 1, NULL},
      {"", 11, "'ai.onnx' is imported as version 17 and as 11"},
      {"ai.onnx", 18, "'ai.onnx' is imported as version 17 and as 18"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    message m = model_of(chain(), 8, 17), opset = {0};
    if (*cases[i].domain) put_text(&opset, 1, cases[i].domain);
    put_number(&opset, 2, cases[i].version);
    put_message(&m, 8, opset);
    if (cases[i].words)
      expect_failure(m, "", CALM_BAD_INPUT, cases[i].words);
    else
      expect_text(m, "", chain_text);
  }
}

/* Every allocation may be the one that fails. */
typedef struct scarce {
  size_t left;
} scarce;

static void *reallocate(void *payload, void *old, size_t old_size,
                        size_t new_size) {
  scarce *s = payload;
  (void)old_size;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  if (s->left == 0) return NULL;
  s->left--;
  return realloc(old, new_size);
}

static void no_memory_is_told_and_leaves_nothing(void **state) {
  (void)state;
  message m = plain_model(chain());
  calm_status status = CALM_NO_MEMORY;
  for (size_t n = 1; status == CALM_NO_MEMORY; n++) {
    scarce s = {n};
    calm_allocator allocator = {reallocate, &s};
    calm_context *context = calm_context_new(&allocator);
    assert_non_null(context);
    calm_model model;
    model_init(&model, context, "built");
    model.map = (file_map){m.bytes, m.length};
    status = model_read(&model);
    model_clear(&model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  assert_int_equal(status, CALM_OK);
  free(m.bytes);
}

/* Functions of the file and operators of other domains are opaque. */
static void what_is_foreign_is_opaque(void **state) {
  (void)state;
  message g = {0}, n = node("Strange", "x", "a"), own = node("Twice", "a", "y");
  message function = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  put_text(&n, 7, "com.microsoft");
  put_message(&g, 1, n);
  put_text(&own, 7, "mine");
  put_message(&g, 1, own);
  put_message(&g, 13, value_info("a", FLOAT, "4"));
  add_output(&g, "y", FLOAT, "4");
  message m = plain_model(g);
  put_text(&function, 1, "Twice");
  put_text(&function, 10, "mine");
  put_message(&function, 7, node("RandomNormalLike", "p", "q"));
  put_message(&m, 25, function);
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *built = &r->model.graphs.data[0];
  assert_string_equal(built->ops.data[0].kind_name, "com.microsoft:Strange");
  assert_string_equal(built->ops.data[1].kind_name, "mine:Twice");
  assert_false(graph_op_stateful(&built->ops.data[0]));
  assert_true(graph_op_stateful(&built->ops.data[1]));
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_becomes_a_graph),
      cmocka_unit_test(order_and_unknown_fields_do_not_matter),
      cmocka_unit_test(content_decides),
      cmocka_unit_test(a_file_that_is_cut_off_is_refused),
      cmocka_unit_test(the_header_is_read),
      cmocka_unit_test(an_opset_has_one_version),
      cmocka_unit_test(no_memory_is_told_and_leaves_nothing),
      cmocka_unit_test(what_is_foreign_is_opaque)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
