/*
 * What the tests of reports share: a scarce allocator, plans filled
 * by hand, and a look at lines and JSON.
 */
#ifndef CALM_TESTS_REPORT_FIXTURE_H
#define CALM_TESTS_REPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "report/report_name.h"
#include "scarce.h"

/* A graph of three operators: x -split-> a, b; b -copy-> "odd\xff";
   a, odd -add-> y.  `copy` has a workspace. */
static inline void fixture_graph(graph *g, arena *a) {
  static const int64_t shape[] = {1, 4, 8};
  tensor_id t[5];
  op_id op;
  graph_init(g, a, "sample");
  const graph_tensor tensors[] = {
      {.name = "x",
       .type = ELEMENT_i8,
       .dimensions = shape,
       .rank = 3,
       .flags = CALM_TENSOR_INPUT,
       .file_index = 7},
      {.name = "a", .type = ELEMENT_ABSTRACT, .bytes = 16, .file_index = 8},
      {.name = "b", .type = ELEMENT_ABSTRACT, .bytes = 16, .file_index = 9},
      {.name = "odd\xff", .type = ELEMENT_ABSTRACT, .bytes = 16},
      {.name = "y",
       .type = ELEMENT_ABSTRACT,
       .bytes = 16,
       .flags = CALM_TENSOR_OUTPUT}};
  for (int i = 0; i < 5; i++)
    assert_int_equal(graph_add_tensor(&t[i], g, &tensors[i]), CALM_OK);
  tensor_id split_out[] = {t[1], t[2]}, add_in[] = {t[1], t[3]};
  const graph_op ops[] = {{.name = "split",
                           .kind_name = "split",
                           .kind = OP_split,
                           .inputs = &t[0],
                           .input_count = 1,
                           .outputs = split_out,
                           .output_count = 2},
                          {.name = "copy",
                           .kind_name = "strange",
                           .kind = OP_OPAQUE,
                           .inputs = &t[2],
                           .input_count = 1,
                           .outputs = &t[3],
                           .output_count = 1,
                           .workspace_bytes = 16},
                          {.name = "add",
                           .kind_name = "add",
                           .kind = OP_add,
                           .inputs = add_in,
                           .input_count = 2,
                           .outputs = &t[4],
                           .output_count = 1}};
  for (int i = 0; i < 3; i++)
    assert_int_equal(graph_add_op(&op, g, &ops[i]), CALM_OK);
  assert_int_equal(graph_finish(g, "sample.cg"), CALM_OK);
}

/* Everything a report looks at, without any solver. */
typedef struct fixture {
  uint64_t allocations_left;
  calm_context *context;
  calm_model model;
  calm_plan plan;
  uint64_t offsets[5], workspace_offsets[3], workspace_bytes[3], step_bytes[3];
  memory_life lives[5];
  op_id sequence[3];
} fixture;

static inline void fixture_open(fixture *f) {
  const calm_allocator scarce = {scarce_reallocate, &f->allocations_left};
  memset(f, 0, sizeof *f);
  f->allocations_left = SCARCE_NEVER;
  f->context = calm_context_new(&scarce);
  f->model.context = f->context;
  f->model.path = "some/where/sample.cg";
  arena_init(&f->model.arena, f->context);
  graph g;
  fixture_graph(&g, &f->model.arena);
  f->model.graphs.data = context_reallocate(f->context, NULL, 0, sizeof(graph));
  f->model.graphs.data[0] = g;
  f->model.graphs.count = f->model.graphs.capacity = 1;
}

static inline void fixture_close(fixture *f) {
  graph_free(&f->model.graphs.data[0]);
  VECTOR_FREE(f->context, &f->model.graphs);
  arena_free(&f->model.arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
}

/* x at 0..32, a at 32, b at 48, odd at 0, y at 16; the workspace at 16. */
static inline const calm_plan *fixture_plan(fixture *f) {
  const memory_life lives[] = {{true, false, 0, 0, 0, 32},
                               {true, false, 0, 2, 1, 16},
                               {true, false, 0, 1, 2, 16},
                               {true, false, 1, 2, 3, 16},
                               {true, true, 2, 2, 4, 16}};
  const uint64_t offsets[] = {0, 32, 48, 0, 16};
  const uint64_t step_bytes[] = {64, 64, 48};
  memcpy(f->lives, lives, sizeof lives);
  memcpy(f->offsets, offsets, sizeof offsets);
  memcpy(f->step_bytes, step_bytes, sizeof step_bytes);
  for (uint32_t i = 0; i < 3; i++) {
    f->sequence[i] = i;
    f->workspace_offsets[i] = i == 1 ? 16 : UINT64_MAX;
    f->workspace_bytes[i] = i == 1 ? 16 : 0;
  }
  f->plan = (calm_plan){
      .context = f->context,
      .model = &f->model,
      .graph = &f->model.graphs.data[0],
      .memory = *memory_model_find("plain"),
      .facts = {3, 5, 96, 1234567},
      .summary = {.baseline_peak_bytes = 80,
                  .baseline_arena_bytes = 60,
                  .order_outcome = CALM_OPTIMAL,
                  .peak_bytes = 64,
                  .peak_bound_bytes = 64,
                  .layout_outcome = CALM_OPTIMAL,
                  .arena_bytes = 64,
                  .arena_bound_bytes = 64,
                  .within_budget = true},
      .baseline_order = "file",
      .any_order = true,
      .order_method = "exact",
      .layout_method = "exact",
      .order = {.states = 1, .ticks = 1000},
      .layout = {.nodes = 1200, .ticks = 2000},
      .sequence = f->sequence,
      .offsets = f->offsets,
      .workspace_offsets = f->workspace_offsets,
      .workspace_bytes = f->workspace_bytes,
      .baseline = {&f->model.graphs.data[0], f->sequence, f->step_bytes, 0},
      .profile = {f->lives, f->step_bytes, 64, 0},
      .budget_bytes = UINT64_MAX};
  return &f->plan;
}

/* The value at "order.sequence.2"; a failed test if it is not there. */
static inline json_t *json_at(json_t *root, const char *path) {
  char key[64];
  while (*path) {
    const size_t length = strcspn(path, ".");
    memcpy(key, path, length);
    key[length] = '\0';
    path += length + (path[length] == '.');
    root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10))
                               : json_object_get(root, key);
    if (!root) fail_msg("no %s", key);
  }
  return root;
}

static inline json_int_t integer_at(json_t *root, const char *path) {
  json_t *value = json_at(root, path);
  assert_true(json_is_integer(value));
  return json_integer_value(value);
}

static inline const char *string_at(json_t *root, const char *path) {
  json_t *value = json_at(root, path);
  assert_true(json_is_string(value));
  return json_string_value(value);
}

static inline json_t *parse_json(const char *text) {
  json_error_t error;
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  if (!root) fail_msg("%d:%d: %s", error.line, error.column, error.text);
  return root;
}

/* Columns of the longest line, terminal colours not counted. */
static inline uint32_t longest_line(const char *text) {
  uint32_t longest = 0, columns = 0;
  for (; *text; text++) {
    if (*text == '\033') text = strchr(text, 'm') + 1;
    if (*text == '\n')
      columns = 0;
    else if (((unsigned char)*text & 0xc0) != 0x80)
      columns++;
    if (columns > longest) longest = columns;
  }
  return longest;
}

/* A test that gets a fixture with a plan. */
static inline int open_fixture(void **state) {
  static fixture f;
  fixture_open(&f);
  fixture_plan(&f);
  *state = &f;
  return 0;
}

static inline int close_fixture(void **state) {
  fixture_close(*state);
  return 0;
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

#endif
