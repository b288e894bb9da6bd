/* The forms that tables go out in. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_fixture.h"

/* ---- Numbers ------------------------------------------------------------- */

static void people_see_few_digits(void **state) {
  static const struct {
    bench_kind kind;
    double n;
    const char *shown;
  } rows[] = {{BENCH_COUNT, 301056, "301,056"},
              {BENCH_COUNT, 0, "0"},
              {BENCH_COUNT, -0.0, "0"},
              {BENCH_COUNT, -7, "-7"},
              {BENCH_COUNT, 94740105460000.0, "94,740,105,460,000"},
              {BENCH_KB, 200704, "200.7"},
              {BENCH_KB, 1234567, "1,234.6"},
              {BENCH_KB, 0, "0.0"},
              {BENCH_KB, -1500, "-1.5"},
              {BENCH_RATIO, 1.684, "1.68"},
              {BENCH_RATIO, 0.0044, "0.0044"},
              {BENCH_RATIO, 12345.6, "12,346"},
              {BENCH_SHARE, 0.0466, "4.66 %"},
              {BENCH_SHARE, 0.000129, "0.0129 %"},
              {BENCH_SHARE, 1, "100 %"},
              {BENCH_SHARE, 0.99996, "99.996 %"},
              {BENCH_REAL, 0.1, "0.1"},
              {BENCH_REAL, 1234.4, "1,234"},
              {BENCH_REAL, 118.1, "118.1"},
              {BENCH_REAL, 0, "0"},
              {BENCH_SECONDS, 40.64, "40.6"},
              {BENCH_SECONDS, 25920, "25,920"},
              {BENCH_SECONDS, 0.000123456, "0.000123"},
              {BENCH_SECONDS, 0.000025, "0.0000250"},
              {BENCH_SECONDS, 0.0017, "0.00170"},
              {BENCH_SECONDS, 0, "0"},
              {BENCH_SECONDS, 379.9, "380"},
              {BENCH_RATIO, HUGE_VAL, "inf"},
              {BENCH_RATIO, -HUGE_VAL, "-inf"},
              {BENCH_KB, 1e300, "1e+297"},
              {BENCH_COUNT, NAN, "-"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(bench_shown(rows[i].kind, rows[i].n).text,
                        rows[i].shown);
}

static void programs_see_all_digits(void **state) {
  static const double numbers[] = {0.1,   1.0 / 3, 301056, -2.5e-300,
                                   1e300, 0.0466,  1e22};
  (void)state;
  assert_string_equal(bench_digits(0.1).text, "0.1");
  assert_string_equal(bench_digits(301056).text, "301056");
  assert_string_equal(bench_digits(NAN).text, "");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    assert_true(strtod(bench_digits(numbers[i]).text, NULL) == numbers[i]);
}

/* ---- CSV ----------------------------------------------------------------- */

static void csv_is_quoted_where_it_has_to_be(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, true);
  desk_run(&d, "one");
  const bench *b = &d.benchmark.run;
  assert_int_equal(bench_write_csv(&d.out, b, b->tables.data[0]), CALM_OK);
  assert_string_equal(d.out.data,
                      "network,states,peak_bytes,ratio,share,real,seconds\n"
                      "SwiftNet A,301056,200704,1.68,0.0466,0.1,0.25\n"
                      "\"a \"\"b\"\", c|d\",,,,,,\n");
  desk_close(&d);
}

static void seconds_are_left_out_without_timing(void **state) {
  (void)state;
  bench_desk d;
  char *words;
  desk_open(&d, false);
  desk_run(&d, "one");
  const bench *b = &d.benchmark.run;
  assert_int_equal(bench_write_csv(&d.out, b, b->tables.data[0]), CALM_OK);
  assert_non_null(strstr(d.out.data, "real\nSwiftNet"));
  assert_null(strstr(d.out.data, "0.25"));
  for (int format = 0; format < 2; format++) {
    assert_int_equal(
        calm_benchmark_render(&words, &d.benchmark, (calm_format)format, false),
        CALM_OK);
    assert_null(strstr(words, "0.25"));
    calm_text_free(d.context, words);
  }
  desk_close(&d);
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *rendered(bench_desk *d) {
  char *words;
  assert_int_equal(
      calm_benchmark_render(&words, &d->benchmark, CALM_FORMAT_JSON, false),
      CALM_OK);
  json_t *root = json_loads(words, 0, NULL);
  assert_non_null(root);
  calm_text_free(d->context, words);
  return root;
}

static const char *string_at(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

static void json_has_sections_tables_rows(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, true);
  desk_run(&d, NULL);
  json_t *root = rendered(&d);
  assert_string_equal(string_at(root, "schema"), "calm/bench/1");
  assert_string_equal(string_at(root, "paper"), "own");
  const json_t *sections = json_object_get(root, "sections");
  assert_int_equal(json_array_size(sections), 2);
  const json_t *one = json_array_get(sections, 0);
  assert_string_equal(string_at(one, "name"), "one");
  const json_t *table = json_array_get(json_object_get(one, "tables"), 0);
  assert_int_equal(json_array_size(json_object_get(table, "columns")), 7);
  const json_t *rows = json_object_get(table, "rows");
  const json_t *row = json_array_get(rows, 0);
  assert_string_equal(string_at(row, "network"), "SwiftNet A");
  assert_int_equal(json_integer_value(json_object_get(row, "states")), 301056);
  assert_true(
      json_is_null(json_object_get(json_array_get(rows, 1), "peak_bytes")));
  const json_t *two = json_array_get(sections, 1);
  assert_string_equal(
      string_at(json_array_get(json_object_get(two, "figures"), 0), "name"),
      "three");
  json_decref(root);
  desk_close(&d);
}

/* ---- The page ------------------------------------------------------------ */

static void the_page_links_files_beside_it(void **state) {
  (void)state;
  bench_desk d;
  desk_open(&d, true);
  d.benchmark.run.missing = "cosa: no solver";
  desk_run(&d, NULL);
  assert_int_equal(bench_write_page(&d.out, &d.benchmark), CALM_OK);
  const char *const parts[] = {
      "# A paper of \\*ours\\*\n",
      "\nLeft out: cosa: no solver.\n",
      "\n## One thing\n",
      "\n**All kinds of columns.** ([kinds.csv](kinds.csv))\n",
      "\n| network | states | peak KB | times less | share of orders | any | s "
      "|\n|---|---:|---:|---:|---:|---:|---:|\n"
      "| SwiftNet A | 301,056 | 200.7 | 1.68 | 4.66 % | 0.1 | 0.250 |\n"
      "| a \"b\", c\\|d | - | - | - | - | - | - |\n",
      "\nMade of `swiftnet.cg`. Again.\n",
      "\n![Three points](three.svg)\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(d.out.data, parts[i]))
      fail_msg("the page has no \"%s\":\n%s", parts[i], d.out.data);
  desk_close(&d);
}

/* ---- The terminal -------------------------------------------------------- */

static void the_terminal_has_a_hundred_columns(void **state) {
  (void)state;
  bench_desk d;
  char *words;
  desk_open(&d, true);
  desk_run(&d, NULL);
  assert_int_equal(
      calm_benchmark_render(&words, &d.benchmark, CALM_FORMAT_TABLE, false),
      CALM_OK);
  assert_string_equal(
      words,
      "A paper of *ours*\n"
      "\n"
      "one: One thing\n"
      "\n"
      "  All kinds of columns.\n"
      "\n"
      "  network      states  peak KB  times less  share of orders  any      "
      "s\n"
      "  SwiftNet A  301,056    200.7        1.68           4.66 %  0.1  "
      "0.250\n"
      "  a \"b\", c|d        -        -           -                -    -      "
      "-\n"
      "\n"
      "  Made of `swiftnet.cg`. Again.\n"
      "\n"
      "two: Another\n"
      "\n"
      "  Too wide.\n"
      "\n"
      "         a title\n"
      "         of many\n"
      "  layer    words  unbreakablebutlong  unbreakablebutlong  "
      "unbreakablebutlong  unbreakablebutlong\n"
      "  first        1                   2                   3               "
      "    4                   5\n"
      "\n"
      "  layer  unbreakablebutlong\n"
      "  first                   6\n");
  calm_text_free(d.context, words);
  desk_close(&d);
}

/* ---- Files --------------------------------------------------------------- */

static void assert_file(const char *folder, const char *name, bool there) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(access(path, F_OK) == 0, there);
  if (there) assert_int_equal(unlink(path), 0);
}

static void a_folder_gets_all_files(void **state) {
  (void)state;
  bench_desk d;
  char folder[] = "/tmp/calm_bench_XXXXXX", deeper[64];
  assert_non_null(mkdtemp(folder));
  snprintf(deeper, sizeof deeper, "%s/new/", folder);
  desk_open(&d, true);
  desk_run(&d, NULL);
  assert_int_equal(calm_benchmark_write(&d.benchmark, deeper), CALM_OK);
  assert_int_equal(calm_benchmark_write(&d.benchmark, deeper), CALM_OK);
  assert_file(deeper, "kinds.csv", true);
  assert_file(deeper, "wide.csv", true);
  assert_file(deeper, "three.svg", true);
  assert_file(deeper, "own.md", true);
  assert_int_equal(rmdir(deeper), 0);
  snprintf(deeper, sizeof deeper, "%s/no/where", folder);
  assert_int_equal(calm_benchmark_write(&d.benchmark, deeper), CALM_IO);
  assert_non_null(strstr(calm_context_message(d.context), deeper));
  assert_int_equal(calm_benchmark_write(&d.benchmark, "/dev/null"), CALM_IO);
  assert_int_equal(rmdir(folder), 0);
  desk_close(&d);
}

static void other_formats_are_refused(void **state) {
  (void)state;
  bench_desk d;
  char *words = NULL;
  desk_open(&d, true);
  assert_int_equal(
      calm_benchmark_render(&words, &d.benchmark, CALM_FORMAT_TRACE, false),
      CALM_MISUSE);
  assert_null(words);
  desk_close(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(people_see_few_digits),
      cmocka_unit_test(programs_see_all_digits),
      cmocka_unit_test(csv_is_quoted_where_it_has_to_be),
      cmocka_unit_test(seconds_are_left_out_without_timing),
      cmocka_unit_test(json_has_sections_tables_rows),
      cmocka_unit_test(the_page_links_files_beside_it),
      cmocka_unit_test(the_terminal_has_a_hundred_columns),
      cmocka_unit_test(a_folder_gets_all_files),
      cmocka_unit_test(other_formats_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
