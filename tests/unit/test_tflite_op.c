/* Operators of .tflite files: codes and names, operands, attributes, bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "tflite_builder.h"

enum { IF = 118, WHILE = 119, CALL_ONCE = 129 };

static const int32_t first_tensor = 0;
static const int32_t image[] = {1, 8, 8, 4};
static const build_tensor tensors[] = {{.name = "a", .shape = {image, 4}},
                                       {.name = "b", .shape = {image, 4}},
                                       {.name = "c", .shape = {image, 4}},
                                       {.name = "d", .shape = {image, 4}},
                                       {.name = "e", .shape = {image, 4}}};

static build_subgraph subgraph_of(const build_op *ops, uint32_t count) {
  return (build_subgraph){.tensors = tensors,
                          .tensor_count = 5,
                          .ops = ops,
                          .op_count = count,
                          .inputs = {&first_tensor, 1}};
}

/* One subgraph that reads tensor 0, codes[i] being the code of operator i. */
static build_file *file_of(const build_code *codes, const build_op *ops,
                           uint32_t count) {
  static const int32_t input = 0;
  build_subgraph subgraph = {.tensors = tensors,
                             .tensor_count = 5,
                             .ops = ops,
                             .op_count = count,
                             .inputs = {&input, 1}};
  build_model model = {.codes = codes,
                       .code_count = count,
                       .subgraphs = &subgraph,
                       .subgraph_count = 1};
  return build_tflite(&model, false);
}

static const graph_op *op(const reading *r, uint32_t i) {
  return &r->model.graphs.data[0].ops.data[i];
}

static void end(reading *r, build_file *f) {
  assert_int_equal(reading_end(r), 0);
  free(f);
}

static void refused(build_file *f, const char *what) {
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_BAD_INPUT);
  if (!strstr(reading_message(r), what)) fail_msg("%s", reading_message(r));
  end(r, f);
}

static void names_and_kinds_follow_the_code(void **state) {
  (void)state;
  static const build_code codes[] = {{3, NULL},  {32, "ethos-u"}, {32, "add"},
                                     {32, NULL}, {142, NULL},     {300, NULL}};
  static const build_op ops[] = {{.code = 0}, {.code = 1}, {.code = 2},
                                 {.code = 3}, {.code = 4}, {.code = 5}};
  static const struct {
    const char *name, *kind;
    op_kind id;
    bool stateful;
  } wanted[] = {{"0_CONV_2D", "conv2d", OP_conv2d, false},
                {"1_ethos-u", "ethos-u", OP_OPAQUE, true},
                {"2_add", "custom:add", OP_OPAQUE, true},
                {"3_CUSTOM", "custom", OP_OPAQUE, true},
                {"4_VAR_HANDLE", "var_handle", OP_var_handle, true},
                {"5_BUILTIN_300", "builtin_300", OP_OPAQUE, true}};
  build_file *f = file_of(codes, ops, 6);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  for (uint32_t i = 0; i < 6; i++) {
    assert_string_equal(op(r, i)->name, wanted[i].name);
    assert_string_equal(op(r, i)->kind_name, wanted[i].kind);
    assert_int_equal(op(r, i)->kind, wanted[i].id);
    assert_int_equal(graph_op_stateful(op(r, i)), wanted[i].stateful);
    assert_int_equal(op(r, i)->file_index, i);
  }
  end(r, f);
}

static void the_larger_of_both_codes_is_meant(void **state) {
  (void)state;
  static const build_code codes[] = {{3, NULL}, {3, NULL}};
  static const build_op ops[] = {{.code = 0}, {.code = 1}};
  build_file *f = file_of(codes, ops, 2);
  /* a file from before the second field, and one whose first is a filler */
  build_set(f, build_child(f, build_root(f), 1, 0), 3, 0, 4);
  build_set(f, build_child(f, build_root(f), 1, 1), 0, 127, 1);
  build_set(f, build_child(f, build_root(f), 1, 1), 3, 150, 4);
  reading *r = reading_of(f);
  assert_string_equal(op(r, 0)->name, "0_CONV_2D");
  assert_string_equal(op(r, 1)->name, "1_GELU");
  end(r, f);
}

static void absent_operands_stay_in_their_slots(void **state) {
  (void)state;
  static const build_code codes[] = {{44, NULL}};
  const build_op ops[] = {{.inputs = LIST(0, -1, 2, -1),
                           .outputs = LIST(-1, 3),
                           .intermediates = LIST(4, -1)}};
  build_file *f = file_of(codes, ops, 1);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(op(r, 0)->input_count, 4);
  assert_int_equal(op(r, 0)->inputs[1], CALM_NONE);
  assert_int_equal(op(r, 0)->inputs[2], 2);
  assert_int_equal(op(r, 0)->inputs[3], CALM_NONE);
  assert_int_equal(op(r, 0)->outputs[0], CALM_NONE);
  assert_int_equal(op(r, 0)->outputs[1], 3);
  end(r, f);
}

static void indices_out_of_range_are_refused(void **state) {
  (void)state;
  static const build_code codes[] = {{0, NULL}};
  const build_op past = {.inputs = LIST(0, 5), .outputs = LIST(1)};
  refused(file_of(codes, &past, 1),
          "entry 1 of 'inputs' is tensor 5, but there are 5 (in subgraph 0, "
          "operator 0)");
  const build_op negative = {.inputs = LIST(0), .outputs = LIST(-2)};
  refused(file_of(codes, &negative, 1), "entry 0 of 'outputs' is tensor -2");
  const build_op inner = {.inputs = LIST(0), .intermediates = LIST(77)};
  refused(file_of(codes, &inner, 1), "entry 0 of 'intermediates' is tensor 77");
  const build_op code = {.code = 1};
  refused(file_of(codes, &code, 1), "operator code 1 does not exist");
  const build_op outside = {.outside_offset = 1 << 20, .outside_size = 4};
  refused(file_of(codes, &outside, 1), "4 bytes of custom options");
}

static void graphs_that_contradict_themselves_are_refused(void **state) {
  (void)state;
  static const build_code codes[] = {{0, NULL}, {0, NULL}};
  const build_op twice[] = {{.inputs = LIST(0), .outputs = LIST(1)},
                            {.inputs = LIST(0), .outputs = LIST(1)}};
  refused(file_of(codes, twice, 2), "is written by the operators");
  const build_op input[] = {{.inputs = LIST(1), .outputs = LIST(0)}};
  refused(file_of(codes, input, 1), "which is a graph input");
  const build_op cycle[] = {{.inputs = LIST(2), .outputs = LIST(1)},
                            {.inputs = LIST(1), .outputs = LIST(2)}};
  refused(file_of(codes, cycle, 2), "wait for each other");
}

static void an_order_that_does_not_hold_is_a_warning(void **state) {
  (void)state;
  static const build_code codes[] = {{0, NULL}, {0, NULL}};
  const build_op ops[] = {{.inputs = LIST(1), .outputs = LIST(2)},
                          {.inputs = LIST(0), .outputs = LIST(1)}};
  build_file *f = file_of(codes, ops, 2);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_false(r->model.graphs.data[0].file_order_valid);
  assert_non_null(strstr(r->warnings, "'0_ADD' stands before '1_ADD'"));
  end(r, f);
}

static void an_empty_subgraph_is_read(void **state) {
  (void)state;
  build_file *f = file_of(NULL, NULL, 0);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_int_equal(r->model.graphs.data[0].ops.count, 0);
  end(r, f);
  build_model none = {.subgraph_count = 0};
  refused(build_tflite(&none, false), "there is no subgraph");
}

/* ---- Attributes ---------------------------------------------------------- */

static void print_attributes(char *out, size_t size, const graph_op *o) {
  size_t used = 0;
  out[0] = '\0';
  for (uint32_t i = 0; i < o->attribute_count; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s=%s", i ? " " : "",
                             o->attributes[i].key, o->attributes[i].value);
}

static void attributes_are_spelled_as_in_the_text_form(void **state) {
  (void)state;
  const struct {
    int32_t builtin;
    build_op op;
    const char *wanted;
  } cases[] = {
      {3,
       {.options_type = 1, .options = LIST(0, 2, 1, 1), .byte_options = 9},
       "stride=1,2 pad=same activation=relu"},
      {3,
       {.options_type = 1,
        .options = LIST(1, 1, 1, 0, 3, 2),
        .byte_options = 9},
       "stride=1,1 pad=valid dilation=2,3"},
      {4,
       {.options_type = 2, .options = LIST(1, 2, 2, 3, 3), .byte_options = 17},
       "stride=2,2 pad=valid multiplier=3 activation=relu6"},
      {17,
       {.options_type = 5,
        .options = LIST(0, 2, 1, 4, 3, 0),
        .byte_options = 33},
       "filter=3,4 stride=1,2 pad=same"},
      {2,
       {.options_type = 10, .options = LIST(-1, 0), .byte_options = 2},
       "axis=-1"},
      {9,
       {.options_type = 8, .options = LIST(1, 0, 1), .byte_options = 7},
       "activation=relu keep_dims=true"},
      {9, {.options_type = 1, .options = LIST(1)}, ""}, /* options of another */
      {3, {.options_type = 0}, ""},
      {3,
       {.options_type = 1, .options = LIST(7, 1, 1, 9), .byte_options = 9},
       "stride=1,1 pad=7 activation=9"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const build_code code = {cases[i].builtin, NULL};
    build_file *f = file_of(&code, &cases[i].op, 1);
    reading *r = reading_of(f);
    char found[256];
    assert_int_equal(r->status, CALM_OK);
    print_attributes(found, sizeof found, op(r, 0));
    assert_string_equal(found, cases[i].wanted);
    end(r, f);
  }
}

/* The number is read by its type. */
static void the_axis_of_a_split_is_a_constant_operand(void **state) {
  (void)state;
  static const uint8_t minus_one[8] = {0xff, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff};
  const struct {
    int type;
    uint32_t length;
    const char *wanted;
  } cases[] = {{2, 4, "axis=-1 num=2"},
               {4, 8, "axis=-1 num=2"},
               {4, 4, "num=2"},
               {0, 4, "num=2"}};
  for (size_t i = 0; i < 4; i++) {
    const build_buffer buffers[] = {{NULL, 0, 0, 0},
                                    {minus_one, cases[i].length, 0, 0}};
    const build_tensor all[] = {
        {.name = "axis", .type = cases[i].type, .buffer = 1},
        {.name = "x", .shape = LIST(4)},
        {.name = "y", .shape = LIST(2)},
        {.name = "z", .shape = LIST(2)}};
    const build_code code = {49, NULL};
    const build_op split = {.inputs = LIST(0, 1),
                            .outputs = LIST(2, 3),
                            .options_type = 35,
                            .options = LIST(2)};
    const build_subgraph subgraph = {NULL, all,     4,         &split,
                                     1,    LIST(1), LIST(2, 3)};
    const build_model model = {.codes = &code,
                               .code_count = 1,
                               .subgraphs = &subgraph,
                               .subgraph_count = 1,
                               .buffers = buffers,
                               .buffer_count = 2};
    build_file *f = build_tflite(&model, false);
    reading *r = reading_of(f);
    char found[256];
    assert_int_equal(r->status, CALM_OK);
    print_attributes(found, sizeof found, op(r, 0));
    assert_string_equal(found, cases[i].wanted);
    /* C106: the results stand in the order of the file */
    assert_int_equal(op(r, 0)->outputs[0], 2);
    assert_int_equal(op(r, 0)->outputs[1], 3);
    end(r, f);
  }
}

/* 3x3 depthwise, stride 2, dilation 3. */
static void stored_shapes_win_over_formulas(void **state) {
  (void)state;
  const struct {
    int32_t in, out, pad;
    bool conflict;
  } cases[] = {{136, 65, 1, false}, {136, 64, 1, true}, {128, 64, 0, false},
               {128, 65, 0, true},  {7, 1, 1, false},   {6, 1, 1, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t in = cases[i].in, out = cases[i].out;
    const build_tensor all[] = {{.name = "x", .shape = LIST(1, in, in, 8)},
                                {.name = "w", .shape = LIST(1, 3, 3, 8)},
                                {.name = "y", .shape = LIST(1, out, out, 8)}};
    const build_code code = {4, NULL};
    const build_op conv = {.inputs = LIST(0, 1),
                           .outputs = LIST(2),
                           .options_type = 2,
                           .options = LIST(cases[i].pad, 2, 2, 1, 0, 3, 3),
                           .byte_options = 17};
    const build_subgraph subgraph = {NULL, all,        3,      &conv,
                                     1,    LIST(0, 1), LIST(2)};
    const build_model model = {.codes = &code,
                               .code_count = 1,
                               .subgraphs = &subgraph,
                               .subgraph_count = 1};
    build_file *f = build_tflite(&model, false);
    reading *r = reading_of(f);
    assert_int_equal(r->status, CALM_OK);
    assert_int_equal(r->model.graphs.data[0].tensors.data[2].bytes,
                     out * out * 8 * 4);
    assert_int_equal(strstr(r->warnings, "is stored with height") != NULL,
                     cases[i].conflict);
    end(r, f);
  }
}

/* ---- Bodies -------------------------------------------------------------- */

/* Three subgraphs, the first of which has one operator of `builtin`. */
static build_file *calling(int32_t builtin, uint8_t type, build_list options,
                           const build_op *second) {
  const build_code codes[] = {{builtin, NULL}, {0, NULL}, {144, NULL}};
  const build_op call = {.inputs = LIST(0),
                         .outputs = LIST(1),
                         .options_type = type,
                         .options = options};
  const build_op add = {.code = 1, .inputs = LIST(0), .outputs = LIST(1)};
  const build_subgraph subgraphs[] = {subgraph_of(&call, 1),
                                      subgraph_of(second ? second : &add, 1),
                                      subgraph_of(&add, 1)};
  const build_model model = {.codes = codes,
                             .code_count = 3,
                             .subgraphs = subgraphs,
                             .subgraph_count = 3};
  return build_tflite(&model, false);
}

static void control_flow_names_its_bodies(void **state) {
  (void)state;
  const struct {
    int32_t builtin;
    uint8_t type;
    uint32_t count;
  } cases[] = {{IF, 92, 2}, {WHILE, 93, 2}, {CALL_ONCE, 103, 1}, {31, 16, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    build_file *f = calling(cases[i].builtin, cases[i].type, LIST(2, 1), NULL);
    reading *r = reading_of(f);
    assert_int_equal(r->status, CALM_OK);
    assert_int_equal(r->model.graphs.count, 3);
    assert_int_equal(op(r, 0)->body_count, cases[i].count);
    assert_int_equal(op(r, 0)->bodies[0], 2);
    if (cases[i].count == 2) assert_int_equal(op(r, 0)->bodies[1], 1);
    char *text = reading_dump(r);
    assert_non_null(strstr(text, "body=subgraph2"));
    calm_text_free(r->context, text);
    end(r, f);
  }
}

static void a_body_has_to_exist_and_not_to_recur(void **state) {
  (void)state;
  refused(calling(IF, 92, LIST(1, 3), NULL),
          "IF runs subgraph 3, but there are 3 (in subgraph 0, operator 0)");
  refused(calling(WHILE, 93, LIST(-1, 1), NULL), "WHILE runs subgraph -1");
  refused(calling(IF, 0, LIST(1, 2), NULL),
          "IF does not say which subgraphs it runs");
  refused(calling(WHILE, 93, LIST(0, 1), NULL), "must not recur");
  const build_op back = {.code = 0,
                         .inputs = LIST(0),
                         .outputs = LIST(1),
                         .options_type = 92,
                         .options = LIST(2, 0)};
  refused(calling(IF, 92, LIST(2, 1), &back), "must not recur");
}

/* What writes variables in a body does so at its caller's place. */
static void state_in_a_body_makes_the_caller_stateful(void **state) {
  (void)state;
  const build_op assign = {.code = 2, .inputs = LIST(0, 1)};
  build_file *f = calling(IF, 92, LIST(2, 1), &assign);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  assert_true(graph_op_stateful(op(r, 0)));
  end(r, f);
  f = calling(IF, 92, LIST(2, 2), NULL);
  r = reading_of(f);
  assert_false(graph_op_stateful(op(r, 0)));
  end(r, f);
}

static void subgraph_names_become_unique(void **state) {
  (void)state;
  build_subgraph subgraphs[4];
  static const char *const names[] = {"main", NULL, "main", ""};
  static const char *const wanted[] = {"main", "subgraph1", "main#2",
                                       "subgraph3"};
  for (int i = 0; i < 4; i++) {
    subgraphs[i] = (build_subgraph){.name = names[i]};
  }
  const build_model model = {.subgraphs = subgraphs, .subgraph_count = 4};
  build_file *f = build_tflite(&model, false);
  reading *r = reading_of(f);
  assert_int_equal(r->status, CALM_OK);
  for (int i = 0; i < 4; i++)
    assert_string_equal(r->model.graphs.data[i].name, wanted[i]);
  end(r, f);
}

/* ---- SwiftNet ------------------------------------------------------------ */

/* The same network as somebody else wrote it down, with tensors named by their
   index in the file and no weights. */
static void swiftnet_equals_its_text(void **state) {
  (void)state;
  CASES_OR_SKIP();
  reading *r[2];
  file_map maps[2];
  static const char *const names[] = {"models/swiftnet_vwwc19_uint8.tflite",
                                      "graphs/swiftnet_vwwc19.cg"};
  for (int i = 0; i < 2; i++) {
    char path[1024];
    calm_context *context = calm_context_new(NULL);
    assert_non_null(cases_path(path, sizeof path, names[i]));
    assert_int_equal(file_map_open(&maps[i], context, path), CALM_OK);
    calm_context_free(context);
    r[i] = reading_of_bytes(maps[i].bytes, maps[i].length);
    assert_int_equal(r[i]->status, CALM_OK);
  }
  const graph *file = &r[0]->model.graphs.data[0];
  const graph *text = &r[1]->model.graphs.data[0];
  assert_int_equal(file->ops.count, text->ops.count);
  for (op_id u = 0; u < file->ops.count; u++) {
    const graph_op *a = &file->ops.data[u], *b = &text->ops.data[u];
    uint32_t seen = 0;
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->kind_name, b->kind_name);
    assert_int_equal(a->output_count, b->output_count);
    for (uint32_t i = 0; i < a->input_count; i++) {
      const graph_tensor *t = &file->tensors.data[a->inputs[i]];
      if (t->flags & CALM_TENSOR_CONST) continue;
      const graph_tensor *other = &text->tensors.data[b->inputs[seen++]];
      char name[16];
      snprintf(name, sizeof name, "t%u", t->file_index);
      assert_string_equal(name, other->name);
      assert_int_equal(t->bytes, other->bytes);
    }
    assert_int_equal(seen, b->input_count);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(reading_end(r[i]), 0);
    file_map_close(&maps[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_kinds_follow_the_code),
      cmocka_unit_test(the_larger_of_both_codes_is_meant),
      cmocka_unit_test(absent_operands_stay_in_their_slots),
      cmocka_unit_test(indices_out_of_range_are_refused),
      cmocka_unit_test(graphs_that_contradict_themselves_are_refused),
      cmocka_unit_test(an_order_that_does_not_hold_is_a_warning),
      cmocka_unit_test(an_empty_subgraph_is_read),
      cmocka_unit_test(attributes_are_spelled_as_in_the_text_form),
      cmocka_unit_test(the_axis_of_a_split_is_a_constant_operand),
      cmocka_unit_test(stored_shapes_win_over_formulas),
      cmocka_unit_test(control_flow_names_its_bodies),
      cmocka_unit_test(a_body_has_to_exist_and_not_to_recur),
      cmocka_unit_test(state_in_a_body_makes_the_caller_stateful),
      cmocka_unit_test(subgraph_names_become_unique),
      cmocka_unit_test(swiftnet_equals_its_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
