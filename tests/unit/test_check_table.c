/* Plans inside .tflite files, as they are found: stale, short, foreign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "cases.h"
#include "plan.h"
#include "tflite_builder.h"

static const char PLAN[] = "OfflineMemoryAllocation";

enum { TENSORS = 4 };

/* x -> a -> b -> c, 64 bytes each; operator 1 may also be the first or last of
   the list without being in order. */
static build_file *chain_with(const build_metadata *metadata, uint32_t count,
                              const void *words, uint32_t bytes) {
  static const int32_t shape[] = {16}, x[] = {0}, a[] = {1}, b[] = {2},
                       c[] = {3};
  static const build_tensor tensors[TENSORS] = {
      {.name = "x", .shape = {shape, 1}},
      {.name = "a", .shape = {shape, 1}},
      {.name = "b", .shape = {shape, 1}},
      {.name = "c", .shape = {shape, 1}}};
  static const build_code codes[] = {{101, NULL}};
  static const build_op ops[] = {
      {.code = 0, .inputs = {x, 1}, .outputs = {a, 1}},
      {.code = 0, .inputs = {a, 1}, .outputs = {b, 1}},
      {.code = 0, .inputs = {b, 1}, .outputs = {c, 1}}};
  static const build_subgraph subgraph = {.tensors = tensors,
                                          .tensor_count = TENSORS,
                                          .ops = ops,
                                          .op_count = 3,
                                          .inputs = {x, 1},
                                          .outputs = {c, 1}};
  const build_buffer buffers[] = {{NULL, 0, 0, 0}, {words, bytes, 0, 0}};
  const build_model m = {.codes = codes,
                         .code_count = 1,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = buffers,
                         .buffer_count = 2,
                         .metadata = metadata,
                         .metadata_count = count};
  return build_tflite(&m, false);
}

typedef struct trial {
  calm_context *context;
  calm_options *options;
  calm_model *model;
  calm_verdict *verdict;
} trial;

static trial check_file(build_file *f, const char *budget) {
  trial t = {.context = calm_context_new(NULL)};
  assert_int_equal(calm_options_new(&t.options, t.context), CALM_OK);
  if (budget)
    assert_int_equal(calm_options_set(t.options, "budget", budget), CALM_OK);
  if (calm_model_parse(&t.model, t.context, f->bytes, f->length, "built",
                       NULL) ||
      calm_check(&t.verdict, t.model, NULL, t.options))
    fail_msg("%s", calm_context_message(t.context));
  free(f);
  return t;
}

static void end(trial *t) {
  calm_verdict_free(t->verdict);
  calm_model_free(t->model);
  calm_options_free(t->options);
  assert_int_equal(calm_context_bytes(t->context), 0);
  calm_context_free(t->context);
}

static trial check_words(const int32_t *words, uint32_t count,
                         const char *budget) {
  const build_metadata metadata[] = {{PLAN, 1}};
  return check_file(chain_with(metadata, 1, words, 4 * count), budget);
}

static void expect_fault(trial t, const char *kind, const char *words) {
  const memory_verdict *verdict = &t.verdict->verdict;
  bool found = false;
  assert_false(calm_verdict_valid(t.verdict));
  for (uint32_t i = 0; i < verdict->faults.count; i++)
    if (!strcmp(verdict->faults.data[i].kind, kind) &&
        strstr(verdict->faults.data[i].text, words))
      found = true;
  if (!found)
    fail_msg("no fault %s with '%s'; the first is %s: %s", kind, words,
             verdict->faults.data[0].kind, verdict->faults.data[0].text);
  end(&t);
}

static void expect_warning(trial t, const char *words) {
  const memory_verdict *verdict = &t.verdict->verdict;
  bool found = false;
  assert_true(calm_verdict_valid(t.verdict));
  for (uint32_t i = 0; i < verdict->warnings.count; i++)
    if (strstr(verdict->warnings.data[i].text, words)) found = true;
  if (!found) fail_msg("no warning with '%s'", words);
  end(&t);
}

static void a_plan_that_holds(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, 0, 64};
  trial t = check_words(words, 7, NULL);
  assert_true(calm_verdict_valid(t.verdict));
  assert_int_equal(t.verdict->verdict.warnings.count, 0);
  assert_int_equal(t.verdict->verdict.arena_bytes, 128);
  end(&t);
}

static void tensors_that_share_bytes(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 32, 0, 64};
  expect_fault(check_words(words, 7, NULL), "overlap", "'x'");
}

static void an_offset_of_minus_two(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, -2, 64};
  expect_fault(check_words(words, 7, NULL), "negative",
               "places tensor 'b' at -2");
}

static void a_table_that_is_short(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, 0};
  expect_fault(check_words(words, 6, NULL), "short", "after 3 of 4 tensors");
  expect_fault(check_words(words, 2, NULL), "short", "ends before the offsets");
}

static void another_number_of_tensors(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 5, 0, 64, 0, 64, 0};
  expect_fault(check_words(words, 8, NULL), "count",
               "speaks of 5 tensors, but the model has 4");
}

static void no_data_at_all(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, 0, 64};
  const build_metadata empty[] = {{PLAN, 0}}, missing[] = {{PLAN, 5000}};
  expect_fault(check_file(chain_with(empty, 1, words, 28), NULL), "short",
               "its buffer is empty");
  expect_fault(check_file(chain_with(missing, 1, words, 28), NULL), "short",
               "its buffer does not exist");
}

static void a_plan_outside_the_arena(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, 1024, 64};
  expect_fault(check_words(words, 7, "256"), "outside",
               "head and tail need 2128 bytes");
}

static void names_that_resemble_it(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 0, 0, 0};
  static const char *const names[] = {"OfflineMemoryAllocationX",
                                      "offlineMemoryAllocation",
                                      "OfflineMemory_Allocation "};
  for (size_t i = 0; i < 3; i++) {
    const build_metadata metadata[] = {{names[i], 1}};
    expect_warning(check_file(chain_with(metadata, 1, words, 28), NULL),
                   names[i]);
  }
  const build_metadata other[] = {{"OfflineMemory", 1}, {"", 1}};
  trial t = check_file(chain_with(other, 2, words, 28), NULL);
  assert_int_equal(t.verdict->verdict.warnings.count, 0);
  end(&t);
}

static void several_entries(void **state) {
  (void)state;
  static const int32_t words[] = {0, 1, 4, 0, 64, 0, 64};
  const build_metadata metadata[] = {{PLAN, 0}, {PLAN, 1}};
  expect_warning(check_file(chain_with(metadata, 2, words, 28), NULL),
                 "2 entries");
}

/* Words behind the offsets, offsets that are multiples of 8, the rest left to
   the runtime: as other tools write it. */
static void plans_of_other_tools(void **state) {
  (void)state;
  static const int32_t words[] = {0, 0, 4, 0, 72, 0, 72, 16, 99};
  expect_warning(check_words(words, 9, NULL), "2 words behind its last tensor");
  expect_warning(check_words(words, 9, NULL), "72");
  static const int32_t partial[] = {0, 0, 4, -1, 64, -1, 64};
  trial t = check_words(partial, 7, NULL);
  assert_true(calm_verdict_valid(t.verdict));
  end(&t);
}

/* T1: the plan of a file whose operators somebody has permuted. */
static void a_plan_made_for_another_order(void **state) {
  (void)state;
  CASES_OR_SKIP();
  char path[1024];
  calm_context *context = calm_context_new(NULL);
  calm_model *model;
  calm_verdict *verdict;
  assert_non_null(cases_path(path, sizeof path, "models/cfu_hps_74ops.tflite"));
  if (calm_model_open(&model, context, path, NULL))
    fail_msg("%s", calm_context_message(context));
  assert_int_equal(calm_check(&verdict, model, NULL, NULL), CALM_OK);
  assert_true(calm_verdict_valid(verdict));
  calm_verdict_free(verdict);
  const size_t length = model->map.length;
  uint8_t *bytes = malloc(length);
  assert_non_null(bytes);
  memcpy(bytes, model->map.bytes, length);
  /* The operators as the greatest-first order has them. */
  const graph *g = &model->graphs.data[0];
  const flat_file file = {context, path, bytes, length};
  const flat_table root = flat_root(&file);
  const flat_table subgraph =
      flat_table_at(&file, flat_vector_of(&file, root, 2, 4), 0);
  const flat_vector ops = flat_vector_of(&file, subgraph, 3, 4);
  uint32_t *waiting = calloc(g->ops.count, sizeof *waiting);
  bool *done = calloc(g->ops.count, sizeof *done);
  size_t *targets = calloc(g->ops.count, sizeof *targets);
  assert_true(waiting && done && targets);
  for (op_id u = 0; u < g->ops.count; u++) {
    waiting[u] = g->pred_begin[u + 1] - g->pred_begin[u];
    targets[u] = flat_table_at(&file, ops, u);
  }
  for (uint32_t i = 0; i < g->ops.count; i++) {
    op_id u = g->ops.count;
    while (u-- > 0 && (done[u] || waiting[u])) continue;
    done[u] = true;
    for (uint32_t j = g->succ_begin[u]; j < g->succ_begin[u + 1]; j++)
      waiting[g->succs[j]]--;
    const size_t at = ops.position + 4 * (size_t)i;
    for (unsigned j = 0; j < 4; j++)
      bytes[at + j] = (uint8_t)((targets[u] - at) >> 8 * j);
  }
  calm_model *permuted;
  if (calm_model_parse(&permuted, context, bytes, length, "permuted", NULL) ||
      calm_check(&verdict, permuted, NULL, NULL))
    fail_msg("%s", calm_context_message(context));
  assert_false(calm_verdict_valid(verdict));
  assert_string_equal(verdict->verdict.faults.data[0].kind, "overlap");
  calm_verdict_free(verdict);
  calm_model_free(permuted);
  calm_model_free(model);
  free(waiting);
  free(done);
  free(targets);
  free(bytes);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_that_holds),
      cmocka_unit_test(tensors_that_share_bytes),
      cmocka_unit_test(an_offset_of_minus_two),
      cmocka_unit_test(a_table_that_is_short),
      cmocka_unit_test(another_number_of_tensors),
      cmocka_unit_test(no_data_at_all),
      cmocka_unit_test(a_plan_outside_the_arena),
      cmocka_unit_test(names_that_resemble_it),
      cmocka_unit_test(several_entries),
      cmocka_unit_test(plans_of_other_tools),
      cmocka_unit_test(a_plan_made_for_another_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
