/* Where the bytes of weights are, and which they are. */
#include "onnx_builder.h"

/* A net that adds the constant `c` to x; what makes `c` is added by the test.
 */
static message begin(const char *shape) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, shape);
  return g;
}

static message end(message g, int64_t ir) {
  add_node(&g, "Unheard", "x c", "y");
  add_output(&g, "y", FLOAT, "4");
  return model_of(g, ir, 17);
}

static tensor_id find(const graph *g, const char *name) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (!strcmp(g->tensors.data[t].name, name)) return t;
  fail_msg("no tensor '%s'", name);
  return CALM_NONE;
}

static void expect_bytes(message m, const void *bytes, size_t expected) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *g = &r->model.graphs.data[0];
  const tensor_id c = find(g, "c");
  const uint8_t *found;
  uint64_t length;
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(g->tensors.data[c].contents, CONTENTS_HERE);
  if (model_constant(&found, &length, &r->model, c, &a))
    fail_msg("%s", reading_message(r));
  assert_int_equal(length, expected);
  assert_memory_equal(found, bytes, expected);
  arena_free(&a);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void expect_none(message m, graph_contents contents, const char *words) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *g = &r->model.graphs.data[0];
  const tensor_id c = find(g, "c");
  const uint8_t *found;
  uint64_t length;
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(g->tensors.data[c].contents, contents);
  assert_int_equal(model_constant(&found, &length, &r->model, c, &a),
                   CALM_UNSUPPORTED);
  if (!strstr(reading_message(r), words)) fail_msg("%s", reading_message(r));
  arena_free(&a);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static message raw(const char *name, int type, const char *dims,
                   const void *bytes, size_t length) {
  message w = weight(name, type, dims);
  put_bytes(&w, 9, bytes, length);
  return w;
}

static void raw_data_stays_where_it_is(void **state) {
  (void)state;
  message g = begin("4");
  add_weight(&g, raw("c", FLOAT, "1,2", "12345678", 8));
  expect_bytes(end(g, 8), "12345678", 8);
}

static void numbers_become_bytes(void **state) {
  (void)state;
  message g = begin("4");
  add_weight(&g, integers("c", "1,-2"));
  expect_bytes(end(g, 8), (const int64_t[]){1, -2}, 16);
  message bytes = begin("4"), w = weight("c", INT8, "2");
  put_number(&w, 5, -1);
  put_number(&w, 5, 7);
  add_weight(&bytes, w);
  expect_bytes(end(bytes, 8), "\xff\x07", 2);
  message floats = begin("4"), f = weight("c", FLOAT, "2");
  put_bytes(&f, 4, (const float[]){1.5F, -2.0F}, 8);
  add_weight(&floats, f);
  expect_bytes(end(floats, 8), (const float[]){1.5F, -2.0F}, 8);
}

static void add_constant(message *g, const char *output, message attribute) {
  message n = node("Constant", "", output);
  put_message(&n, 5, attribute);
  put_message(g, 1, n);
}

static void constants_are_constants(void **state) {
  (void)state;
  message g = begin("4");
  add_constant(&g, "c", tensor_attribute("value", integers("", "5,6")));
  expect_bytes(end(g, 8), (const int64_t[]){5, 6}, 16);
  message one = begin("4");
  add_constant(&one, "c", int_attribute("value_int", -3));
  expect_bytes(end(one, 8), (const int64_t[]){-3}, 8);
  message many = begin("4");
  add_constant(&many, "c", ints_attribute("value_ints", "4,5,6"));
  expect_bytes(end(many, 8), (const int64_t[]){4, 5, 6}, 24);
  message empty = begin("4");
  add_constant(&empty, "c", ints_attribute("value_ints", ""));
  expect_bytes(end(empty, 8), "", 0);
}

static void what_is_handed_on_is_the_same(void **state) {
  (void)state;
  message g = begin("4");
  add_weight(&g, integers("axes", "0"));
  add_weight(&g, integers("shape", "2,1"));
  add_weight(&g, raw("w", FLOAT, "2", "12345678", 8));
  add_node(&g, "Unsqueeze", "w axes", "a");
  add_node(&g, "Identity", "a", "b");
  add_node(&g, "Reshape", "b shape", "c");
  expect_bytes(end(g, 8), "12345678", 8);
  message filled = begin("4"), n = node("ConstantOfShape", "shape", "c");
  put_message(&n, 5, tensor_attribute("value", integers("", "9")));
  add_weight(&filled, integers("shape", "1,2"));
  put_message(&filled, 1, n);
  expect_bytes(end(filled, 8), (const int64_t[]){9, 9}, 16);
  message zeros = begin("4");
  add_weight(&zeros, integers("shape", "3"));
  add_node(&zeros, "ConstantOfShape", "shape", "c");
  expect_bytes(end(zeros, 8), "\0\0\0\0\0\0\0\0\0\0\0", 12);
}

static void what_is_computed_is_not_in_the_file(void **state) {
  (void)state;
  message g = begin("4");
  add_weight(&g, raw("w", FLOAT, "2", "12345678", 8));
  add_node(&g, "Neg", "w", "c");
  expect_none(end(g, 8), CONTENTS_COMPUTED, "is computed");
}

/* Up to IR 3 an initializer had to be listed; since then that makes it the
   default of an input. */
static message listed(int64_t ir) {
  message g = begin("4");
  add_input(&g, "c", FLOAT, "2");
  add_weight(&g, raw("c", FLOAT, "2", "12345678", 8));
  return end(g, ir);
}

static void a_default_may_be_replaced(void **state) {
  (void)state;
  expect_bytes(listed(3), "12345678", 8);
  expect_none(listed(4), CONTENTS_COMPUTED, "may be replaced");
}

static void data_may_be_elsewhere(void **state) {
  (void)state;
  message g = begin("4"), w = weight("c", FLOAT, "2"), entry = {0};
  put_text(&entry, 1, "location");
  put_text(&entry, 2, "weights.bin");
  put_message(&w, 13, entry);
  put_number(&w, 14, 1);
  add_weight(&g, w);
  expect_none(end(g, 8), CONTENTS_ELSEWHERE, "elsewhere");
  message stripped = begin("4");
  add_weight(&stripped, weight("c", FLOAT, "2"));
  expect_none(end(stripped, 8), CONTENTS_ELSEWHERE, "elsewhere");
  message sparse = begin("4"), outer = {0};
  put_message(&outer, 1, raw("c", FLOAT, "1", "1234", 4));
  put_number(&outer, 3, 2);
  put_message(&sparse, 15, outer);
  expect_none(end(sparse, 8), CONTENTS_ELSEWHERE, "elsewhere");
}

/* The number of values is not counted when the file is read. */
static void a_list_that_is_too_short_is_noticed(void **state) {
  (void)state;
  message g = begin("4"), w = weight("c", INT64, "3");
  put_number(&w, 7, 1);
  add_weight(&g, w);
  expect_none(end(g, 8), CONTENTS_HERE, "fewer or more");
}

/* ---- Sizes that --dim gives ---------------------------------------------- */

static message picture(const char *shape) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, shape);
  add_weight(&g, weight("w", FLOAT, "6,4,1,1"));
  add_node(&g, "Conv", "x w", "a");
  add_node(&g, "GlobalAveragePool", "a", "y");
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

static void expect_dynamic(message m, const char *dims, const char *expected) {
  reading *r = reading_with_dims(&m, dims);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph *g = &r->model.graphs.data[0];
  char found[8] = "";
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (g->tensors.data[t].dynamic) strcat(found, g->tensors.data[t].name);
  assert_string_equal(found, expected);
  assert_true(g->channels_first);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

static void sizes_of_runs_are_not_sizes_of_files(void **state) {
  (void)state;
  expect_dynamic(picture("1,4,8,8"), "", "");
  expect_dynamic(picture("N,4,8,8"), "N=2", "");
  expect_dynamic(picture("N,4,H,8"), "N=2 H=8", "xa");
  expect_dynamic(picture("1,4,?,8"), "x:2=8", "xa");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(raw_data_stays_where_it_is),
      cmocka_unit_test(numbers_become_bytes),
      cmocka_unit_test(constants_are_constants),
      cmocka_unit_test(what_is_handed_on_is_the_same),
      cmocka_unit_test(what_is_computed_is_not_in_the_file),
      cmocka_unit_test(a_default_may_be_replaced),
      cmocka_unit_test(data_may_be_elsewhere),
      cmocka_unit_test(a_list_that_is_too_short_is_noticed),
      cmocka_unit_test(sizes_of_runs_are_not_sizes_of_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
