#include "memory_graphs.h"

static void presets_are_what_the_table_says(void **state) {
  (void)state;
  assert_null(memory_model_find("no such"));
  const memory_model *plain = memory_model_find("plain");
  assert_int_equal(plain->inputs, INPUTS_UNTIL_USE);
  assert_int_equal(plain->outputs, OUTPUTS_TO_END);
  assert_int_equal(plain->align, 1);
  assert_int_equal(plain->round, 1);
  assert_int_equal(bits_count(plain->views, OP_KIND_WORDS), 0);
  assert_int_equal(plain->concat, CONCAT_COPY);
  assert_int_equal(plain->variables, VARIABLES_EXTERNAL);
  const memory_model *serenity = memory_model_find("serenity");
  for (uint32_t kind = 0; kind <= OP_OPAQUE; kind++)
    assert_int_equal(bits_has(serenity->views, kind),
                     (op_kind_flags((op_kind)kind) & OP_VIEW) ||
                         kind == OP_split || kind == OP_split_v);
  assert_int_equal(serenity->concat, CONCAT_ELIDE);
  const memory_model *tflm = memory_model_find("tflm-default");
  assert_int_equal(tflm->align, 16);
  assert_int_equal(tflm->round, 16);
  for (uint32_t kind = 0; kind <= OP_OPAQUE; kind++)
    assert_false(bits_has(tflm->inplace, kind));
}

static void columns_are_set_by_word(void **state) {
  (void)state;
  fixture f;
  fixture_begin(&f, NULL);
  const memory_model m =
      model_of(f.context,
               "plain inputs=whole-run outputs=external align=64 round=1K "
               "views=identity concat=elide variables=whole-run");
  assert_int_equal(m.inputs, INPUTS_WHOLE_RUN);
  assert_int_equal(m.outputs, OUTPUTS_EXTERNAL);
  assert_int_equal(m.align, 64);
  assert_int_equal(m.round, 1024);
  assert_memory_equal(m.views, memory_model_find("serenity")->views,
                      sizeof m.views);
  assert_int_equal(m.concat, CONCAT_ELIDE);
  assert_int_equal(m.variables, VARIABLES_WHOLE_RUN);
  fixture_close(&f);
}

static void inplace_takes_kinds(void **state) {
  (void)state;
  fixture f;
  fixture_begin(&f, NULL);
  memory_model m = model_of(f.context, "plain inplace=conv2d,add");
  assert_true(bits_has(m.inplace, OP_add));
  assert_true(bits_has(m.inplace, OP_conv2d));
  assert_false(bits_has(m.inplace, OP_relu));
  m = model_of(f.context, "plain inplace=add inplace=elementwise");
  for (uint32_t kind = 0; kind < OP_OPAQUE; kind++)
    assert_int_equal(bits_has(m.inplace, kind),
                     (op_kind_flags((op_kind)kind) & OP_ELEMENTWISE) != 0);
  m = model_of(f.context, "plain inplace=elementwise inplace=none");
  for (uint32_t i = 0; i < OP_KIND_WORDS; i++)
    assert_int_equal(m.inplace[i], 0);
  fixture_close(&f);
}

static void wrong_values_are_answered_with_right_ones(void **state) {
  (void)state;
  static const struct {
    const char *column, *value, *message;
  } cases[] = {
      {"inputs", "foo",
       "--inputs: 'foo' is not one of until-use, whole-run, external"},
      {"outputs", "", "--outputs: '' is not one of to-end, external"},
      {"views", "all",
       "--views: 'all' is not none, identity, or a list of operator kinds such "
       "as reshape,"},
      {"views", "conv2d", "--views: 'conv2d' is not none, identity, or "},
      {"concat", "ELIDE", "--concat: 'ELIDE' is not one of copy, elide"},
      {"variables", "no",
       "--variables: 'no' is not one of external, whole-run"},
      {"align", "0", "--align: '0' is not a size from 1 to 1073741824 bytes"},
      {"align", "2G", "--align: '2G' is not a size from 1 to 1073741824 bytes"},
      {"round", "-1", "--round: '-1' is not a size from 1 to 1073741824 bytes"},
      {"inplace", "none,add",
       "--inplace: 'none' is not none, elementwise, or a list of operator "
       "kinds such as add,"},
      {"inplace", "add,", "--inplace: '' is not none, elementwise, or "},
      {"inplace", "", "--inplace: '' is not none, elementwise, or "},
      {"inplace", "opaque", "--inplace: 'opaque' is not none, elementwise, "},
      {"colour", "red", "a memory model has no column 'colour'; it has "},
  };
  fixture f;
  fixture_begin(&f, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    memory_model m = *memory_model_find("plain");
    const memory_model before = m;
    assert_int_equal(
        memory_model_override(&m, f.context, cases[i].column, cases[i].value),
        CALM_MISUSE);
    const char *message = calm_context_message(f.context);
    if (strncmp(message, cases[i].message, strlen(cases[i].message)))
      fail_msg("%s\ninstead of\n%s", message, cases[i].message);
    assert_memory_equal(&m, &before, sizeof m);
  }
  fixture_close(&f);
}

static void messages_need_memory(void **state) {
  (void)state;
  uint64_t left = 1;
  const calm_allocator allocator = {scarce_reallocate, &left};
  fixture f;
  fixture_begin(&f, &allocator);
  memory_model m = *memory_model_find("plain");
  assert_int_equal(memory_model_override(&m, f.context, "inputs", "foo"),
                   CALM_NO_MEMORY);
  assert_int_equal(memory_model_override(&m, f.context, "inplace", "add"),
                   CALM_NO_MEMORY);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(presets_are_what_the_table_says),
      cmocka_unit_test(columns_are_set_by_word),
      cmocka_unit_test(inplace_takes_kinds),
      cmocka_unit_test(wrong_values_are_answered_with_right_ones),
      cmocka_unit_test(messages_need_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
