#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "order_fixture.h"
#include "traffic_random.h"

/* A result that holds, to be spoiled. */
typedef struct judged {
  arena a;
  traffic_case c;
  traffic_memory memory;
  traffic_result r;
} judged;

static const char *judge(judged *j) {
  const char *fault = "not judged";
  assert_int_equal(traffic_check(&fault, &j->c.problem, j->c.sequence,
                                 &j->memory, &j->r, &j->a),
                   CALM_OK);
  return fault;
}

static void open_judged(judged *j, random_state *random) {
  arena_init(&j->a, context);
  assert_true(traffic_random_make(&j->c, random, 12, &j->a));
  j->memory = (traffic_memory){
      random_below(random, 40),
      random_below(random, 2) ? 1 + random_below(random, 5) : 0};
  assert_int_equal(
      traffic_belady(&j->r, &j->c.problem, j->c.sequence, &j->memory, &j->a),
      CALM_OK);
  assert_null(judge(j));
}

/* Every figure is looked at: one more or less in any of them is a fault. */
static void figures_are_looked_at(void **state) {
  (void)state;
  random_state random = random_from_seed(1);
  for (int round = 0; round < 200; round++) {
    judged j;
    open_judged(&j, &random);
    const order_problem *o = &j.c.order;
    for (uint32_t i = 0; i < 1 + o->op_count + o->buffer_count; i++) {
      traffic_amount *a = i == 0 ? &j.r.total
                          : i <= o->op_count
                              ? &j.r.steps[i - 1]
                              : &j.r.buffers[i - 1 - o->op_count];
      uint64_t *fields[] = {&a->input_bytes, &a->weight_bytes, &a->output_bytes,
                            &a->spill_read_bytes, &a->spill_write_bytes};
      for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        ++*fields[k];
        assert_non_null(judge(&j));
        --*fields[k];
      }
    }
    for (uint32_t s = 0; s < o->op_count; s++) {
      j.r.streams[s] = !j.r.streams[s];
      assert_non_null(judge(&j));
      j.r.streams[s] = !j.r.streams[s];
    }
    j.r.used_bytes++;
    assert_non_null(judge(&j));
    j.r.used_bytes--;
    assert_null(judge(&j));
    arena_free(&j.a);
  }
}

/* Other choices do not go with the figures, unless of buffers of no bytes. */
static void choices_are_looked_at(void **state) {
  (void)state;
  random_state random = random_from_seed(2);
  for (int round = 0; round < 400; round++) {
    judged j;
    open_judged(&j, &random);
    const order_problem *o = &j.c.order;
    for (uint32_t i = 0; i < o->touch_begin[o->buffer_count]; i++) {
      const uint64_t kept = j.r.kept_bytes[i];
      const uint64_t others[] = {kept + 1, kept + 5, kept - 1, UINT64_MAX, 0};
      for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (others[k] == kept) continue;
        j.r.kept_bytes[i] = others[k];
        assert_non_null(judge(&j));
      }
      j.r.kept_bytes[i] = kept;
    }
    arena_free(&j.a);
  }
}

/* The account may know of faults only what the judge knows, and the other way
   round: choices at random. */
static void account_and_judge_agree(void **state) {
  (void)state;
  random_state random = random_from_seed(3);
  uint32_t held = 0;
  for (int round = 0; round < 4000; round++) {
    judged j;
    open_judged(&j, &random);
    const order_problem *o = &j.c.order;
    const uint64_t unit = j.memory.page_bytes ? j.memory.page_bytes : 1;
    traffic_result r = j.r;
    for (uint32_t i = random_below(&random, 4); i > 0; i--) {
      const uint32_t touches = o->touch_begin[o->buffer_count];
      if (touches == 0) break;
      const uint32_t at = random_below(&random, touches);
      r.kept_bytes[at] = random_below(&random, 3)
                             ? unit * random_below(&random, 6)
                             : random_below(&random, 10);
    }
    const calm_status status =
        traffic_account(&r, &j.c.problem, j.c.sequence, &j.memory, &j.a);
    if (status == CALM_OK) {
      j.r = r;
      const char *fault = judge(&j);
      if (fault) fail_msg("%s", fault);
      held++;
    } else {
      assert_int_equal(status, CALM_MISUSE);
      assert_non_null(judge(&j));
    }
    arena_free(&j.a);
  }
  assert_true(held > 1000 && held < 3500);
}

/* ---- In words ------------------------------------------------------------ */

/* Two operators, the second of which reads what the first makes, and an input
   that both read. */
static void open_small(judged *j) {
  arena_init(&j->a, context);
  builder = (problem_builder){.op_count = 2};
  build_buffer(&builder, 6, true, false);
  build_buffer(&builder, 4, false, false);
  for (uint32_t u = 0; u < 2; u++)
    for (uint32_t b = 0; b < 2; b++) build_touch(&builder, b, u);
  build_edge(&builder, 0, 1);
  random_state random = random_from_seed(1);
  assert_int_equal(build_problem(&j->c.order, &builder, &j->a), CALM_OK);
  assert_true(traffic_random_finish(&j->c, &random, &j->a));
  for (uint32_t i = 0; i < 4; i++) j->c.problem.writes[i] = i == 2;
  j->memory = (traffic_memory){10, 0};
  assert_int_equal(
      traffic_belady(&j->r, &j->c.problem, j->c.sequence, &j->memory, &j->a),
      CALM_OK);
  assert_null(judge(j));
}

static void faults_are_named(void **state) {
  (void)state;
  judged j;
  open_small(&j);
  j.c.sequence[0] = 1;
  assert_string_equal(judge(&j),
                      "step 0: operator 1 runs before operator 0, "
                      "which must precede it");
  j.c.sequence[0] = 2;
  assert_string_equal(judge(&j), "step 0: there is no such operator");
  j.c.sequence[0] = j.c.sequence[1] = 0;
  assert_string_equal(judge(&j), "step 1: its operator has run before");
  j.c.sequence[1] = 1;
  j.r.kept_bytes[0] = 5;
  assert_string_equal(judge(&j), "step 0: buffer 0 cannot keep 5 bytes");
  j.r.kept_bytes[0] = 0;
  assert_string_equal(judge(&j), "step 1: spill_read_bytes is 6, and not 0");
  j.r.kept_bytes[0] = 6;
  j.r.total.input_bytes = 0;
  assert_string_equal(judge(&j), "in all: input_bytes is 6, and not 0");
  j.r.total.input_bytes = 6;
  j.r.streams[1] = true;
  assert_string_equal(judge(&j),
                      "step 1 needs 10 of 10 bytes, and is said to stream");
  j.memory.bytes = 9;
  assert_string_equal(judge(&j),
                      "step 0 needs 10 of 9 bytes, and is not said to stream");
  j.r.streams[0] = true;
  assert_string_equal(judge(&j),
                      "behind step 0 10 bytes are kept, and there are 9");
  j.memory.page_bytes = UINT64_MAX;
  assert_string_equal(judge(&j),
                      "pages of 18446744073709551615 bytes are too large");
  arena_free(&j.a);
}

static void room_is_named(void **state) {
  (void)state;
  judged j;
  open_small(&j);
  arena_free(&j.a);
  arena_init(&j.a, context);
  builder.op_count = 3;
  builder.touch_count = 0;
  build_touch(&builder, 0, 0);
  build_touch(&builder, 1, 1);
  build_touch(&builder, 0, 2);
  random_state random = random_from_seed(1);
  assert_int_equal(build_problem(&j.c.order, &builder, &j.a), CALM_OK);
  assert_true(traffic_random_finish(&j.c, &random, &j.a));
  for (uint32_t u = 0; u < 3; u++) j.c.sequence[u] = u;
  j.memory = (traffic_memory){10, 0};
  assert_int_equal(
      traffic_belady(&j.r, &j.c.problem, j.c.sequence, &j.memory, &j.a),
      CALM_OK);
  assert_int_equal(j.r.kept_bytes[0], 6);
  j.memory.bytes = 9;
  assert_string_equal(judge(&j),
                      "step 1 has 10 bytes on chip, and there are 9");
  arena_free(&j.a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_are_looked_at),
      cmocka_unit_test(choices_are_looked_at),
      cmocka_unit_test(account_and_judge_agree),
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(room_is_named),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
