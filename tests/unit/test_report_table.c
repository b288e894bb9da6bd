#include "report/report_table.h"
#include "report_fixture.h"

typedef struct desk {
  calm_context *context;
  text out;
} desk;

static int open_desk(void **state) {
  static desk d;
  d.context = calm_context_new(NULL);
  text_init(&d.out, d.context);
  *state = &d;
  return 0;
}

static int close_desk(void **state) {
  desk *d = *state;
  text_free(&d->out);
  assert_int_equal(calm_context_bytes(d->context), 0);
  calm_context_free(d->context);
  return 0;
}

static const report_column three[] = {
    {"name", COLUMN_NAME}, {"bytes", COLUMN_NUMBER}, {"", COLUMN_WORDS}};

static void columns_are_aligned(void **state) {
  desk *d = *state;
  report_table t;
  report_table_init(&t, d->context, three, 3);
  report_table_name(&t, "x");
  report_table_number(&t, 301056);
  report_table_cell(&t, "%s", "");
  report_table_name(&t, "tensor");
  report_table_number(&t, 16);
  report_table_cell(&t, "%d", 7);
  assert_int_equal(report_table_finish(&t, &d->out, false), CALM_OK);
  assert_string_equal(d->out.data,
                      "  name      bytes\n"
                      "  x       301,056\n"
                      "  tensor       16  7\n");
}

static void an_empty_table_is_its_titles(void **state) {
  desk *d = *state;
  static const report_column untitled[] = {{NULL, COLUMN_WORDS}};
  report_table t;
  report_table_init(&t, d->context, untitled, 1);
  assert_int_equal(report_table_finish(&t, &d->out, true), CALM_OK);
  assert_int_equal(d->out.length, 0);
  report_table_init(&t, d->context, three, 3);
  assert_int_equal(report_table_finish(&t, &d->out, false), CALM_OK);
  assert_string_equal(d->out.data, "  name  bytes\n");
}

static void wide_tables_shorten_names(void **state) {
  desk *d = *state;
  static const report_column columns[] = {
      {"a", COLUMN_NAME}, {"b", COLUMN_NUMBER}, {"c", COLUMN_NAME}};
  char name[300];
  report_table t;
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  report_table_init(&t, d->context, columns, 3);
  report_table_name(&t, name);
  report_table_number(&t, UINT64_MAX);
  report_table_name(&t, "short");
  report_table_name(&t, "short");
  report_table_number(&t, 0);
  report_table_name(&t, name);
  assert_int_equal(report_table_finish(&t, &d->out, false), CALM_OK);
  assert_int_equal(longest_line(d->out.data), REPORT_COLUMNS);
  assert_non_null(strstr(d->out.data, "..."));
  assert_non_null(strstr(d->out.data, "18,446,744,073,709,551,615"));
}

/* First what is spare, then names, and only then what is to be late. */
static void wide_tables_leave_out_what_is_spare(void **state) {
  desk *d = *state;
  static const report_column columns[] = {{"name", COLUMN_NAME},
                                          {"spare", COLUMN_SPARE},
                                          {"late", COLUMN_LATE},
                                          {"n", COLUMN_NUMBER}};
  for (int width = 80; width <= 90; width += 10) {
    char late[100];
    report_table t;
    memset(late, 'l', (size_t)width);
    late[width] = '\0';
    report_table_init(&t, d->context, columns, 4);
    report_table_cell(&t, "%s", "a name of 22 letters..");
    report_table_cell(&t, "%s", "1234");
    report_table_cell(&t, "%s", late);
    report_table_number(&t, 7);
    assert_int_equal(report_table_finish(&t, &d->out, false), CALM_OK);
    assert_true(longest_line(d->out.data) <= 100);
    assert_null(strstr(d->out.data, "spare"));
    assert_null(strstr(d->out.data, "1234"));
    assert_null(strstr(d->out.data, "22 letters"));
    assert_int_equal(strstr(d->out.data, late) != NULL, width == 80);
    text_free(&d->out);
    text_init(&d->out, d->context);
  }
}

static void paragraphs_are_wrapped(void **state) {
  desk *d = *state;
  text_format(&d->out, "    ");
  assert_int_equal(report_wrapped(&d->out, "one two", 6, 4), CALM_OK);
  assert_string_equal(d->out.data, "    one two\n");
  for (int i = 0; i < 40; i++)
    assert_int_equal(
        report_wrapped(&d->out,
                       "alpha beta gamma delta alpha beta gamma delta "
                       "alpha beta gamma delta alpha beta gamma delta "
                       "alpha\nbeta",
                       2 + (uint32_t)i, 0),
        CALM_OK);
  assert_true(longest_line(d->out.data) <= REPORT_COLUMNS);
  assert_non_null(strstr(d->out.data, "alpha\\x0abeta"));
}

static void items_are_not_divided(void **state) {
  desk *d = *state;
  report_paragraph p = {&d->out, 4, 0, false};
  for (int i = 0; i < 12; i++) {
    text item;
    text_init(&item, d->context);
    text_format(&item, "%d item\n", i);
    assert_int_equal(report_paragraph_add(&p, &item), CALM_OK);
  }
  assert_string_equal(d->out.data,
                      "0 item\\x0a 1 item\\x0a 2 item\\x0a 3 item\\x0a "
                      "4 item\\x0a 5 item\\x0a 6 item\\x0a 7 item\\x0a "
                      "8 item\\x0a\n"
                      "    9 item\\x0a 10 item\\x0a 11 item\\x0a");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(columns_are_aligned, open_desk,
                                      close_desk),
      cmocka_unit_test_setup_teardown(an_empty_table_is_its_titles, open_desk,
                                      close_desk),
      cmocka_unit_test_setup_teardown(wide_tables_shorten_names, open_desk,
                                      close_desk),
      cmocka_unit_test_setup_teardown(wide_tables_leave_out_what_is_spare,
                                      open_desk, close_desk),
      cmocka_unit_test_setup_teardown(items_are_not_divided, open_desk,
                                      close_desk),
      cmocka_unit_test_setup_teardown(paragraphs_are_wrapped, open_desk,
                                      close_desk)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
