#include <glob.h>

#include "base/file.h"
#include "cases.h"
#include "graph_random.h"

/* ---- Equality of graphs -------------------------------------------------- */

static void same_ids(const uint32_t *a, const uint32_t *b, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) assert_int_equal(a[i], b[i]);
}

static void same_tensor(const graph_tensor *a, const graph_tensor *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->rank, b->rank);
  for (uint32_t i = 0; i < a->rank; i++)
    assert_int_equal(a->dimensions[i], b->dimensions[i]);
  assert_true(a->bytes == b->bytes);
  assert_int_equal(a->flags, b->flags);
}

static void same_op(const graph_op *a, const graph_op *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->kind_name, b->kind_name);
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->input_count, b->input_count);
  assert_int_equal(a->output_count, b->output_count);
  same_ids(a->inputs, b->inputs, a->input_count);
  same_ids(a->outputs, b->outputs, a->output_count);
  assert_int_equal(a->body_count, b->body_count);
  same_ids(a->bodies, b->bodies, a->body_count);
  assert_true(a->workspace_bytes == b->workspace_bytes);
  assert_int_equal(a->attribute_count, b->attribute_count);
  for (uint32_t i = 0; i < a->attribute_count; i++) {
    assert_string_equal(a->attributes[i].key, b->attributes[i].key);
    assert_string_equal(a->attributes[i].value, b->attributes[i].value);
  }
}

static void same_graph(const graph *a, const graph *b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->channels_first, b->channels_first);
  assert_int_equal(a->tensors.count, b->tensors.count);
  assert_int_equal(a->ops.count, b->ops.count);
  for (tensor_id t = 0; t < a->tensors.count; t++)
    same_tensor(&a->tensors.data[t], &b->tensors.data[t]);
  for (op_id u = 0; u < a->ops.count; u++)
    same_op(&a->ops.data[u], &b->ops.data[u]);
  same_ids(a->order, b->order, a->ops.count);
}

/* ---- Round trips --------------------------------------------------------- */

/* The graphs in f -> text -> graphs, equal -> text, equal. */
static void check_round_trip(fixture *f) {
  fixture again;
  fixture_open(&again, NULL);
  char *first = fixture_write(f);
  assert_true(graph_text_recognise(first, strlen(first)));
  fixture_must_read(&again, first);
  char *second = fixture_write(&again);
  assert_string_equal(first, second);
  assert_int_equal(f->graphs.count, again.graphs.count);
  for (uint32_t i = 0; i < f->graphs.count; i++)
    same_graph(&f->graphs.data[i], &again.graphs.data[i]);
  calm_text_free(f->context, first);
  calm_text_free(again.context, second);
  fixture_close(&again);
}

static void push_graph(fixture *f, graph g) {
  void *data = vector_grown(f->context, f->graphs.data, &f->graphs.capacity,
                            sizeof g, f->graphs.count + 1);
  assert_non_null(data);
  f->graphs.data = data;
  f->graphs.data[f->graphs.count++] = g;
}

static void random_graphs_survive(void **state) {
  (void)state;
  uint32_t tried = 0;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    random_state r = random_from_seed(seed);
    fixture f;
    graph g;
    fixture_open(&f, NULL);
    random_graph(&g, &f.arena, &r, seed % 3 ? "g" : "odd \x80\xC3\xA9\t");
    bool whole = graph_finish(&g, "net") == CALM_OK;
    push_graph(&f, g);
    if (whole) check_round_trip(&f);
    tried += whole;
    fixture_close(&f);
  }
  assert_true(tried > 700);
}

static void check_file(const char *path) {
  fixture f;
  file_map map;
  fixture_open(&f, NULL);
  assert_int_equal(file_map_open(&map, f.context, path), CALM_OK);
  if (fixture_read(&f, (const char *)map.bytes, map.length))
    fail_msg("%s: %s", path, calm_context_message(f.context));
  check_round_trip(&f);
  file_map_close(&map);
  fixture_close(&f);
}

static size_t check_files(const char *root, const char *pattern) {
  char path[4096];
  glob_t files;
  snprintf(path, sizeof path, "%s/%s", root, pattern);
  if (glob(path, 0, NULL, &files)) return 0;
  size_t count = files.gl_pathc;
  for (size_t i = 0; i < count; i++) check_file(files.gl_pathv[i]);
  globfree(&files);
  return count;
}

static void our_own_graphs_survive(void **state) {
  (void)state;
  assert_true(check_files(CALM_SOURCE_DIR, "tests/graph/*.cg") >= 4);
  assert_true(check_files(CALM_SOURCE_DIR, "examples/*.cg") >= 1);
}

static void the_public_cases_survive(void **state) {
  (void)state;
  CASES_OR_SKIP();
  assert_true(check_files(cases_root(), "graphs/*.cg") >= 30);
  assert_true(check_files(cases_root(), "graphs-ws/*.cg") >= 10);
}

/* ---- Spelling ------------------------------------------------------------ */

static void expect_name(const char *name, const char *spelling) {
  calm_context *context = calm_context_new(NULL);
  text t;
  text_init(&t, context);
  graph_text_write_name(&t, name);
  assert_string_equal(t.data, spelling);
  text_free(&t);
  calm_context_free(context);
}

static void names_are_spelled_so_that_they_can_be_read(void **state) {
  (void)state;
  expect_name("conv_1/Relu:0.x+y-z", "conv_1/Relu:0.x+y-z");
  expect_name("-", "\"-\"");
  expect_name("--", "--");
  expect_name("", "\"\"");
  expect_name("a b", "\"a b\"");
  expect_name("a,b", "\"a,b\"");
  expect_name("x#1", "\"x#1\"");
  expect_name("q\"\\\n\t\x7F", "\"q\\\"\\\\\\n\\x09\\x7f\"");
  expect_name("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
              "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  /* stray, cut short, overlong, surrogate, beyond Unicode */
  expect_name("\x80", "\"\\x80\"");
  expect_name("\xC3", "\"\\xc3\"");
  expect_name("\xE2\x82", "\"\\xe2\\x82\"");
  expect_name("\xC0\xAF", "\"\\xc0\\xaf\"");
  expect_name("\xE0\x80\xAF", "\"\\xe0\\x80\\xaf\"");
  expect_name("\xED\xA0\x80", "\"\\xed\\xa0\\x80\"");
  expect_name("\xF4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\"");
  expect_name("\xF5\x80\x80\x80", "\"\\xf5\\x80\\x80\\x80\"");
}

static void expect_canonical(const char *source, const char *canonical) {
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f, source);
  char *out = fixture_write(&f);
  assert_string_equal(out, canonical);
  calm_text_free(f.context, out);
  check_round_trip(&f);
  fixture_close(&f);
}

static void the_text_is_canonical(void **state) {
  (void)state;
  expect_canonical(
      "# gone\n\ncalm-graph   1\r\n graph g # gone\r\n"
      "op b \"conv2d\" ( )->()pad=same workspace=1K after ( a a ) body=h\n"
      "tensor \"x\" 1K variable output input const\n"
      "op a strange ( x - ) -> ( - ) e=\"\" q=\"a b\" v=\"1,2\"\n"
      "graph h layout =nchw # too\ntensor y u8[ 1 , 2 ]\n"
      "graph \"layout\" layout=nhwc\n",
      "calm-graph 1\ngraph g\ntensor x 1024 input output const variable\n"
      "op b conv2d ( ) -> ( ) after ( a a ) workspace=1024 body=h pad=same\n"
      "op a strange ( x - ) -> ( - ) e=\"\" q=\"a b\" v=1,2\n"
      "graph h layout=nchw\ntensor y u8[1,2]\n"
      "graph layout\n");
}

/* ---- State --------------------------------------------------------------- */

static void add_op(graph *g, const char *name, op_kind kind, bool stateful) {
  op_id id;
  graph_op op = {
      .name = name, .kind = kind, .kind_name = "custom", .stateful = stateful};
  assert_int_equal(graph_add_op(&id, g, &op), CALM_OK);
}

/* An opaque operator with state has no word of its own in the text: its place
   becomes control edges. */
static void state_becomes_control_edges(void **state) {
  (void)state;
  fixture f;
  graph g;
  text t;
  fixture_open(&f, NULL);
  graph_init(&g, &f.arena, "g");
  add_op(&g, "a", OP_random_uniform, false);
  add_op(&g, "b", OP_OPAQUE, true);
  add_op(&g, "plain", OP_OPAQUE, false);
  add_op(&g, "c", OP_random_uniform, false);
  add_op(&g, "d", OP_random_uniform, false);
  assert_int_equal(graph_finish(&g, "net"), CALM_OK);
  text_init(&t, f.context);
  graph_text_write(&t, &g, 1);
  assert_string_equal(t.data,
                      "calm-graph 1\ngraph g\n"
                      "op a random_uniform ( ) -> ( )\n"
                      "op b custom ( ) -> ( ) after ( a )\n"
                      "op plain custom ( ) -> ( )\n"
                      "op c random_uniform ( ) -> ( ) after ( b )\n"
                      "op d random_uniform ( ) -> ( )\n");
  text_free(&t);
  graph_free(&g);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs_survive),
      cmocka_unit_test(our_own_graphs_survive),
      cmocka_unit_test(the_public_cases_survive),
      cmocka_unit_test(names_are_spelled_so_that_they_can_be_read),
      cmocka_unit_test(the_text_is_canonical),
      cmocka_unit_test(state_becomes_control_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
