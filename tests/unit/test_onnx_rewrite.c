/* .onnx files rewritten from end to end: all sites, written, and read again. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "onnx_builder.h"
#include "plan.h"

typedef struct rewritten {
  reading *before, *after;
  calm_plan *plan;
  message bytes;
} rewritten;

/* ---- Nets: x and a of 2 and 3 channels, concatenated to "cat" ------------ */

/* A weight of zeros, of FLOAT or INT8. */
static message filled(const char *name, int type, const char *dims) {
  message w = weight(name, type, dims);
  size_t bytes = type == FLOAT ? 4 : 1;
  for (const char *at = dims; *at; at += strcspn(at, ","), at += *at == ',')
    bytes *= (size_t)strtoll(at, NULL, 10);
  uint8_t *zeros = calloc(bytes + 1, 1);
  assert_non_null(zeros);
  put_bytes(&w, 9, zeros, bytes);
  free(zeros);
  return w;
}

static message begin_net(const char *first) {
  message g = {0}, cat = node("Concat", "rx ra", "cat");
  put_text(&g, 2, "net");
  add_input(&g, "x", FLOAT, first);
  add_input(&g, "a", FLOAT, "1,3,4,4");
  add_named(&g, "Rx", "Relu", "x", "rx");
  add_named(&g, "Ra", "Relu", "a", "ra");
  put_message(&cat, 5, int_attribute("axis", 1));
  put_text(&cat, 3, "Cat");
  put_message(&g, 1, cat);
  return g;
}

static message end_net(message g) {
  add_output(&g, "y", FLOAT, NULL);
  return plain_model(g);
}

static message convolved(const char *first, const char *weights,
                         const char *inputs) {
  message g = begin_net(first);
  if (weights) add_weight(&g, filled("w", FLOAT, weights));
  add_named(&g, "C", "Conv", inputs, "y");
  return g;
}

/* ---- Running ------------------------------------------------------------- */

static calm_plan *plan_of(reading *r, const char *partials) {
  static const char *const settings[][2] = {
      {"memory", "ort"}, {"rewrite", "all"}, {"partials", NULL}};
  calm_options *options;
  calm_plan *plan;
  if (r->status) fail_msg("%s", reading_message(r));
  assert_int_equal(calm_options_new(&options, r->context), CALM_OK);
  for (int i = 0; i < 3; i++)
    assert_int_equal(
        calm_options_set(options, settings[i][0],
                         settings[i][1] ? settings[i][1] : partials),
        CALM_OK);
  if (calm_plan_make(&plan, &r->model, options))
    fail_msg("%s", reading_message(r));
  calm_options_free(options);
  return plan;
}

static calm_status write_plan(message *out, const rewritten *w) {
  char path[] = "/tmp/calm_onnx_XXXXXX";
  file_map map;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  const calm_status status = calm_plan_write(w->plan, path);
  if (status == CALM_OK) {
    assert_int_equal(file_map_open(&map, w->before->context, path), CALM_OK);
    put(out, map.bytes, map.length);
    file_map_close(&map);
  }
  unlink(path);
  return status;
}

static void plan_net(rewritten *w, const message *m, const char *partials) {
  *w = (rewritten){.before = reading_of_model(m)};
  w->plan = plan_of(w->before, partials);
}

static void rewrite_net(rewritten *w, const message *m, const char *partials) {
  plan_net(w, m, partials);
  if (write_plan(&w->bytes, w)) fail_msg("%s", reading_message(w->before));
  w->after = reading_of_model(&w->bytes);
  if (w->after->status) fail_msg("%s", reading_message(w->after));
}

static void end(rewritten *w) {
  calm_plan_free(w->plan);
  assert_int_equal(reading_end(w->before), 0);
  if (w->after) assert_int_equal(reading_end(w->after), 0);
  free(w->bytes.bytes);
}

/* ---- Questions ----------------------------------------------------------- */

static uint32_t count_kind(const rewritten *w, op_kind kind) {
  const graph *g = &w->after->model.graphs.data[0];
  uint32_t count = 0;
  for (op_id u = 0; u < g->ops.count; u++) count += g->ops.data[u].kind == kind;
  return count;
}

static const plan_site *site_of(const rewritten *w, const char *name) {
  for (uint32_t i = 0; i < w->plan->rewriting.site_count; i++)
    if (!strcmp(w->plan->rewriting.sites[i].name, name))
      return &w->plan->rewriting.sites[i];
  fail_msg("no site %s", name);
  return NULL;
}

static void expect_applied(const rewritten *w, const char *site) {
  const char *reason = site_of(w, site)->reason;
  if (reason) fail_msg("%s: %s", site, reason);
}

/* Nothing becomes of the site, for the reason given. */
static void expect_reason(message m, const char *site, const char *reason) {
  static const char *const partials[] = {"accumulate", "add-copy"};
  for (int i = 0; i < 2; i++) {
    rewritten w;
    rewrite_net(&w, &m, partials[i]);
    assert_non_null(site_of(&w, site)->reason);
    assert_string_equal(site_of(&w, site)->reason, reason);
    end(&w);
  }
  free(m.bytes);
}

/* ---- What is written ----------------------------------------------------- */

/* A part of one channel has one group and is read as any convolution. */
static void test_depthwise_part_of_one_channel(void **state) {
  (void)state;
  static const char *const weights[] = {"4,1,1,1", "8,1,1,1"};
  for (int i = 0; i < 2; i++) {
    rewritten w;
    message g = begin_net("1,1,4,4"), n = node("Conv", "cat w", "y");
    put_message(&n, 5, int_attribute("group", 4));
    put_text(&n, 3, "D");
    put_message(&g, 1, n);
    add_weight(&g, filled("w", FLOAT, weights[i]));
    message m = end_net(g);
    rewrite_net(&w, &m, "accumulate");
    assert_int_equal(count_kind(&w, OP_depthwise_conv2d), 1);
    assert_int_equal(count_kind(&w, OP_conv2d), 1);
    assert_int_equal(count_kind(&w, OP_concat), 1);
    end(&w);
    free(m.bytes);
  }
}

static void test_weights_that_are_an_output(void **state) {
  (void)state;
  rewritten w;
  message g = convolved("1,2,4,4", "6,5,1,1", "cat w");
  add_output(&g, "w", FLOAT, "6,5,1,1");
  message m = end_net(g);
  rewrite_net(&w, &m, "accumulate");
  expect_applied(&w, "Cat>C");
  assert_int_equal(count_kind(&w, OP_fused_conv), 1);
  const graph *after = &w.after->model.graphs.data[0];
  uint32_t outputs = 0;
  for (tensor_id t = 0; t < after->tensors.count; t++)
    outputs += (after->tensors.data[t].flags & CALM_TENSOR_OUTPUT) != 0;
  assert_int_equal(outputs, 2);
  end(&w);
  free(m.bytes);
}

/* Read again as rewriting has it: what is listed as an input, too, is fixed. */
static void read_fixed(reading *r, const message *m) {
  if (r->status) fail_msg("%s", reading_message(r));
  model_clear(&r->model);
  model_init(&r->model, r->context, "built");
  r->model.map = (file_map){m->bytes, m->length};
  r->model.fixed_weights = true;
  r->status = model_read(&r->model);
}

static void test_weights_that_are_listed(void **state) {
  (void)state;
  rewritten w = {0};
  message g = convolved("1,2,4,4", "6,5,1,1", "cat w");
  add_input(&g, "w", FLOAT, "6,5,1,1");
  message m = end_net(g);
  w.before = reading_of_model(&m);
  read_fixed(w.before, &m);
  assert_non_null(strstr(w.before->warnings,
                         "1 initializers are listed as inputs, too, such as "
                         "'w'"));
  w.plan = plan_of(w.before, "accumulate");
  expect_applied(&w, "Cat>C");
  assert_int_equal(write_plan(&w.bytes, &w), CALM_OK);
  w.after = reading_of_model(&w.bytes);
  assert_int_equal(count_kind(&w, OP_concat), 0);
  const graph *after = &w.after->model.graphs.data[0];
  for (tensor_id t = 0; t < after->tensors.count; t++)
    assert_string_not_equal(after->tensors.data[t].name, "w");
  end(&w);
  free(m.bytes);
}

/* One round removes no-ops, one folds, one takes apart what was folded. */
static void test_three_rounds(void **state) {
  (void)state;
  static const char *const names[] = {"s", "b", "mean", "var"};
  rewritten w;
  message g = begin_net("1,2,4,4");
  add_weight(&g, filled("w", FLOAT, "6,5,1,1"));
  for (int i = 0; i < 4; i++) add_weight(&g, filled(names[i], FLOAT, "6"));
  add_weight(&g, filled("k", FLOAT, "6,1,1"));
  add_named(&g, "C", "Conv", "cat w", "c");
  add_named(&g, "N", "BatchNormalization", "c s b mean var", "n");
  add_named(&g, "Same", "Identity", "n", "same");
  add_named(&g, "K", "Mul", "same k", "y");
  message m = end_net(g);
  rewrite_net(&w, &m, "add-copy");
  expect_applied(&w, "Cat>C");
  assert_int_equal(count_kind(&w, OP_batch_normalization), 0);
  assert_int_equal(count_kind(&w, OP_identity), 0);
  assert_int_equal(count_kind(&w, OP_concat), 0);
  end(&w);
  free(m.bytes);
}

/* A Cast to the type that a tensor has goes before its reader is parted. */
static void test_idle_cast(void **state) {
  (void)state;
  rewritten w;
  message g = begin_net("1,2,4,4"), n = node("Cast", "cat", "t");
  put_message(&n, 5, int_attribute("to", FLOAT));
  put_text(&n, 3, "Cast");
  put_message(&g, 1, n);
  add_weight(&g, filled("two", FLOAT, ""));
  add_named(&g, "Pow", "Pow", "t two", "y");
  message m = end_net(g);
  rewrite_net(&w, &m, "accumulate");
  assert_int_equal(count_kind(&w, OP_cast), 0);
  assert_int_equal(count_kind(&w, OP_pow), 2);
  end(&w);
  free(m.bytes);
}

/* ---- Bodies -------------------------------------------------------------- */

static message body_reading(const char *name, const char *inner) {
  message body = {0};
  add_node(&body, "Neg", name, inner);
  add_output(&body, inner, FLOAT, "1,5,4,4");
  return body;
}

static message net_with_body(const char *read, const char *inner) {
  message g = convolved("1,2,4,4", "5,5,1,1", "cat w"),
          n = node("If", "flag", "z");
  add_input(&g, "flag", BOOL, "");
  put_message(&n, 5,
              graph_attribute_of("then_branch", body_reading(read, inner)));
  put_message(&n, 5,
              graph_attribute_of("else_branch", body_reading("y", "other")));
  put_text(&n, 3, "If");
  put_message(&g, 1, n);
  add_output(&g, "z", FLOAT, "1,5,4,4");
  return end_net(g);
}

/* What a body reads stays, and so does the concat. */
static void test_bodies_that_read_a_concat(void **state) {
  (void)state;
  rewritten w;
  message m = net_with_body("cat", "inner");
  rewrite_net(&w, &m, "accumulate");
  expect_applied(&w, "Cat>C");
  assert_string_equal(site_of(&w, "Cat>If")->reason,
                      "other operators wait for it, or it for them");
  assert_int_equal(count_kind(&w, OP_concat), 1);
  assert_int_equal(count_kind(&w, OP_fused_conv), 1);
  end(&w);
  free(m.bytes);
  m = net_with_body("y", "inner");
  rewrite_net(&w, &m, "accumulate");
  assert_int_equal(count_kind(&w, OP_concat), 0);
  end(&w);
  free(m.bytes);
}

static void test_bodies_that_have_a_new_name(void **state) {
  (void)state;
  rewritten w;
  message unused = {0}, m = net_with_body("y", "w/p1");
  plan_net(&w, &m, "accumulate");
  assert_int_equal(write_plan(&unused, &w), CALM_UNSUPPORTED);
  assert_non_null(strstr(reading_message(w.before),
                         "tensor 'w/p1' is there already, in a body"));
  end(&w);
  free(m.bytes);
}

/* ---- What is left alone -------------------------------------------------- */

static message external(const char *name, const char *dims) {
  message w = weight(name, FLOAT, dims), entry = {0};
  put_text(&entry, 1, "location");
  put_text(&entry, 2, "weights.bin");
  put_message(&w, 13, entry);
  put_number(&w, 14, 1);
  return w;
}

static message sparse(const char *name, const char *dims) {
  message s = {0};
  put_message(&s, 1, filled(name, FLOAT, "1"));
  message indices = integers("", "7");
  put_message(&s, 2, indices);
  for_each_part(&s, 3, dims, ",", add_size);
  return s;
}

static void test_weights_that_are_not_there(void **state) {
  (void)state;
  message g = convolved("1,2,4,4", NULL, "cat w");
  add_weight(&g, external("w", "6,5,1,1"));
  expect_reason(end_net(g), "Cat>C",
                "its weights are in another file, or packed");
  g = convolved("1,2,4,4", NULL, "cat w");
  put_message(&g, 15, sparse("w", "6,5,1,1"));
  expect_reason(end_net(g), "Cat>C",
                "its weights are in another file, or packed");
  g = convolved("1,2,4,4", "6,5,1,1", "cat w");
  add_input(&g, "w", FLOAT, "6,5,1,1");
  expect_reason(
      end_net(g), "Cat>C",
      "its weights are computed by operators, or the caller may replace them");
  g = begin_net("1,2,4,4");
  add_weight(&g, filled("q", INT8, "6,5,1,1"));
  add_weight(&g, filled("scale", FLOAT, ""));
  add_named(&g, "Q", "DequantizeLinear", "q scale", "w");
  add_named(&g, "C", "Conv", "cat w", "y");
  expect_reason(
      end_net(g), "Cat>C",
      "its weights are computed by operators, or the caller may replace them");
}

static void test_quantised(void **state) {
  (void)state;
  message g = begin_net("1,2,4,4");
  add_weight(&g, filled("s", FLOAT, ""));
  add_weight(&g, filled("z", INT8, ""));
  add_weight(&g, filled("w", INT8, "6,5,1,1"));
  add_named(&g, "Q", "QuantizeLinear", "cat s z", "q");
  add_named(&g, "C", "QLinearConv", "q s z w s z s z", "c");
  add_named(&g, "D", "DequantizeLinear", "c s z", "y");
  expect_reason(end_net(g), "Q>C",
                "partial sums would be requantised one by one");
}

static message function_of(const char *name, message inner) {
  message f = {0}, opset = {0};
  put_text(&f, 1, name);
  put_text(&f, 4, "u");
  put_text(&f, 4, "v");
  put_text(&f, 5, "o");
  put_message(&f, 7, inner);
  put_number(&opset, 2, 17);
  put_message(&f, 9, opset);
  put_text(&f, 10, "own");
  return f;
}

/* A function is called as it was; nobody looks into it. */
static void test_functions(void **state) {
  (void)state;
  message g = begin_net("1,2,4,4"), n = node("Block", "cat w", "y"),
          opset = {0};
  put_text(&n, 3, "B");
  put_text(&n, 7, "own");
  put_message(&g, 1, n);
  add_weight(&g, filled("w", FLOAT, "6,5,1,1"));
  add_output(&g, "y", FLOAT, "1,6,4,4");
  message m = plain_model(g);
  put_text(&opset, 1, "own");
  put_number(&opset, 2, 1);
  put_message(&m, 8, opset);
  put_message(&m, 25, function_of("Block", node("Conv", "u v", "o")));
  expect_reason(m, "Cat>B", "it needs all channels at once");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_depthwise_part_of_one_channel),
      cmocka_unit_test(test_weights_that_are_an_output),
      cmocka_unit_test(test_weights_that_are_listed),
      cmocka_unit_test(test_three_rounds),
      cmocka_unit_test(test_idle_cast),
      cmocka_unit_test(test_bodies_that_read_a_concat),
      cmocka_unit_test(test_bodies_that_have_a_new_name),
      cmocka_unit_test(test_weights_that_are_not_there),
      cmocka_unit_test(test_quantised),
      cmocka_unit_test(test_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
