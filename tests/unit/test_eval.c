/* Evaluations through the public interface, from files of a few lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calm/calm.h"
#include "scarce.h"

static const char arch[] =
    "arch:\n"
    "  arithmetic: {instances: 4, word-bits: 16}\n"
    "  storage:\n"
    "  - {name: Buffer, entries: 16, instances: 1, word-bits: 16}\n"
    "  - {name: Memory, technology: DRAM, instances: 1, word-bits: 16}\n";

static const char problem[] = "problem: {shape: gemm_ABZ, M: 4, N: 2, K: 4}\n";

static const char mapping[] =
    "mapping:\n"
    "- {target: Memory, type: temporal, factors: K4, permutation: KMN}\n"
    "- {target: Buffer, type: temporal, factors: N2, permutation: NMK}\n"
    "- {target: Buffer, type: spatial, factors: M4, permutation: MNK}\n";

typedef struct files {
  uint64_t allocations_left;
  calm_context *context;
  char folder[32];
  char arch[64], problem[64], mapping[64], other[64];
} files;

static void write_file(char *path, const files *f, const char *name,
                       const char *content) {
  snprintf(path, 64, "%s/%s", f->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(content, file);
  fclose(file);
}

static int set_up(void **state) {
  static files f;
  const calm_allocator scarce = {scarce_reallocate, &f.allocations_left};
  f.allocations_left = SCARCE_NEVER;
  f.context = calm_context_new(&scarce);
  strcpy(f.folder, "/tmp/calm-eval-XXXXXX");
  assert_non_null(mkdtemp(f.folder));
  write_file(f.arch, &f, "arch.yaml", arch);
  write_file(f.problem, &f, "problem.yaml", problem);
  write_file(f.mapping, &f, "mapping.yaml", mapping);
  write_file(f.other, &f, "other.yaml", "");
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  files *f = *state;
  const char *paths[] = {f->arch, f->problem, f->mapping, f->other, f->folder};
  for (int i = 0; i < 5; i++) remove(paths[i]);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  return 0;
}

#define EVAL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static calm_status evaluate(calm_evaluation **out, files *f, const char *second,
                            const calm_options *options) {
  const char *parts[] = {f->arch}, *nests[] = {f->mapping, second};
  const calm_evaluation_files named = {.arch = parts,
                                       .arch_count = 1,
                                       .problem = f->problem,
                                       .mappings = nests,
                                       .mapping_count = second ? 2 : 1};
  return calm_evaluate(out, f->context, &named, options);
}

static void one_nest_has_figures(void **state) {
  calm_evaluation *e;
  assert_int_equal(evaluate(&e, *state, NULL, NULL), CALM_OK);
  const calm_evaluation_summary *s = calm_evaluation_summary_of(e, 0);
  assert_true(s->valid);
  assert_int_equal(s->computes, 32);
  assert_int_equal(s->cycles, 8);
  assert_true(s->utilization == 1);
  assert_true(s->energy_pj > 32);
  assert_true(s->edp == s->energy_pj * 8);
  assert_true(calm_evaluation_valid(e));
  assert_null(calm_evaluation_reason(e, 0));
  assert_null(calm_evaluation_summary_of(e, 1));
  assert_null(calm_evaluation_reason(e, 1));
  calm_evaluation_free(e);
}

static void energy_can_be_left_out(void **state) {
  files *f = *state;
  calm_evaluation *e;
  calm_options *options;
  assert_int_equal(calm_options_new(&options, f->context), CALM_OK);
  assert_int_equal(calm_options_set(options, "energy", "off"), CALM_OK);
  assert_int_equal(evaluate(&e, f, NULL, options), CALM_OK);
  const calm_evaluation_summary *s = calm_evaluation_summary_of(e, 0);
  assert_true(s->energy_pj == 0 && s->edp == 0);
  assert_int_equal(s->cycles, 8);
  calm_evaluation_free(e);
  calm_options_free(options);
}

/* The second does not make up K. */
static void an_invalid_nest_is_a_result(void **state) {
  files *f = *state;
  calm_evaluation *e;
  write_file(f->other, f, "other.yaml",
             "mapping:\n"
             "- {target: Memory, type: temporal, factors: K2 N2 M4}\n");
  assert_int_equal(evaluate(&e, f, f->other, NULL), CALM_OK);
  assert_false(calm_evaluation_valid(e));
  assert_true(calm_evaluation_summary_of(e, 0)->valid);
  assert_false(calm_evaluation_summary_of(e, 1)->valid);
  assert_int_equal(calm_evaluation_summary_of(e, 1)->cycles, 0);
  assert_non_null(strstr(calm_evaluation_reason(e, 1), "K"));
  calm_evaluation_free(e);
}

/* What Timeloop prints of a nest is a nest as well, and here the same. */
static void a_printed_nest_is_read(void **state) {
  files *f = *state;
  calm_evaluation *e;
  write_file(f->other, f, "other.yaml",
             "Memory [ A:16 (16) B:8 (8) Z:8 (8) ]\n"
             "------------------------------------\n"
             "| for K in [0:4)\n"
             "\n"
             "Buffer [ A:4 (4) B:2 (2) Z:8 (8) ]\n"
             "----------------------------------\n"
             "|   for N in [0:2)\n"
             "|     for M in [0:4) (Spatial-X)\n"
             "|       << Compute >>\n");
  assert_int_equal(evaluate(&e, f, f->other, NULL), CALM_OK);
  assert_true(calm_evaluation_valid(e));
  const calm_evaluation_summary *a = calm_evaluation_summary_of(e, 0);
  const calm_evaluation_summary *b = calm_evaluation_summary_of(e, 1);
  assert_int_equal(a->cycles, b->cycles);
  assert_true(a->energy_pj == b->energy_pj);
  calm_evaluation_free(e);
}

static void files_may_lie_in_one(void **state) {
  files *f = *state;
  calm_evaluation *e;
  char all[sizeof arch + sizeof problem + sizeof mapping];
  snprintf(all, sizeof all, "%s%s%s", arch, problem, mapping);
  write_file(f->other, f, "other.yaml", all);
  const char *parts[] = {f->other};
  const calm_evaluation_files named = {.arch = parts, .arch_count = 1};
  assert_int_equal(calm_evaluate(&e, f->context, &named, NULL), CALM_OK);
  assert_int_equal(calm_evaluation_summary_of(e, 0)->cycles, 8);
  calm_evaluation_free(e);
}

static void what_is_missing_is_named(void **state) {
  files *f = *state;
  calm_evaluation *e = NULL;
  calm_evaluation_files named = {0};
  const char *parts[] = {f->arch}, *nests[] = {"a", "b", "c"};
  assert_int_equal(calm_evaluate(&e, f->context, &named, NULL), CALM_MISUSE);
  named = (calm_evaluation_files){.arch = parts, .arch_count = 1};
  assert_int_equal(calm_evaluate(&e, f->context, &named, NULL), CALM_MISUSE);
  assert_non_null(strstr(calm_context_message(f->context), "no problem"));
  named.mappings = nests;
  named.mapping_count = 3;
  assert_int_equal(calm_evaluate(&e, f->context, &named, NULL), CALM_MISUSE);
  named.problem = "/nowhere/problem.yaml";
  named.mapping_count = 1;
  assert_int_equal(calm_evaluate(&e, f->context, &named, NULL), CALM_IO);
  assert_null(e);
}

/* With every allocation in turn failing. */
static void no_memory_is_told(void **state) {
  files *f = *state;
  calm_options *options;
  assert_int_equal(calm_options_new(&options, f->context), CALM_OK);
  assert_int_equal(calm_options_set(options, "links", "Buffer=1"), CALM_OK);
  const uint64_t bytes = calm_context_bytes(f->context);
  calm_status status = CALM_NO_MEMORY;
  for (uint64_t granted = 0; status != CALM_OK; granted++) {
    calm_evaluation *e = NULL;
    f->allocations_left = granted;
    status = evaluate(&e, f, f->mapping, options);
    f->allocations_left = SCARCE_NEVER;
    calm_evaluation_free(e);
    assert_int_equal(status, e ? CALM_OK : CALM_NO_MEMORY);
    assert_int_equal(calm_context_bytes(f->context), bytes);
  }
  calm_options_free(options);
}

int main(void) {
  const struct CMUnitTest tests[] = {EVAL_TEST(one_nest_has_figures),
                                     EVAL_TEST(energy_can_be_left_out),
                                     EVAL_TEST(an_invalid_nest_is_a_result),
                                     EVAL_TEST(a_printed_nest_is_read),
                                     EVAL_TEST(files_may_lie_in_one),
                                     EVAL_TEST(what_is_missing_is_named),
                                     EVAL_TEST(no_memory_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
