#include "bench_fixture.h"

#include "../scarce.h"

/* Every public section can be chosen, and there are two papers. */
static void papers_are_listed(void **state) {
  (void)state;
  assert_string_equal(bench_papers[0].name, "serenity");
  assert_string_equal(bench_papers[1].name, "cosa");
  assert_null(bench_papers[2].name);
  calm_section_info s;
  size_t count = 0;
  while (calm_bench_section(&s, count)) count++;
  for (const bench_paper *p = bench_papers; p->name; p++)
    for (const bench_section *i = p->sections; i->name; i++) count--;
  assert_int_equal(count, 0);
}

static void sections_are_chosen(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, true);
  desk_run(&d, "two");
  assert_int_equal(d.benchmark.run.tables.count, 1);
  assert_string_equal(d.benchmark.run.tables.data[0]->name, "wide");
  assert_int_equal(d.benchmark.run.figures.count, 1);
  desk_close(&d);
  desk_open(&d, true);
  desk_run(&d, "two,one,two");
  assert_int_equal(d.benchmark.run.tables.count, 2);
  assert_string_equal(d.benchmark.run.tables.data[0]->name, "kinds");
  desk_close(&d);
}

static void unknown_sections_are_refused(void **state) {
  static const char *const lists[] = {"three", "", "one,", "one,tw", "one two"};
  (void)state;
  for (int i = 0; i < 5; i++) {
    bench_desk d;
    desk_open(&d, true);
    assert_int_equal(bench_run(&d.benchmark.run, &own_paper, lists[i]),
                     CALM_MISUSE);
    assert_non_null(strstr(calm_context_message(d.context), "one, two"));
    assert_int_equal(d.benchmark.run.tables.count, 0);
    desk_close(&d);
  }
}

static void unknown_papers_are_refused(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  calm_benchmark *m = NULL;
  assert_int_equal(calm_bench(&m, context, "nobody", NULL), CALM_MISUSE);
  assert_string_equal(calm_context_message(context),
                      "there is no paper 'nobody'; there is serenity, cosa");
  assert_null(m);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

/* ---- Faults in a section ------------------------------------------------- */

static calm_status run_half_a_row(bench *b) {
  bench_table *t = bench_table_begin(b, "half", "Half.", kinds_columns, 7);
  bench_words(b, t, "x");
  return CALM_OK;
}

static calm_status run_twice(bench *b) {
  bench_table_begin(b, "same", "Same.", kinds_columns, 7);
  bench_table_begin(b, "same", "Same.", kinds_columns, 7);
  return CALM_OK;
}

static calm_status run_odd_name(bench *b) {
  bench_table_begin(b, "../x", "Elsewhere.", kinds_columns, 7);
  return CALM_OK;
}

static calm_status run_failure(bench *b) {
  run_kinds(b);
  return context_fail(b->context, CALM_IO, "no luck");
}

static void faults_are_told(void **state) {
  static const struct {
    bench_section sections[2];
    const char *message;
  } faults[] = {
      {{{"half", "", run_half_a_row}, {0}}, "'half' ends within a row"},
      {{{"twice", "", run_twice}, {0}}, "'same' is the name of two tables"},
      {{{"odd", "", run_odd_name}, {0}}, "'../x' is no name of a table"},
      {{{"failure", "", run_failure}, {0}}, "no luck"}};
  (void)state;
  for (int i = 0; i < 4; i++) {
    const bench_paper paper = {"p", "p", faults[i].sections};
    bench_desk d;
    desk_open(&d, true);
    assert_int_not_equal(bench_run(&d.benchmark.run, &paper, NULL), CALM_OK);
    assert_non_null(strstr(calm_context_message(d.context), faults[i].message));
    desk_close(&d);
  }
}

static calm_status run_interrupted(bench *b) {
  run_wide(b);
  calm_context_interrupt(b->context);
  return CALM_OK;
}

static void an_interrupt_keeps_what_is_complete(void **state) {
  static const bench_section sections[] = {{"one", "", run_kinds},
                                           {"hit", "", run_interrupted},
                                           {"last", "", run_failure},
                                           {0}};
  static const bench_paper paper = {"p", "p", sections};
  (void)state;
  bench_desk d;
  desk_open(&d, true);
  assert_int_equal(bench_run(&d.benchmark.run, &paper, NULL), CALM_OK);
  assert_int_equal(d.benchmark.run.tables.count, 1);
  assert_int_equal(d.benchmark.run.figures.count, 0);
  assert_false(calm_benchmark_complete(&d.benchmark));
  desk_close(&d);
}

/* ---- What is missing ----------------------------------------------------- */

static void a_few_reasons_are_enough(void **state) {
  bench_desk d;
  (void)state;
  desk_open(&d, false);
  bench *b = &d.benchmark.run;
  assert_null(b->missing);
  for (int i = 0; i < 2; i++) bench_miss(b, "no %s", "solver");
  assert_string_equal(b->missing, "no solver");
  bench_miss(b, "one");
  assert_string_equal(b->missing, "no solver; one");
  for (int i = 0; i < 100; i++) bench_miss(b, "layer %d", i);
  assert_string_equal(b->missing,
                      "no solver; one; layer 0; layer 1; layer 2; and more");
  assert_false(b->failed);
  desk_close(&d);
}

/* ---- Memory -------------------------------------------------------------- */

/* Every format, with so many allocations granted. */
static calm_status run_with(uint64_t *left) {
  const calm_allocator allocator = {scarce_reallocate, left};
  calm_context *context = calm_context_new(&allocator);
  calm_options *options = NULL;
  if (!context) return CALM_NO_MEMORY;
  calm_status status = calm_options_new(&options, context);
  if (status == CALM_OK) {
    calm_benchmark m = {.context = context, .paper = &own_paper};
    bench_init(&m.run, context, options);
    status = bench_run(&m.run, &own_paper, NULL);
    for (int format = 0; format < 2 && status == CALM_OK; format++) {
      char *words = NULL;
      status = calm_benchmark_render(&words, &m, (calm_format)format, true);
      calm_text_free(context, words);
    }
    text page;
    text_init(&page, context);
    if (status == CALM_OK) status = bench_write_page(&page, &m);
    if (page.failed) status = CALM_NO_MEMORY;
    text_free(&page);
    bench_free(&m.run);
  }
  calm_options_free(options);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  for (uint64_t granted = 0;; granted++) {
    uint64_t left = granted;
    const calm_status status = run_with(&left);
    if (status == CALM_OK) break;
    assert_int_equal(status, CALM_NO_MEMORY);
    assert_true(granted < 10000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(papers_are_listed),
      cmocka_unit_test(sections_are_chosen),
      cmocka_unit_test(unknown_sections_are_refused),
      cmocka_unit_test(unknown_papers_are_refused),
      cmocka_unit_test(faults_are_told),
      cmocka_unit_test(an_interrupt_keeps_what_is_complete),
      cmocka_unit_test(a_few_reasons_are_enough),
      cmocka_unit_test(memory_may_run_out_anywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
