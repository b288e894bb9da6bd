#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/number.h"
#include "order_fixture.h"
#include "scarce.h"
#include "traffic/traffic.h"

/* A problem built by hand, its operators in the order of their numbers. */
typedef struct account_fixture {
  arena a;
  order_problem order;
  traffic_problem problem;
  uint32_t sequence[16];
  uint64_t kept[64];
  traffic_result r;
} account_fixture;

static void open_account(account_fixture *t) {
  *t = (account_fixture){0};
  arena_init(&t->a, context);
  assert_int_equal(build_problem(&t->order, &builder, &t->a), CALM_OK);
  t->problem.order = &t->order;
  t->problem.writes =
      arena_calloc(&t->a, builder.touch_count, sizeof *t->problem.writes);
  t->problem.weight_bytes =
      arena_calloc(&t->a, t->order.op_count, sizeof *t->problem.weight_bytes);
  assert_non_null(t->problem.writes);
  assert_non_null(t->problem.weight_bytes);
  for (uint32_t u = 0; u < t->order.op_count; u++) t->sequence[u] = u;
  t->r.kept_bytes = t->kept;
}

static uint32_t entry(const account_fixture *t, uint32_t buffer, uint32_t op) {
  uint32_t i = t->order.touch_begin[buffer];
  while (t->order.touch[i] != op) i++;
  return i;
}

static void keep(account_fixture *t, uint32_t buffer, uint32_t op,
                 uint64_t bytes) {
  t->kept[entry(t, buffer, op)] = bytes;
}

static calm_status account(account_fixture *t, uint64_t bytes, uint64_t page) {
  const traffic_memory memory = {bytes, page};
  const char *fault = "not judged";
  const calm_status status =
      traffic_account(&t->r, &t->problem, t->sequence, &memory, &t->a);
  if (status != CALM_OK) return status;
  assert_int_equal(
      traffic_check(&fault, &t->problem, t->sequence, &memory, &t->r, &t->a),
      CALM_OK);
  if (fault) fail_msg("%s", fault);
  return status;
}

static void is_amount(const traffic_amount *a, uint64_t input, uint64_t weight,
                      uint64_t output, uint64_t read, uint64_t written) {
  assert_int_equal(a->input_bytes, input);
  assert_int_equal(a->weight_bytes, weight);
  assert_int_equal(a->output_bytes, output);
  assert_int_equal(a->spill_read_bytes, read);
  assert_int_equal(a->spill_write_bytes, written);
}

/*
 * x (10, input) -> op 0 -> y (20) -> op 1 -> z (5) ; op 2 reads x, y, z and
 * makes w (8, output).
 */
enum { X, Y, Z, W };

static void build_diamond(void) {
  builder = (problem_builder){.op_count = 3};
  build_buffer(&builder, 10, true, false);
  build_buffer(&builder, 20, false, false);
  build_buffer(&builder, 5, false, false);
  build_buffer(&builder, 8, false, true);
  static const uint32_t touches[][2] = {{X, 0}, {Y, 0}, {Y, 1}, {Z, 1},
                                        {X, 2}, {Y, 2}, {Z, 2}, {W, 2}};
  for (size_t i = 0; i < sizeof touches / sizeof *touches; i++)
    build_touch(&builder, touches[i][0], touches[i][1]);
  build_edge(&builder, 0, 1);
  build_edge(&builder, 1, 2);
}

static void open_diamond(account_fixture *t) {
  build_diamond();
  open_account(t);
  t->problem.writes[entry(t, Y, 0)] = true;
  t->problem.writes[entry(t, Z, 1)] = true;
  t->problem.writes[entry(t, W, 2)] = true;
  t->problem.weight_bytes[1] = 3;
}

static void all_stays(void **state) {
  (void)state;
  account_fixture t;
  open_diamond(&t);
  keep(&t, X, 0, 10);
  keep(&t, Y, 0, 20);
  keep(&t, Y, 1, 20);
  keep(&t, Z, 1, 5);
  assert_int_equal(account(&t, 43, 0), CALM_OK);
  is_amount(&t.r.total, 10, 3, 8, 0, 0);
  is_amount(&t.r.steps[0], 10, 0, 0, 0, 0);
  is_amount(&t.r.steps[1], 0, 3, 0, 0, 0);
  is_amount(&t.r.steps[2], 0, 0, 8, 0, 0);
  is_amount(&t.r.buffers[W], 0, 0, 8, 0, 0);
  assert_int_equal(t.r.used_bytes, 43);
  /* A byte less, and the last operator streams; its 35 bytes can wait. */
  assert_int_equal(account(&t, 42, 0), CALM_OK);
  is_amount(&t.r.total, 10, 3, 8, 0, 0);
  assert_true(t.r.streams[2] && !t.r.streams[1]);
  assert_int_equal(t.r.used_bytes, 35);
  /* Less than that, and they cannot. */
  assert_int_equal(account(&t, 34, 0), CALM_MISUSE);
  arena_free(&t.a);
}

/* An input is only read again; what was made is written first, as soon as its
   maker is done, and that once. */
static void what_leaves_is_read_again(void **state) {
  (void)state;
  account_fixture t;
  open_diamond(&t);
  assert_int_equal(account(&t, 43, 0), CALM_OK);
  is_amount(&t.r.total, 10, 3, 8, 20 + 10 + 20 + 5, 20 + 5);
  is_amount(&t.r.buffers[X], 10, 0, 0, 10, 0);
  is_amount(&t.r.buffers[Y], 0, 0, 0, 40, 20);
  is_amount(&t.r.buffers[Z], 0, 0, 0, 5, 5);
  is_amount(&t.r.steps[0], 10, 0, 0, 0, 0);
  is_amount(&t.r.steps[1], 0, 3, 0, 20, 20);
  is_amount(&t.r.steps[2], 0, 0, 8, 35, 5);
  arena_free(&t.a);
}

/* With pages of 4, the buffers are 12, 20, 8 and 8: parts may stay, and only
   those are written of which there is no copy. */
static void parts_stay(void **state) {
  (void)state;
  account_fixture t;
  open_diamond(&t);
  keep(&t, X, 0, 4);
  keep(&t, Y, 0, 12);
  keep(&t, Y, 1, 8);
  keep(&t, Z, 1, 8);
  assert_int_equal(account(&t, 51, 4), CALM_OK);
  is_amount(&t.r.buffers[X], 12, 0, 0, 8, 0);
  is_amount(&t.r.buffers[Y], 0, 0, 0, 8 + 12, 8 + 4);
  is_amount(&t.r.buffers[W], 0, 0, 8, 0, 0);
  is_amount(&t.r.steps[1], 0, 3, 0, 8, 8);
  is_amount(&t.r.steps[2], 0, 0, 8, 20, 4);
  keep(&t, X, 0, 6); /* no whole pages */
  assert_int_equal(account(&t, 51, 4), CALM_MISUSE);
  arena_free(&t.a);
}

static void impossible_choices(void **state) {
  (void)state;
  account_fixture t;
  open_diamond(&t);
  keep(&t, X, 0, 9); /* a part, without pages */
  assert_int_equal(account(&t, 100, 0), CALM_MISUSE);
  keep(&t, X, 0, 20);
  assert_int_equal(account(&t, 100, 0), CALM_MISUSE);
  keep(&t, X, 0, 0);
  keep(&t, X, 2, 10); /* nobody needs it any more */
  assert_int_equal(account(&t, 100, 0), CALM_MISUSE);
  keep(&t, X, 2, 0);
  keep(&t, X, 0, 10); /* beside 25 bytes of operator 1, which does not stream */
  assert_int_equal(account(&t, 34, 0), CALM_MISUSE);
  assert_string_equal(calm_context_message(context),
                      "step 1 has 35 bytes on chip, and there are 34");
  assert_ptr_equal(t.r.kept_bytes, t.kept);
  assert_null(t.r.steps);
  arena_free(&t.a);
}

/*
 * A sum (6 bytes) that three operators make one after the other, and that is an
 * output.  What each of them finds is read, if it left, and none of the states
 * before the last counts as the output.
 */
static void a_sum_is_read_and_written(void **state) {
  (void)state;
  for (int output = 0; output < 2; output++) {
    account_fixture t;
    builder = (problem_builder){.op_count = 4};
    build_buffer(&builder, 6, false, output);
    for (uint32_t u = 0; u < 4; u++) build_touch(&builder, 0, u);
    open_account(&t);
    for (uint32_t u = 0; u < 3; u++) t.problem.writes[u] = true;
    assert_int_equal(account(&t, 6, 0), CALM_OK);
    if (output)
      is_amount(&t.r.total, 0, 0, 6, 18, 12);
    else
      is_amount(&t.r.total, 0, 0, 0, 18, 18);
    /* The last state is written at once where that has to be anyway. */
    assert_int_equal(t.r.steps[2].output_bytes, output ? 6 : 0);
    assert_int_equal(t.r.steps[3].spill_write_bytes, output ? 0 : 6);
    /* It stays from the last writer on. */
    keep(&t, 0, 2, 6);
    assert_int_equal(account(&t, 6, 0), CALM_OK);
    is_amount(&t.r.total, 0, 0, output ? 6 : 0, 12, 12);
    arena_free(&t.a);
  }
}

/* State is read once and written once, an untouched input not at all. */
static void inputs_that_are_outputs(void **state) {
  (void)state;
  account_fixture t;
  builder = (problem_builder){.op_count = 2};
  build_buffer(&builder, 4, true, true);
  build_buffer(&builder, 7, true, true);
  build_buffer(&builder, 9, true, true);
  build_touch(&builder, 0, 0);
  build_touch(&builder, 0, 1);
  build_touch(&builder, 1, 1);
  open_account(&t);
  t.problem.writes[0] = true;
  assert_int_equal(account(&t, 11, 0), CALM_OK);
  is_amount(&t.r.total, 4 + 7, 0, 4, 4, 0);
  is_amount(&t.r.buffers[1], 7, 0, 0, 0, 0);
  is_amount(&t.r.buffers[2], 0, 0, 0, 0, 0);
  arena_free(&t.a);
}

/* What streams passes by: before it and after it, all there is may be used. */
static void around_a_stream(void **state) {
  (void)state;
  account_fixture t;
  builder = (problem_builder){.op_count = 3};
  build_buffer(&builder, 10, false, false); /* spans the stream */
  build_buffer(&builder, 8, false, false);  /* before it */
  build_buffer(&builder, 5, false, false);  /* after it */
  static const uint32_t touches[][2] = {{0, 0}, {0, 2}, {1, 0},
                                        {1, 1}, {2, 1}, {2, 2}};
  for (size_t i = 0; i < sizeof touches / sizeof *touches; i++)
    build_touch(&builder, touches[i][0], touches[i][1]);
  builder.workspace[1] = 100;
  open_account(&t);
  keep(&t, 0, 0, 10);
  keep(&t, 1, 0, 8);
  keep(&t, 2, 1, 5);
  assert_int_equal(account(&t, 18, 0), CALM_OK);
  is_amount(&t.r.total, 0, 0, 0, 0, 0);
  assert_true(t.r.streams[1]);
  assert_int_equal(t.r.used_bytes, 18);
  keep(&t, 1, 0, 0);
  assert_int_equal(account(&t, 18, 0), CALM_OK);
  is_amount(&t.r.total, 0, 0, 0, 8, 8);
  arena_free(&t.a);
}

/* An output over its input, of 10 bytes, in pages of 4: three pages in all. */
static void reuse_saves_pages(void **state) {
  (void)state;
  account_fixture t;
  builder = (problem_builder){.op_count = 1, .reuse_count = 1};
  build_buffer(&builder, 10, true, false);
  build_buffer(&builder, 10, false, true);
  build_touch(&builder, 0, 0);
  build_touch(&builder, 1, 0);
  builder.workspace[0] = 6;
  builder.reuses[0] = (order_reuse){0, 0, 1, 10 + 4};
  open_account(&t);
  assert_int_equal(account(&t, 100, 4), CALM_OK);
  assert_int_equal(t.r.used_bytes, 12 + 4); /* 2 bytes of workspace are left */
  assert_int_equal(account(&t, 100, 0), CALM_OK);
  assert_int_equal(t.r.used_bytes, 10 + 2);
  builder.reuses[0].bytes = 7; /* fills one page */
  arena_free(&t.a);
  open_account(&t);
  assert_int_equal(account(&t, 100, 4), CALM_OK);
  assert_int_equal(t.r.used_bytes, 24 + 8 - 4);
  arena_free(&t.a);
}

/* ---- Extremes ------------------------------------------------------------ */

static void nothing_runs(void **state) {
  (void)state;
  account_fixture t;
  builder = (problem_builder){.op_count = 0};
  build_buffer(&builder, 3, true, true);
  open_account(&t);
  for (uint64_t bytes = 0; bytes < 8; bytes += 4) {
    assert_int_equal(account(&t, bytes, 0), CALM_OK);
    is_amount(&t.r.total, 0, 0, 0, 0, 0);
    const traffic_memory memory = {bytes, bytes};
    assert_int_equal(
        traffic_belady(&t.r, &t.problem, t.sequence, &memory, &t.a), CALM_OK);
    t.r.kept_bytes = t.kept;
  }
  arena_free(&t.a);
}

/* On a chip without memory all streams; bytes that are none do not. */
static void no_memory_on_chip(void **state) {
  (void)state;
  account_fixture t;
  open_diamond(&t);
  assert_int_equal(account(&t, 0, 0), CALM_OK);
  assert_true(t.r.streams[0] && t.r.streams[1] && t.r.streams[2]);
  assert_int_equal(t.r.used_bytes, 0);
  is_amount(&t.r.total, 10, 3, 8, 55, 25);
  arena_free(&t.a);
  build_diamond();
  for (uint32_t b = 0; b < 4; b++) builder.buffers[b].bytes = 0;
  open_account(&t);
  assert_int_equal(account(&t, 0, 0), CALM_OK);
  assert_false(t.r.streams[0] || t.r.streams[1] || t.r.streams[2]);
  is_amount(&t.r.total, 0, 0, 0, 0, 0);
  arena_free(&t.a);
}

/* Two buffers of 2^60 that an operator after the other wants. */
static void huge_buffers(void **state) {
  (void)state;
  const uint64_t bytes = UINT64_C(1) << 60;
  account_fixture t;
  builder = (problem_builder){.op_count = 4};
  build_buffer(&builder, bytes, true, false);
  build_buffer(&builder, bytes, true, false);
  for (uint32_t u = 0; u < 4; u++) build_touch(&builder, u % 2, u);
  open_account(&t);
  assert_int_equal(account(&t, bytes, 0), CALM_OK);
  is_amount(&t.r.total, 2 * bytes, 0, 0, 2 * bytes, 0); /* 2^62 in all */
  assert_int_equal(account(&t, UINT64_MAX, 0), CALM_OK);
  assert_int_equal(account(&t, UINT64_MAX, UINT64_MAX), CALM_BAD_INPUT);
  keep(&t, 0, 0, 2 * bytes);
  keep(&t, 1, 1, 2 * bytes);
  assert_int_equal(account(&t, UINT64_MAX, 2 * bytes), CALM_OK);
  is_amount(&t.r.total, 4 * bytes, 0, 0, 0, 0);
  t.problem.weight_bytes[3] = 1;
  keep(&t, 0, 0, bytes);
  keep(&t, 1, 1, 0);
  assert_int_equal(account(&t, 2 * bytes, 0), CALM_OK);
  keep(&t, 0, 0, 0);
  assert_int_equal(account(&t, bytes, 0), CALM_BAD_INPUT);
  arena_free(&t.a);
}

/* Every allocation fails once; nothing is left behind, nothing is written. */
static void without_memory(void **state) {
  (void)state;
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *scarce = calm_context_new(&allocator);
  account_fixture t;
  open_diamond(&t);
  const traffic_memory memory = {30, 0};
  bool done = false;
  for (uint64_t requests = 0; !done; requests++) {
    arena a;
    const char *fault = NULL;
    traffic_result r = {0};
    arena_init(&a, scarce);
    left = requests;
    calm_status status =
        traffic_belady(&r, &t.problem, t.sequence, &memory, &a);
    if (status != CALM_OK) assert_null(r.kept_bytes);
    if (status == CALM_OK)
      status = traffic_check(&fault, &t.problem, t.sequence, &memory, &r, &a);
    if (status == CALM_OK) {
      r.total.input_bytes++;
      status = traffic_check(&fault, &t.problem, t.sequence, &memory, &r, &a);
    }
    assert_true(status == CALM_OK || status == CALM_NO_MEMORY);
    done = status == CALM_OK;
    if (done) assert_non_null(fault);
    left = SCARCE_NEVER;
    arena_free(&a);
    assert_int_equal(calm_context_bytes(scarce), 0);
  }
  arena_free(&t.a);
  calm_context_free(scarce);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_stays),
      cmocka_unit_test(what_leaves_is_read_again),
      cmocka_unit_test(parts_stay),
      cmocka_unit_test(impossible_choices),
      cmocka_unit_test(a_sum_is_read_and_written),
      cmocka_unit_test(inputs_that_are_outputs),
      cmocka_unit_test(around_a_stream),
      cmocka_unit_test(reuse_saves_pages),
      cmocka_unit_test(nothing_runs),
      cmocka_unit_test(no_memory_on_chip),
      cmocka_unit_test(huge_buffers),
      cmocka_unit_test(without_memory),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
