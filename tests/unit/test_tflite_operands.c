/* What constant operands of .tflite operators say: parts and paddings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "tflite_builder.h"

enum { PAD = 34, STRIDED_SLICE = 45, PADV2 = 60, SLICE = 65, MOST = 3 };

/* An operator over x and constant vectors of i32, that makes y. */
typedef struct operand_case {
  int32_t builtin;
  build_list x, y;
  build_list operands[MOST];
  uint8_t options_type;
  build_list options;
  const char *wanted;
} operand_case;

static build_file *file_of(const operand_case *c, bool constant) {
  const build_code code = {c->builtin, NULL};
  build_tensor tensors[MOST + 2] = {{.name = "x", .shape = c->x},
                                    {.name = "y", .shape = c->y}};
  static const char *const names[MOST] = {"p", "q", "r"};
  int32_t inputs[MOST + 2] = {0}, ends[MOST + 1] = {0};
  build_buffer buffers[MOST + 1] = {{0}};
  int32_t sizes[MOST];
  uint32_t count = 0;
  while (count < MOST && c->operands[count].count) {
    const build_list *o = &c->operands[count];
    sizes[count] = (int32_t)o->count;
    buffers[count + 1] = (build_buffer){o->values, o->count * 4, 0, 0};
    tensors[count + 2] = (build_tensor){.name = names[count],
                                        .shape = {&sizes[count], 1},
                                        .type = 2,
                                        .buffer = constant ? count + 1 : 0};
    inputs[count + 1] = ends[count + 1] = (int32_t)count + 2;
    count++;
  }
  const build_op op = {.inputs = {inputs, count + 1},
                       .outputs = LIST(1),
                       .options_type = c->options_type,
                       .options = c->options};
  const build_subgraph subgraph = {
      NULL,   tensors, count + 2, &op, 1, {ends, constant ? 1 : count + 1},
      LIST(1)};
  const build_model model = {.codes = &code,
                             .code_count = 1,
                             .subgraphs = &subgraph,
                             .subgraph_count = 1,
                             .buffers = buffers,
                             .buffer_count = count + 1};
  return build_tflite(&model, false);
}

static void expect(const operand_case *c, bool constant, const char *wanted) {
  build_file *f = file_of(c, constant);
  reading *r = reading_of(f);
  char found[256] = "";
  size_t used = 0;
  if (r->status != CALM_OK) fail_msg("%s", reading_message(r));
  const graph_op *op = &r->model.graphs.data[0].ops.data[0];
  for (uint32_t i = 0; i < op->attribute_count; i++)
    used += (size_t)snprintf(found + used, sizeof found - used, "%s%s=%s",
                             i ? " " : "", op->attributes[i].key,
                             op->attributes[i].value);
  assert_string_equal(found, wanted);
  assert_int_equal(reading_end(r), 0);
  free(f);
}

#define X LIST(1, 9, 8, 3)
#define STRIDED(...) 32, LIST(__VA_ARGS__)
#define ONES LIST(1, 1, 1, 1)

static void slices_say_where_they_begin_and_how_large_they_are(void **state) {
  (void)state;
  const operand_case cases[] = {
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 4, 8, 3)},
       0,
       LIST(0),
       "begin=0,5,0,0 size=1,4,8,3"},
      /* -1 is to the end */
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(-1, -1, -1, 3)},
       0,
       LIST(0),
       "begin=0,5,0,0 size=1,4,8,3"},
      /* beyond the end, and another size than the output has */
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 6, 0, 0), LIST(1, 4, 8, 3)},
       0,
       LIST(0),
       ""},
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 3, 8, 3)},
       0,
       LIST(0),
       ""},
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, -1, 0, 0), LIST(1, 4, 8, 3)},
       0,
       LIST(0),
       ""},
      {SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0), LIST(1, 4, 8)},
       0,
       LIST(0),
       ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(&cases[i], true, cases[i].wanted);
  expect(&cases[0], false, "");
}

static void strided_slices_that_skip_nothing_are_slices(void **state) {
  (void)state;
  const operand_case cases[] = {
      {STRIDED_SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 9, 8, 3), ONES},
       STRIDED(0, 0, 0, 0, 0),
       "begin=0,5,0,0 size=1,4,8,3"},
      /* from the end, and beyond it */
      {STRIDED_SLICE,
       X,
       LIST(1, 3, 8, 3),
       {LIST(0, -4, 0, -99), LIST(1, -1, 99, 3), ONES},
       STRIDED(0, 0, 0, 0, 0),
       "begin=0,5,0,0 size=1,3,8,3"},
      /* masks: begin of rows, end of columns */
      {STRIDED_SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 4, 2, 3), ONES},
       STRIDED(2, 4, 0, 0, 0),
       "begin=0,0,0,0 size=1,4,8,3"},
      {STRIDED_SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 0, 0, 0), LIST(1, 8, 8, 3), LIST(1, 2, 1, 1)},
       STRIDED(0, 0, 0, 0, 0),
       ""},
      {STRIDED_SLICE,
       X,
       LIST(9, 8, 3),
       {LIST(0, 0, 0, 0), LIST(1, 9, 8, 3), ONES},
       STRIDED(0, 0, 0, 0, 1),
       ""},
      {STRIDED_SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 9, 8, 3), ONES},
       STRIDED(0, 0, 1, 0, 0),
       ""},
      {STRIDED_SLICE,
       X,
       LIST(1, 4, 8, 3),
       {LIST(0, 5, 0, 0), LIST(1, 9, 8, 3), ONES},
       0,
       LIST(0),
       ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(&cases[i], true, cases[i].wanted);
}

static void pads_say_how_much_they_add(void **state) {
  (void)state;
  const build_list pairs = LIST(0, 0, 1, 2, 0, 1, 0, 0);
  const char *said = "before=0,1,0,0 after=0,2,1,0";
  const operand_case cases[] = {
      {PAD, X, LIST(1, 12, 9, 3), {pairs}, 0, LIST(0), said},
      {PADV2, X, LIST(1, 12, 9, 3), {pairs, LIST(7)}, 0, LIST(0), said},
      {PAD, X, LIST(1, 12, 10, 3), {pairs}, 0, LIST(0), ""},
      {PAD,
       X,
       LIST(1, 12, 9, 3),
       {LIST(0, 0, -1, 4, 0, 1, 0, 0)},
       0,
       LIST(0),
       ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(&cases[i], true, cases[i].wanted);
  expect(&cases[0], false, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slices_say_where_they_begin_and_how_large_they_are),
      cmocka_unit_test(strided_slices_that_skip_nothing_are_slices),
      cmocka_unit_test(pads_say_how_much_they_add)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
