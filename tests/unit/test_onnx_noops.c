/* No-ops taken out of .onnx files. */
#include "onnx_builder.h"
#include "scarce.h"

/* The file that a graph becomes is the file of another graph. */
static void expect_rewritten(message m, message expected) {
  reading *r = reading_of_model(&m);
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  if (model_rewrite(&r->model, MODEL_REMOVE_NOOPS))
    fail_msg("%s", reading_message(r));
  assert_int_equal(r->model.map.length, expected.length);
  assert_memory_equal(r->model.map.bytes, expected.bytes, expected.length);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
  free(expected.bytes);
}

static message begin(void) {
  message g = {0};
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, "4");
  return g;
}

static message end(message g, int64_t opset) {
  add_output(&g, "y", FLOAT, "4");
  message m = model_of(g, 8, opset);
  put_text(&m, 99, "behind the graph");
  return m;
}

static message chain(void) {
  message g = begin();
  add_node(&g, "Identity", "x", "a");
  put_number(&g, 50, 7);
  add_node(&g, "Dropout", "a", "a_much_longer_name mask");
  add_node(&g, "Identity", "a_much_longer_name", "b");
  add_node(&g, "Add", "b a", "y");
  return g;
}

static void a_chain_of_noops_leads_to_its_head(void **state) {
  (void)state;
  message wanted = begin();
  put_number(&wanted, 50, 7);
  add_node(&wanted, "Add", "x x", "y");
  expect_rewritten(end(chain(), 13), end(wanted, 13));
}

static void expect_kept(message g, int64_t opset) {
  message copy = {0};
  put(&copy, g.bytes, g.length);
  expect_rewritten(end(g, opset), end(copy, opset));
}

static void what_does_something_stays(void **state) {
  (void)state;
  message g = begin();
  add_node(&g, "Identity", "x", "y"); /* an output has its own name */
  expect_kept(g, 13);
  g = begin();
  add_node(&g, "Dropout", "x - t", "a"); /* training may be asked for */
  add_weight(&g, weight("t", BOOL, "1"));
  add_node(&g, "Relu", "a", "y");
  expect_kept(g, 13);
  g = begin();
  add_node(&g, "Relu", "x", "a");
  message other = node("Identity", "a", "b");
  put_text(&other, 7, "elsewhere");
  put_message(&g, 1, other);
  put_message(&g, 13, value_info("b", FLOAT, "4"));
  add_node(&g, "Relu", "b", "y");
  expect_kept(g, 13);
}

static message reshaped(const char *shape) {
  message g = begin();
  add_weight(&g, integers("shape", shape));
  add_node(&g, "Reshape", "x shape", "a");
  add_node(&g, "Relu", "a", "b");
  add_node(&g, "Reshape", "b back", "y");
  add_weight(&g, integers("back", "4"));
  return g;
}

/* The second one makes an output of the graph. */
static void a_reshape_to_the_same_shape_goes(void **state) {
  (void)state;
  message wanted = begin();
  add_weight(&wanted, integers("shape", "-1"));
  add_node(&wanted, "Relu", "x", "b");
  add_node(&wanted, "Reshape", "b back", "y");
  add_weight(&wanted, integers("back", "4"));
  expect_rewritten(end(reshaped("-1"), 13), end(wanted, 13));
  expect_kept(reshaped("2,2"), 13);
}

/* With other sizes the file may be run as well. */
static void a_reshape_that_fits_by_chance_stays(void **state) {
  (void)state;
  message g = {0};
  add_input(&g, "x", FLOAT, "n,4");
  add_weight(&g, integers("shape", "1,-1"));
  add_node(&g, "Reshape", "x shape", "a");
  add_node(&g, "Relu", "a", "y");
  add_output(&g, "y", FLOAT, "1,m");
  message m = model_of(g, 8, 13);
  reading *r = reading_with_dims(&m, "n=1");
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  assert_int_equal(model_rewrite(&r->model, MODEL_REMOVE_NOOPS), CALM_OK);
  assert_int_equal(r->model.map.length, m.length);
  assert_int_equal(reading_end(r), 0);
  free(m.bytes);
}

/* Bodies read names from outside. */
static void names_that_a_body_says_stay(void **state) {
  (void)state;
  message g = begin(), n = node("If", "c", "y");
  add_input(&g, "c", BOOL, "");
  add_node(&g, "Identity", "x", "outside");
  for (int i = 0; i < 2; i++) {
    message body = {0};
    put_text(&body, 2, "body");
    add_node(&body, i ? "Neg" : "Abs", "outside", "r");
    add_output(&body, "r", FLOAT, "4");
    put_message(&n, 5,
                graph_attribute_of(i ? "else_branch" : "then_branch", body));
  }
  put_message(&g, 1, n);
  expect_kept(g, 13);
}

/* If: its operand is `operand`, and its bodies read c, too. */
static message with_bodies(const char *operand, bool noop) {
  message g = begin(), n = node("If", operand, "y");
  add_input(&g, "c", BOOL, "");
  if (noop) add_node(&g, "Identity", "c", "ident");
  for (int i = 0; i < 2; i++) {
    message body = {0};
    put_text(&body, 2, "identity");
    add_node(&body, "Where", "c x x", "r");
    add_output(&body, "r", FLOAT, "4");
    put_message(&n, 5,
                graph_attribute_of(i ? "else_branch" : "then_branch", body));
  }
  put_message(&g, 1, n);
  return g;
}

/* What a body reads is counted once if it is an operand as well.  A name that
   is only a part of what a body says is not said there. */
static void an_operand_may_become_what_a_body_reads(void **state) {
  (void)state;
  expect_rewritten(end(with_bodies("ident", true), 13),
                   end(with_bodies("c", false), 13));
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  message m = end(chain(), 13);
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    calm_model model;
    left = SCARCE_NEVER;
    calm_context *context = calm_context_new(&allocator);
    model_init(&model, context, "scarce");
    model.map = (file_map){m.bytes, m.length};
    if (model_read(&model)) fail_msg("%s", calm_context_message(context));
    left = granted;
    status = model_rewrite(&model, MODEL_REMOVE_NOOPS);
    if (status != CALM_OK) {
      assert_int_equal(status, CALM_NO_MEMORY);
      assert_ptr_equal(model.map.bytes, m.bytes);
    }
    model_clear(&model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  free(m.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_of_noops_leads_to_its_head),
      cmocka_unit_test(what_does_something_stays),
      cmocka_unit_test(a_reshape_to_the_same_shape_goes),
      cmocka_unit_test(a_reshape_that_fits_by_chance_stays),
      cmocka_unit_test(names_that_a_body_says_stay),
      cmocka_unit_test(an_operand_may_become_what_a_body_reads),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
