/* The bytes of constants that rewriting makes: slices, zeros, recipes. */
#include "graph_fixture.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewrite_contents.h"
#include "scarce.h"

/* A graph of constants with bytes of their own, and an edit of it. */
typedef struct bench {
  fixture f;
  graph_edit edit;
  const uint8_t *bytes[8]; /* per tensor of the graph; NULL: not to be had */
  int reads;
} bench;

static void open_bench(bench *b, const char *tensors) {
  memset(b, 0, sizeof *b);
  fixture_open(&b->f, NULL);
  fixture_must_read(&b->f, tensors);
  graph_edit_init(&b->edit, &b->f.graphs.data[0], &b->f.arena);
}

static void close_bench(bench *b) {
  graph_edit_free(&b->edit);
  fixture_close(&b->f);
}

static bool read_bench(void *payload, tensor_id t, const uint8_t **bytes,
                       uint64_t *length) {
  bench *b = payload;
  b->reads++;
  *bytes = b->bytes[t];
  *length = b->f.graphs.data[0].tensors.data[t].bytes;
  return *bytes;
}

static calm_status fill(bench *b) {
  return rewrite_fill(&b->edit, read_bench, b, &b->f.arena);
}

static void must_fill(bench *b) {
  if (fill(b)) fail_msg("%s", calm_context_message(b->f.context));
}

/* A constant of the kind of `descent->from`, cut to `length` along the axis. */
static tensor_id add_part(bench *b, const edit_tensor *descent,
                          int64_t length) {
  const graph_tensor *from = &b->f.graphs.data[0].tensors.data[descent->from];
  int64_t dimensions[GRAPH_MAX_RANK];
  graph_tensor tensor = *from;
  tensor_id t = CALM_NONE;
  memcpy(dimensions, from->dimensions, from->rank * sizeof *dimensions);
  dimensions[descent->axis] = length;
  tensor.dimensions = dimensions;
  assert_int_equal(graph_edit_add_tensor(&t, &b->edit, &tensor, descent), 0);
  return t;
}

static const uint8_t *bytes_of(const bench *b, tensor_id t) {
  return b->edit.tensors.data[t].bytes;
}

static uint64_t size_of(const bench *b, tensor_id t) {
  return b->edit.after.tensors.data[t].bytes;
}

/* ---- Slices -------------------------------------------------------------- */

/* Every part of w[3,4,5] of 2 bytes each, element by element. */
static void test_slices_of_every_axis(void **state) {
  (void)state;
  const uint32_t shape[] = {3, 4, 5}, step[] = {20, 5, 1};
  uint8_t bytes[120];
  for (uint8_t i = 0; i < 120; i++) bytes[i] = i;
  for (uint32_t axis = 0; axis < 3; axis++)
    for (uint32_t begin = 0; begin < shape[axis]; begin++)
      for (uint32_t length = 0; begin + length <= shape[axis]; length++) {
        bench b;
        open_bench(&b, "calm-graph 1\ngraph g\ntensor w i16[3,4,5] const\n");
        b.bytes[0] = bytes;
        const tensor_id t = add_part(
            &b, &(edit_tensor){0, EDIT_SLICE, axis, begin, NULL, NULL}, length);
        must_fill(&b);
        uint64_t at = 0;
        for (uint32_t i = 0; i < 60; i++) {
          const uint32_t k = i / step[axis] % shape[axis];
          if (k < begin || k >= begin + length) continue;
          assert_memory_equal(bytes_of(&b, t) + at, bytes + 2 * i, 2);
          at += 2;
        }
        assert_int_equal(at, size_of(&b, t));
        close_bench(&b);
      }
}

static void test_packed_elements_in_whole_bytes(void **state) {
  (void)state;
  const uint8_t bytes[] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
  bench b;
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w i4[4,4] const\n");
  b.bytes[0] = bytes;
  const tensor_id rows =
      add_part(&b, &(edit_tensor){0, EDIT_SLICE, 0, 1, NULL, NULL}, 2);
  const tensor_id columns =
      add_part(&b, &(edit_tensor){0, EDIT_SLICE, 1, 2, NULL, NULL}, 2);
  must_fill(&b);
  assert_memory_equal(bytes_of(&b, rows), bytes + 2, 4);
  const uint8_t right[] = {0x32, 0x76, 0xba, 0xfe};
  assert_memory_equal(bytes_of(&b, columns), right, 4);
  add_part(&b, &(edit_tensor){0, EDIT_SLICE, 1, 1, NULL, NULL}, 2);
  assert_int_equal(fill(&b), CALM_UNSUPPORTED);
  assert_non_null(strstr(calm_context_message(b.f.context), "whole byte"));
  close_bench(&b);
}

static void test_equal_parts_share_their_bytes(void **state) {
  (void)state;
  const uint8_t bytes[12] = {0};
  bench b;
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w i8[3,4] const\n");
  b.bytes[0] = bytes;
  const edit_tensor left = {0, EDIT_SLICE, 1, 0, NULL, NULL};
  const edit_tensor right = {0, EDIT_SLICE, 1, 2, NULL, NULL};
  const tensor_id one = add_part(&b, &left, 2), two = add_part(&b, &right, 2);
  const tensor_id three = add_part(&b, &left, 2), all = add_part(&b, &left, 4);
  must_fill(&b);
  assert_ptr_equal(bytes_of(&b, one), bytes_of(&b, three));
  assert_ptr_not_equal(bytes_of(&b, one), bytes_of(&b, two));
  assert_ptr_equal(bytes_of(&b, all), bytes);
  assert_int_equal(b.reads, 1);
  close_bench(&b);
}

static void test_zeros(void **state) {
  (void)state;
  bench b;
  open_bench(&b, "calm-graph 1\ngraph g\ntensor y f32[7] const\n");
  const edit_tensor zero = {0, EDIT_ZERO, 0, 0, NULL, NULL};
  const tensor_id small = add_part(&b, &zero, 2),
                  large = add_part(&b, &zero, 7);
  must_fill(&b);
  const uint8_t none[28] = {0};
  assert_memory_equal(bytes_of(&b, large), none, 28);
  assert_memory_equal(bytes_of(&b, small), none, 8);
  assert_int_equal(b.reads, 0);
  close_bench(&b);
}

/* ---- Recipes ------------------------------------------------------------- */

static uint8_t *floats(bench *b, const float *values, uint32_t count) {
  uint8_t *bytes = arena_calloc(&b->f.arena, count, 4);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, &values[i], 4);
    for (uint32_t k = 0; k < 4; k++)
      bytes[4 * i + k] = (uint8_t)(word >> 8 * k);
  }
  return bytes;
}

static float float_at(const uint8_t *bytes, uint32_t i) {
  uint32_t word = 0;
  float value;
  for (uint32_t k = 0; k < 4; k++) word |= (uint32_t)bytes[4 * i + k] << 8 * k;
  memcpy(&value, &word, 4);
  return value;
}

enum { W, VAR, SCALE, MEAN, ONE };

static const char NORM[] =
    "calm-graph 1\ngraph g\ntensor w f32[2,3] const\ntensor var f32[2] const\n"
    "tensor scale f32[2] const\ntensor mean f32[2] const\n"
    "tensor one f32[] const\n";

static const float w_values[] = {1.5F, -2, 0.1F, 4, 1e-3F, -7};
static const float var_values[] = {0.75F, 4.75F},
                   scale_values[] = {1.7F, -0.2F};
static const float mean_values[] = {0.75F, 12}, one_value[] = {0.7F};

static void open_norm(bench *b) {
  open_bench(b, NORM);
  b->bytes[W] = floats(b, w_values, 6);
  b->bytes[VAR] = floats(b, var_values, 2);
  b->bytes[SCALE] = floats(b, scale_values, 2);
  b->bytes[MEAN] = floats(b, mean_values, 2);
  b->bytes[ONE] = floats(b, one_value, 1);
}

/* With it the variances are 2.25 and 6.25. */
static const double EPSILON = 1.5;
static const double deviations[] = {1.5, 2.5};

/* Kernels of a convolution before a normalization, and before 0.7 x. */
static void test_a_recipe_is_rounded_once(void **state) {
  (void)state;
  const int64_t shape[] = {2, 3};
  const recipe_step steps[] = {{RECIPE_DIVIDE_ROOT, VAR, EPSILON},
                               {RECIPE_MULTIPLY, SCALE, 0},
                               {RECIPE_MULTIPLY, ONE, 0}};
  const edit_recipe recipe = {shape, 2, 0, W, 0, steps, 3};
  bench b;
  open_norm(&b);
  const edit_tensor given = {W, EDIT_GIVEN, 1, 0, &recipe, NULL};
  const edit_tensor right = {W, EDIT_GIVEN, 1, 1, &recipe, NULL};
  const tensor_id all = add_part(&b, &given, 3), part = add_part(&b, &right, 2);
  must_fill(&b);
  for (uint32_t i = 0; i < 6; i++) {
    const double exact = (double)w_values[i] / deviations[i / 3] *
                         (double)scale_values[i / 3] * (double)one_value[0];
    assert_true(float_at(bytes_of(&b, all), i) == (float)exact);
  }
  for (uint32_t i = 0; i < 4; i++)
    assert_true(float_at(bytes_of(&b, part), i) ==
                float_at(bytes_of(&b, all), i / 2 * 3 + 1 + i % 2));
  assert_int_equal(b.reads, 4);
  close_bench(&b);
}

/* Every verb, from a number. */
static void test_every_verb(void **state) {
  (void)state;
  const int64_t shape[] = {2};
  const recipe_step steps[] = {{RECIPE_ADD, SCALE, 0},
                               {RECIPE_SUBTRACT, MEAN, 0},
                               {RECIPE_SUBTRACT_FROM, ONE, 0},
                               {RECIPE_MULTIPLY, CALM_NONE, 3},
                               {RECIPE_DIVIDE, VAR, 0},
                               {RECIPE_DIVIDE_INTO, CALM_NONE, 5},
                               {RECIPE_MULTIPLY_ROOT, VAR, EPSILON},
                               {RECIPE_DIVIDE_ROOT, VAR, EPSILON}};
  const edit_recipe recipe = {shape, 1, 0, CALM_NONE, 2, steps, 8};
  bench b;
  open_norm(&b);
  const edit_tensor given = {SCALE, EDIT_GIVEN, 0, 0, &recipe, NULL};
  const tensor_id t = add_part(&b, &given, 2);
  must_fill(&b);
  for (uint32_t i = 0; i < 2; i++) {
    double v = 2 + (double)scale_values[i] - (double)mean_values[i];
    v = 5 / (((double)one_value[0] - v) * 3 / (double)var_values[i]);
    v = v * deviations[i] / deviations[i];
    assert_true(float_at(bytes_of(&b, t), i) == (float)v);
  }
  close_bench(&b);
}

/* Roots of squares are exact, others right to the last place or the next. */
static void test_roots(void **state) {
  (void)state;
  const int64_t shape[] = {1};
  const double numbers[] = {1, 4, 1e-5, 2, 1e30, 144, 3e-250, 0};
  const double roots[] = {1, 2, 0, 0, 1e15, 12, 0, 0};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    bench b;
    open_bench(&b, "calm-graph 1\ngraph g\ntensor d f64[1] const\n");
    uint8_t zero[8] = {0};
    b.bytes[0] = zero;
    const recipe_step step = {RECIPE_MULTIPLY_ROOT, 0, numbers[i]};
    const edit_recipe recipe = {shape, 1, 0, CALM_NONE, 1, &step, 1};
    const edit_tensor given = {0, EDIT_GIVEN, 0, 0, &recipe, NULL};
    const tensor_id t = add_part(&b, &given, 1);
    must_fill(&b);
    uint64_t bits = 0;
    double root;
    for (uint32_t k = 0; k < 8; k++)
      bits |= (uint64_t)bytes_of(&b, t)[k] << 8 * k;
    memcpy(&root, &bits, 8);
    assert_true(root * root <= numbers[i] * (1 + 0x1p-51));
    assert_true(root * root >= numbers[i] * (1 - 0x1p-51));
    if (roots[i] > 0) assert_true(root == roots[i]);
    close_bench(&b);
  }
}

/* ---- What cannot be had -------------------------------------------------- */

static void expect_refusal(bench *b, const char *message) {
  assert_int_equal(fill(b), CALM_UNSUPPORTED);
  assert_non_null(strstr(calm_context_message(b->f.context), message));
  close_bench(b);
}

static void test_refusals(void **state) {
  (void)state;
  const int64_t shape[] = {3};
  const edit_recipe recipe = {shape, 1, 0, 0, 0, NULL, 0};
  bench b;
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w i32[3] const\n");
  b.bytes[0] = (const uint8_t[12]){0};
  add_part(&b, &(edit_tensor){0, EDIT_GIVEN, 0, 0, &recipe, NULL}, 3);
  expect_refusal(&b, "tensor 'w': only f32 and f64 constants can be folded");
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w str[3] const\n");
  add_part(&b, &(edit_tensor){0, EDIT_SLICE, 0, 0, NULL, NULL}, 2);
  expect_refusal(&b, "tensor 'w': its elements have no fixed size");
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w i32[3] const\n");
  add_part(&b, &(edit_tensor){0, EDIT_SLICE, 0, 0, NULL, NULL}, 2);
  expect_refusal(&b, "tensor 'w': its bytes are not to be had");
}

static void test_a_part_that_is_not_there(void **state) {
  (void)state;
  bench b;
  open_bench(&b, "calm-graph 1\ngraph g\ntensor w i8[3] const\n");
  b.bytes[0] = (const uint8_t[3]){0};
  add_part(&b, &(edit_tensor){0, EDIT_SLICE, 0, 2, NULL, NULL}, 2);
  assert_int_equal(fill(&b), CALM_INTERNAL);
  close_bench(&b);
}

static void test_out_of_memory(void **state) {
  (void)state;
  const int64_t shape[] = {2, 3};
  const recipe_step steps[] = {{RECIPE_MULTIPLY, SCALE, 0}};
  const edit_recipe recipe = {shape, 2, 0, W, 0, steps, 1};
  bench b;
  open_norm(&b);
  add_part(&b, &(edit_tensor){W, EDIT_GIVEN, 1, 1, &recipe, NULL}, 1);
  add_part(&b, &(edit_tensor){W, EDIT_SLICE, 1, 1, NULL, NULL}, 1);
  for (uint64_t granted = 0;; granted++) {
    uint64_t left = granted;
    const calm_allocator allocator = {scarce_reallocate, &left};
    left = SCARCE_NEVER;
    calm_context *context = calm_context_new(&allocator);
    arena scratch;
    arena_init(&scratch, context);
    left = granted;
    const calm_status status = rewrite_fill(&b.edit, read_bench, &b, &scratch);
    arena_free(&scratch);
    calm_context_free(context);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
  }
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slices_of_every_axis),
      cmocka_unit_test(test_packed_elements_in_whole_bytes),
      cmocka_unit_test(test_equal_parts_share_their_bytes),
      cmocka_unit_test(test_zeros),
      cmocka_unit_test(test_a_recipe_is_rounded_once),
      cmocka_unit_test(test_every_verb),
      cmocka_unit_test(test_roots),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_a_part_that_is_not_there),
      cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
