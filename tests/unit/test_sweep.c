/* Sweeps: their points, the tasks of these, and the database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../scarce.h"
#include "sweep/sweep.h"

static const char machine[] =
    "arch:\n"
    "  arithmetic: {name: MAC, instances: 1, word-bits: 8, energy: 1}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: 64, instances: 1, word-bits: 8,\n"
    "     vector-access-energy: 1}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8,\n"
    "     vector-access-energy: 100, bandwidth: 2}\n";
static const char small[] =
    "problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 2, N: 2, K: 2}}\n";
static const char large[] =
    "problem: {version: 0.3, shape: gemm_ABZ, instance: {M: 6, N: 4, K: 10}}\n";

static void lend(calm_context *context, const char *name, const char *bytes) {
  assert_int_equal(calm_context_lend(context, name, bytes, strlen(bytes)),
                   CALM_OK);
}

static calm_context *world(const calm_allocator *allocator) {
  calm_context *context = calm_context_new(allocator);
  assert_non_null(context);
  return context;
}

static void lend_all(calm_context *context, const char *sweep) {
  lend(context, "machine.yaml", machine);
  lend(context, "small.yaml", small);
  lend(context, "large.yaml", large);
  lend(context, "sweep.yaml", sweep);
}

static calm_sweep *open_sweep(calm_context *context, const char *sweep) {
  calm_sweep *s;
  lend_all(context, sweep);
  if (calm_sweep_open(&s, context, "sweep.yaml", NULL, NULL))
    fail_msg("%s", calm_context_message(context));
  return s;
}

static void close_sweep(calm_sweep *s, calm_context *context) {
  calm_sweep_free(s);
  calm_context_free(context);
}

/* ---- Points -------------------------------------------------------------- */

#define TWO_PARAMETERS                                 \
  "problems: [small.yaml, large.yaml]\n"               \
  "architectures:\n"                                   \
  "- file: machine.yaml\n"                             \
  "  parameters:\n"                                    \
  "    Buffer.entries: {from: 16, to: 70, times: 2}\n" \
  "    DRAM.bandwidth: [2, 4]\n"

static void points_are_the_product_of_all_there_is(void **state) {
  (void)state;
  calm_context *context = world(NULL);
  calm_sweep *s = open_sweep(context, TWO_PARAMETERS
                             "mappers: [exact, random]\n"
                             "objectives: [edp, delay, energy]\n");
  assert_int_equal(s->design_count, 3 * 2 * 2 * 3);
  assert_int_equal(s->point_count, 3 * 2 * 2 * 3 * 2);
  assert_string_equal(s->designs[0].values[0], "16");
  assert_string_equal(s->designs[6].values[1], "4");
  assert_string_equal(s->designs[12].values[0], "32");
  for (uint32_t i = 0; i < s->point_count; i++)
    assert_int_equal(s->points[i].twin, i);
  close_sweep(s, context);
}

static void expect_values(const char *range, const char *expected) {
  char sweep[512], found[256] = "";
  snprintf(sweep, sizeof sweep,
           "problems: [small.yaml]\narchitectures:\n- file: machine.yaml\n"
           "  parameters: {Buffer.entries: %s}\n",
           range);
  calm_context *context = world(NULL);
  calm_sweep *s = open_sweep(context, sweep);
  const sweep_parameter *p = s->machines[0].parameters;
  for (uint32_t i = 0; i < p->count; i++) {
    strcat(found, p->values[i]);
    strcat(found, " ");
  }
  assert_string_equal(found, expected);
  close_sweep(s, context);
}

static void ranges_go_up_to_their_end(void **state) {
  (void)state;
  expect_values("5", "5 ");
  expect_values("[5, 3, 5]", "5 3 5 ");
  expect_values("{from: 1, to: 8, times: 2}", "1 2 4 8 ");
  expect_values("{from: 1, to: 9, plus: 4}", "1 5 9 ");
  expect_values("{from: 1, to: 8, plus: 4}", "1 5 ");
  expect_values("{from: 3, to: 3, plus: 1}", "3 ");
  expect_values(
      "{from: 9223372036854775807, to: 18446744073709551615, "
      "times: 2}",
      "9223372036854775807 18446744073709551614 ");
  expect_values(
      "{from: 18446744073709551610, to: 18446744073709551615, "
      "plus: 4}",
      "18446744073709551610 18446744073709551614 ");
}

static void equal_points_are_run_once(void **state) {
  (void)state;
  calm_context *context = world(NULL);
  calm_sweep *s = open_sweep(context,
                             "problems: [small.yaml, small.yaml]\n"
                             "architectures:\n"
                             "- {file: machine.yaml, name: a}\n"
                             "- {file: machine.yaml, name: b}\n");
  assert_int_equal(s->point_count, 4);
  assert_int_equal(calm_sweep_next(s, 0), 0);
  assert_int_equal(calm_sweep_next(s, 1), CALM_NONE);
  assert_int_equal(calm_sweep_fail(s, 2, "so"), CALM_OK);
  assert_int_equal(calm_sweep_counts_of(s).failed, 4);
  close_sweep(s, context);
}

/* ---- Solving ------------------------------------------------------------- */

static void solve_by_hand(calm_sweep *s, uint32_t point) {
  char *task, *result;
  calm_context *elsewhere = world(NULL);
  assert_int_equal(calm_sweep_task(&task, s, point), CALM_OK);
  assert_int_equal(calm_sweep_solve(&result, elsewhere, task), CALM_OK);
  assert_int_equal(calm_sweep_store(s, point, result), CALM_OK);
  calm_text_free(s->context, task);
  calm_text_free(elsewhere, result);
  assert_int_equal(calm_context_bytes(elsewhere), 0);
  calm_context_free(elsewhere);
}

static char *json_of(calm_sweep *s) {
  char *words;
  assert_int_equal(calm_sweep_render(&words, s, CALM_FORMAT_JSON, false),
                   CALM_OK);
  return words;
}

static void by_hand_and_by_run_is_the_same(void **state) {
  (void)state;
  calm_context *one = world(NULL), *two = world(NULL);
  calm_sweep *by_hand = open_sweep(one, TWO_PARAMETERS);
  calm_sweep *by_run = open_sweep(two, TWO_PARAMETERS);
  for (uint32_t i = by_hand->point_count; i-- > 0;) solve_by_hand(by_hand, i);
  assert_int_equal(calm_sweep_run(by_run), CALM_OK);
  assert_int_equal(calm_sweep_counts_of(by_run).done, by_run->point_count);
  char *first = json_of(by_hand), *second = json_of(by_run);
  assert_string_equal(first, second);
  calm_text_free(one, first);
  calm_text_free(two, second);
  close_sweep(by_hand, one);
  close_sweep(by_run, two);
}

static void a_point_has_one_result(void **state) {
  (void)state;
  calm_context *context = world(NULL);
  calm_sweep *s = open_sweep(context, TWO_PARAMETERS);
  assert_int_equal(calm_sweep_fail(s, 3, "gone"), CALM_OK);
  assert_int_equal(calm_sweep_fail(s, 3, "gone"), CALM_MISUSE);
  assert_int_equal(calm_sweep_fail(s, s->point_count, "gone"), CALM_MISUSE);
  assert_int_equal(calm_sweep_store(s, 4, "{}"), CALM_BAD_INPUT);
  assert_int_equal(calm_sweep_store(s, 4, "nonsense"), CALM_BAD_INPUT);
  assert_int_equal(calm_sweep_retry(s), CALM_OK);
  assert_int_equal(calm_sweep_counts_of(s).left, s->point_count);
  assert_int_equal(calm_sweep_fail(s, 3, "gone"), CALM_OK);
  close_sweep(s, context);
}

/* A machine that is wrong is a point that failed. */
static void what_is_wrong_with_a_design_is_its_reason(void **state) {
  (void)state;
  calm_context *context = world(NULL);
  calm_sweep *s = open_sweep(context,
                             "problems: [small.yaml]\n"
                             "architectures:\n"
                             "- file: machine.yaml\n"
                             "  parameters: {Bufer.entries: 1,\n"
                             "               Buffer.entries: [64, -1]}\n");
  assert_int_equal(calm_sweep_run(s), CALM_OK);
  assert_int_equal(calm_sweep_counts_of(s).failed, 2);
  assert_non_null(strstr(s->points[0].result.reason, "did you mean 'Buffer'?"));
  close_sweep(s, context);
}

static void refuse_task(const char *task, calm_status status) {
  char *out = NULL;
  calm_context *context = world(NULL);
  assert_int_equal(calm_sweep_solve(&out, context, task), status);
  assert_null(out);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void what_is_no_task_is_refused(void **state) {
  (void)state;
  refuse_task("", CALM_BAD_INPUT);
  refuse_task("[]", CALM_BAD_INPUT);
  refuse_task("{}", CALM_BAD_INPUT);
  refuse_task("{\"schema\": \"calm/sweep-task/1\", \"version\": \"0\"}",
              CALM_UNSUPPORTED);
  refuse_task(
      "{\"schema\": \"calm/sweep-task/1\", \"version\": "
      "\"" CALM_VERSION "\", \"arch\": [{}]}",
      CALM_BAD_INPUT);
}

/* ---- Fronts -------------------------------------------------------------- */

static void put(calm_sweep *s, uint32_t point, uint64_t cycles, double energy) {
  const sweep_result r = {.status = SWEEP_OPTIMAL,
                          .cycles = cycles,
                          .energy_pj = energy,
                          .edp = energy * (double)cycles};
  assert_int_equal(sweep_store_put(s, point, &r), CALM_OK);
}

static void fronts_have_what_no_other_beats(void **state) {
  (void)state;
  calm_context *context = world(NULL);
  calm_sweep *s =
      open_sweep(context,
                 "problems: [small.yaml]\n"
                 "architectures:\n"
                 "- file: machine.yaml\n"
                 "  parameters: {Buffer.entries: {from: 1, to: 6, plus: 1}}\n");
  put(s, 0, 10, 5);
  put(s, 1, 10, 5);
  put(s, 2, 10, 6);
  put(s, 3, 5, 9);
  put(s, 4, 20, 5);
  assert_int_equal(sweep_designs_sum(s), CALM_OK);
  const bool expected[] = {true, true, false, true, false, false};
  for (uint32_t i = 0; i < 6; i++) {
    assert_int_equal(s->points[i].pareto, expected[i]);
    assert_int_equal(s->designs[i].pareto, expected[i]);
  }
  close_sweep(s, context);
}

/* ---- Bad input ----------------------------------------------------------- */

static void refuse(const char *sweep, const char *part) {
  calm_sweep *s = NULL;
  calm_context *context = world(NULL);
  lend_all(context, sweep);
  assert_int_not_equal(calm_sweep_open(&s, context, "sweep.yaml", NULL, NULL),
                       CALM_OK);
  assert_null(s);
  const char *message = calm_context_message(context);
  if (!strstr(message, part)) fail_msg("'%s' lacks '%s'", message, part);
  calm_context_free(context);
}

#define MACHINES "architectures: [{file: machine.yaml}]\n"
#define LAYERS "problems: [small.yaml]\n"

static void wrong_files_are_refused_with_the_remedy(void **state) {
  (void)state;
  refuse("", "'architectures' is a list");
  refuse(LAYERS, "'architectures' is a list");
  refuse(MACHINES, "no layers");
  refuse(MACHINES "problem: small.yaml\n", "did you mean 'problems'?");
  refuse(MACHINES LAYERS "mappers: [best]\n", "best");
  refuse(MACHINES LAYERS "objectives: pareto\n", "pareto");
  refuse(MACHINES LAYERS "options: {jobs: 3}\n", "'jobs' is no option");
  refuse(MACHINES LAYERS "options: {time-limit: soon}\n", "soon");
  refuse(MACHINES LAYERS "options: [1]\n", "is a mapping");
  refuse(MACHINES LAYERS "models: {a: b}\n", "'models' is a list");
  refuse(MACHINES "problems: [nowhere.yaml]\n", "nowhere.yaml");
  refuse(LAYERS "architectures: [{name: x}]\n", "has no 'file'");
  refuse(LAYERS "architectures: [machine.yaml]\n", "this is a mapping");
  refuse(LAYERS "architectures: [{file: machine.yaml, parameters: [1]}]\n",
         "'parameters' is a mapping");
#define RANGE(words)                                                     \
  LAYERS "architectures: [{file: machine.yaml, parameters: {a.b: " words \
         "}}]"                                                           \
         "\n"
  refuse(RANGE("[]"), "has no value");
  refuse(RANGE("[[1]]"), "a number or a word");
  refuse(RANGE("{from: 1}"), "a range goes up");
  refuse(RANGE("{from: 4, to: 1, plus: 1}"), "a range goes up");
  refuse(RANGE("{from: 1, to: 4, plus: 0}"), "a range goes up");
  refuse(RANGE("{from: 1, to: 4, times: 1}"), "a range goes up");
  refuse(RANGE("{from: 0, to: 4, times: 2}"), "a range goes up");
  refuse(RANGE("{from: 1, to: 4, plus: 1, times: 2}"), "a range goes up");
  refuse(RANGE("{from: 1, to: 4, minus: 1}"), "unknown key 'minus'");
  refuse(RANGE("{from: 1, to: 1000000, plus: 1}"), "more than 100000 values");
  refuse(LAYERS
         "architectures: [{file: machine.yaml, parameters: {\n"
         "  a.b: {from: 1, to: 90000, plus: 1},\n"
         "  a.c: {from: 1, to: 90000, plus: 1}}}]\n",
         "more than 10000000 points");
}

/* ---- Memory -------------------------------------------------------------- */

static calm_status run_scarce(uint64_t granted) {
  calm_sweep *s = NULL;
  char *words = NULL, *task = NULL;
  uint64_t left = SCARCE_NEVER;
  const calm_allocator allocator = {scarce_reallocate, &left};
  calm_context *context = world(&allocator);
  lend_all(context, TWO_PARAMETERS);
  left = granted;
  calm_status status = calm_sweep_open(&s, context, "sweep.yaml", NULL, NULL);
  if (status == CALM_OK) status = calm_sweep_task(&task, s, 0);
  if (status == CALM_OK) status = calm_sweep_fail(s, 0, "why");
  if (status == CALM_OK)
    status = calm_sweep_render(&words, s, CALM_FORMAT_TABLE, false);
  if (task) calm_text_free(context, task);
  if (words) calm_text_free(context, words);
  calm_sweep_free(s);
  calm_context_free(context);
  return status;
}

static void without_memory_nothing_is_lost(void **state) {
  (void)state;
  uint64_t granted = 0;
  while (run_scarce(granted) == CALM_NO_MEMORY) granted++;
  assert_int_equal(run_scarce(granted), CALM_OK);
  assert_true(granted > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_the_product_of_all_there_is),
      cmocka_unit_test(ranges_go_up_to_their_end),
      cmocka_unit_test(equal_points_are_run_once),
      cmocka_unit_test(by_hand_and_by_run_is_the_same),
      cmocka_unit_test(a_point_has_one_result),
      cmocka_unit_test(what_is_wrong_with_a_design_is_its_reason),
      cmocka_unit_test(what_is_no_task_is_refused),
      cmocka_unit_test(fronts_have_what_no_other_beats),
      cmocka_unit_test(wrong_files_are_refused_with_the_remedy),
      cmocka_unit_test(without_memory_nothing_is_lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
