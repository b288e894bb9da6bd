/* Which convolutions get a dilation, and that all else stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "graph/graph_window.h"
#include "scarce.h"
#include "tflite_builder.h"

/* One convolution of a picture of 5x7. */
typedef struct conv {
  int32_t filter[4]; /* output channels, rows, columns, input channels */
  int32_t picture[4], out[4];
  int type;
  int32_t options[6]; /* padding, strides, activation, dilations */
  uint32_t option_count, builtin;
} conv;

enum { SAME, VALID };

static const conv point = {.filter = {4, 1, 1, 3},
                           .picture = {1, 5, 7, 3},
                           .out = {1, 5, 7, 4},
                           .type = 9,
                           .options = {SAME, 1, 1, 1},
                           .option_count = 4,
                           .builtin = 3};

static build_file *file_of(const conv *c) {
  static const uint8_t weights[400] = {1, 2, 3};
  const uint32_t length =
      (uint32_t)(c->filter[0] * c->filter[1] * c->filter[2] * c->filter[3]) *
      (c->type == 0 ? 4 : 1);
  assert_true(length <= sizeof weights);
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {weights, length, 0, 0}};
  const build_tensor tensors[] = {
      {.name = "x", .shape = {c->picture, 4}, .type = c->type},
      {.name = "w", .shape = {c->filter, 4}, .type = c->type, .buffer = 1},
      {.name = "y", .shape = {c->out, 4}, .type = c->type},
      {.name = "z", .shape = {c->out, 4}, .type = c->type}};
  const build_code codes[] = {{(int32_t)c->builtin, NULL}, {101, NULL}};
  const build_op ops[] = {{.code = 0,
                           .inputs = LIST(0, 1, -1),
                           .outputs = LIST(2),
                           .options_type = c->builtin == 4 ? 2 : 1,
                           .options = {c->options, c->option_count},
                           .byte_options = c->builtin == 4 ? 17 : 9},
                          {.code = 1, .inputs = LIST(2), .outputs = LIST(3)}};
  const build_subgraph subgraph = {.name = "main",
                                   .tensors = tensors,
                                   .tensor_count = 4,
                                   .ops = ops,
                                   .op_count = 2,
                                   .inputs = LIST(0),
                                   .outputs = LIST(3)};
  const build_metadata metadata[] = {{"kept", 0}};
  const build_model m = {.codes = codes,
                         .code_count = 2,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = buffers,
                         .buffer_count = 2,
                         .metadata = metadata,
                         .metadata_count = 1};
  return build_tflite(&m, false);
}

static const graph_op *op_of(const reading *r) {
  return &r->model.graphs.data[0].ops.data[0];
}

static const char *attribute(const reading *r, const char *key) {
  const char *value = graph_op_attribute(op_of(r), key);
  return value ? value : "";
}

static reading *rewritten(build_file *f, calm_status status) {
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(model_rewrite(&r->model, MODEL_DILATE_1X1), status);
  return r;
}

static void end(reading *r, build_file *f) {
  assert_int_equal(reading_end(r), 0);
  free(f);
}

/* Whether the options have room for it or not, and however it is padded; the
   padding, the activation and the sizes stay what they are. */
static void expect_dilated(const conv *c) {
  build_file *f = file_of(c);
  reading *r = rewritten(f, CALM_OK);
  graph_window window;
  const graph *g = &r->model.graphs.data[0];
  assert_int_equal(r->warning_count, 0);
  assert_string_equal(attribute(r, "dilation"), "2,2");
  assert_string_equal(attribute(r, "stride"), "1,1");
  assert_string_equal(attribute(r, "pad"),
                      c->options[0] == SAME ? "same" : "valid");
  assert_string_equal(attribute(r, "activation"), "relu");
  assert_true(graph_window_of(&window, g, 0));
  assert_int_equal(window.rows.before + window_after(&window.rows), 0);
  assert_int_equal(window.columns.before + window_after(&window.columns), 0);
  assert_int_equal(window.rows.output, 5);
  assert_int_equal(window.columns.output, 7);
  assert_int_equal(g->ops.count, 2);
  assert_int_equal(r->model.metadata_count, 1);
  const uint8_t *bytes;
  uint64_t length;
  arena a;
  arena_init(&a, r->context);
  assert_int_equal(model_constant(&bytes, &length, &r->model, 1, &a), CALM_OK);
  assert_int_equal(length, 12);
  assert_memory_equal(bytes, "\1\2\3\0", 4);
  arena_free(&a);
  end(r, f);
}

static void points_are_dilated(void **state) {
  (void)state;
  conv c = point;
  expect_dilated(&c);
  c.options[0] = VALID;
  expect_dilated(&c);
  c.options[4] = c.options[5] = 1;
  c.option_count = 6;
  expect_dilated(&c);
}

static void expect_untouched(const conv *c) {
  build_file *f = file_of(c);
  reading *r = rewritten(f, CALM_OK);
  assert_int_equal(r->warning_count, 1);
  assert_non_null(strstr(r->warnings, "--rewrite-1x1 has no effect"));
  assert_ptr_equal(r->model.map.bytes, f->bytes);
  assert_false(r->model.altered);
  end(r, f);
}

static void others_stay(void **state) {
  (void)state;
  conv c = point;
  c.type = 0; /* floats run another library's kernel */
  expect_untouched(&c);
  c = point;
  c.filter[1] = 3;
  expect_untouched(&c);
  c = point;
  c.filter[2] = 3;
  expect_untouched(&c);
  c = point;
  c.options[1] = 2; /* a stride */
  c.out[2] = 4;
  expect_untouched(&c);
  c = point;
  c.options[4] = 1, c.options[5] = 2; /* dilated already */
  c.option_count = 6;
  expect_untouched(&c);
  c = point;
  c.filter[3] = 1; /* groups */
  c.filter[0] = c.out[3] = 3;
  expect_untouched(&c);
  c = point;
  c.builtin = 4; /* depthwise */
  c.filter[0] = 1, c.filter[3] = c.out[3] = 3;
  c.options[3] = 1, c.options[4] = 1;
  c.option_count = 5;
  expect_untouched(&c);
}

static void a_second_time_there_is_nothing_to_do(void **state) {
  (void)state;
  build_file *f = file_of(&point);
  reading *r = rewritten(f, CALM_OK);
  assert_int_equal(r->warning_count, 0);
  assert_int_equal(model_rewrite(&r->model, MODEL_DILATE_1X1), CALM_OK);
  assert_int_equal(r->warning_count, 1);
  end(r, f);
}

static void other_formats_are_refused(void **state) {
  (void)state;
  static const char text[] = "calm-graph 1\ngraph g\ntensor x 4 input\n";
  reading *r = reading_of_bytes((const uint8_t *)text, sizeof text - 1);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(model_rewrite(&r->model, MODEL_DILATE_1X1),
                   CALM_UNSUPPORTED);
  assert_non_null(
      strstr(reading_message(r), "--rewrite-1x1 works on .tflite files"));
  assert_int_equal(reading_end(r), 0);
}

/* The n-th request for memory fails, for every n. */
static void memory_may_run_out_at_any_time(void **state) {
  (void)state;
  build_file *f = file_of(&point);
  uint64_t left;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    calm_model model;
    left = SCARCE_NEVER;
    calm_context *context = calm_context_new(&allocator);
    model_init(&model, context, "scarce");
    model.map = (file_map){f->bytes, f->length};
    assert_int_equal(model_read(&model), CALM_OK);
    left = granted;
    status = model_rewrite(&model, MODEL_DILATE_1X1);
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    model_clear(&model);
    assert_int_equal(calm_context_bytes(context), 0);
    calm_context_free(context);
  }
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_dilated), cmocka_unit_test(others_stay),
      cmocka_unit_test(a_second_time_there_is_nothing_to_do),
      cmocka_unit_test(other_formats_are_refused),
      cmocka_unit_test(memory_may_run_out_at_any_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
