#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "layout/layout_csv.h"

typedef struct fixture {
  calm_context *context;
  arena arena;
  layout_csv csv;
  char warning[256];
} fixture;

static void keep_line(void *payload, calm_log_level level, const char *line) {
  fixture *f = payload;
  if (level == CALM_LOG_WARNING) strncpy(f->warning, line, 255);
}

static int open_fixture(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->context = calm_context_new(NULL);
  calm_context_set_log(f->context, keep_line, f);
  arena_init(&f->arena, f->context);
  *state = f;
  return 0;
}

static int close_fixture(void **state) {
  fixture *f = *state;
  arena_free(&f->arena);
  assert_int_equal(calm_context_bytes(f->context), 0);
  calm_context_free(f->context);
  free(f);
  return 0;
}

static calm_status read_text(fixture *f, const char *text) {
  return layout_csv_read(&f->csv, &f->arena, "b.csv", text, strlen(text));
}

static void plain_rows(void **state) {
  fixture *f = *state;
  const layout_csv *csv = &f->csv;
  assert_int_equal(read_text(f, "id,lower,upper,size\nb1,0,3,4\nb2,-3,9,0\n"),
                   CALM_OK);
  assert_int_equal(csv->row_count, 2);
  assert_string_equal(csv->ids[1], "b2");
  assert_int_equal(csv->lower[1], -3);
  assert_int_equal(csv->upper[1], 9);
  assert_int_equal(csv->size[0], 4);
  assert_int_equal(csv->problem.body_count, 2);
  assert_int_equal(csv->problem.bodies[0].align, 1);
  assert_false(csv->problem.bodies[0].fixed);
  assert_int_equal(csv->problem.pieces[0].high, 4);
  assert_int_equal(csv->problem.piece_begin[2], 2);
}

/* Any order of columns, any line end, blanks, quotes, a byte order mark. */
static void the_same_in_other_dress(void **state) {
  fixture *f = *state;
  const layout_csv *csv = &f->csv;
  assert_int_equal(
      read_text(f,
                "\xef\xbb\xbf size , id,offset,upper,lower,alignment\r\n"
                "\r\n 8 ,\"a, \"\"b\"\"\",16, 3,0 ,8\r\n  \r\n7,c,,5,2,"),
      CALM_OK);
  assert_int_equal(csv->row_count, 2);
  assert_string_equal(csv->ids[0], "a, \"b\"");
  assert_true(csv->problem.bodies[0].fixed);
  assert_int_equal(csv->problem.bodies[0].offset, 16);
  assert_int_equal(csv->problem.bodies[0].align, 8);
  assert_false(csv->problem.bodies[1].fixed);
  assert_int_equal(csv->problem.bodies[1].align, 1);
  assert_int_equal(csv->upper[1], 5);
}

static void a_group_is_one_body(void **state) {
  fixture *f = *state;
  const layout_csv *csv = &f->csv;
  assert_int_equal(read_text(f,
                             "id,lower,upper,size,group,alignment,offset\n"
                             "a,0,1,40,g,4,\nb,2,3,20,,1,\nc,4,5,30,g,6,24\n"),
                   CALM_OK);
  assert_int_equal(csv->problem.body_count, 2);
  assert_int_equal(csv->body_of[0], 0);
  assert_int_equal(csv->body_of[1], 1);
  assert_int_equal(csv->body_of[2], 0);
  assert_int_equal(csv->problem.bodies[0].align, 12);
  assert_int_equal(csv->problem.bodies[0].offset, 24);
  assert_int_equal(csv->problem.piece_begin[1], 2);
  assert_int_equal(csv->problem.pieces[1].high, 30);
}

static void no_rows_are_a_problem_too(void **state) {
  fixture *f = *state;
  assert_int_equal(read_text(f, "id,lower,upper,size\n"), CALM_OK);
  assert_int_equal(f->csv.row_count, 0);
  assert_int_equal(f->csv.problem.body_count, 0);
  assert_int_equal(read_text(f, "id,lower,upper,size"), CALM_OK);
}

static void unknown_columns_are_mentioned(void **state) {
  fixture *f = *state;
  assert_int_equal(read_text(f, "id,hint,lower,upper,size\na,x,0,1,2\n"),
                   CALM_OK);
  assert_string_equal(f->warning, "b.csv:1:4: column 'hint' is ignored");
  assert_int_equal(f->csv.size[0], 2);
}

static void limits_of_numbers_are_accepted(void **state) {
  fixture *f = *state;
  assert_int_equal(read_text(f,
                             "id,lower,upper,size\n"
                             "a,-9223372036854775808,9223372036854775807,"
                             "4611686018427387904\n"),
                   CALM_OK);
  assert_true(f->csv.lower[0] == INT64_MIN && f->csv.upper[0] == INT64_MAX);
  assert_true(f->csv.size[0] == UINT64_C(1) << 62);
}

static void errors_name_the_place(void **state) {
  fixture *f = *state;
#define HEAD "id,lower,upper,size\n"
#define WIDE "id,lower,upper,size,offset,alignment,group\n"
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "b.csv:1:1: column 'id' is missing"},
      {"\n\nid,lower,size\n", "b.csv:3:1: column 'upper' is missing"},
      {"id,lower,upper,size,id\n", "b.csv:1:21: column 'id' occurs twice"},
      {HEAD "a,0,1\n", "b.csv:2:5: row has 3 fields; expected 4"},
      {HEAD "a,0,1,2,3\n", "b.csv:2:9: row has 5 fields; expected 4"},
      {HEAD "a,0,1,2\na,0,1,2\n", "b.csv:3:1: id 'a' occurs twice"},
      {HEAD "a,0,x1,2\n", "b.csv:2:5: upper 'x1' is not a whole number"},
      {HEAD "a,0,1.5,2\n", "b.csv:2:5: upper '1.5' is not a whole number"},
      {HEAD "a,-,1,2\n", "b.csv:2:3: lower '-' is not a whole number"},
      {HEAD "a,0,9223372036854775808,2\n", "b.csv:2:5: upper '92233720"},
      {HEAD "a,0,1,-2\n", "b.csv:2:7: size '-2' is not a whole number"},
      {HEAD "a,0,1,4611686018427387905\n",
       "b.csv:2:7: size 461168601842738790"
       "5 is too large"},
      {HEAD "a,0,1,99999999999999999999\n", "b.csv:2:7: size '9999"},
      {HEAD "a,5,4,2\n", "b.csv:2:5: upper 4 is before lower 5"},
      {HEAD "a,,4,2\n", "b.csv:2:3: lower is empty"},
      {HEAD ",1,4,2\n", "b.csv:2:1: id is empty"},
      {HEAD "\"a,0,1,2\n", "b.csv:2:1: quote is not closed"},
      {HEAD "\"a\"b,0,1,2\n", "b.csv:2:1: text after a quoted field"},
      {WIDE "a,0,1,2,,0,\n", "b.csv:2:10: alignment 0 means nothing"},
      {WIDE "a,0,1,2,7,4,\n",
       "b.csv:2:9: offset 7 is not a multiple of the "
       "alignment 4"},
      {WIDE "a,0,1,2,8,,g\nb,1,2,2,9,,g\n",
       "b.csv:3:9: offset 9 differs from 8 of 'a'"},
      {WIDE "a,0,1,2,4611686018427387903,,\n",
       "b.csv:2:9: offset 46116860184"
       "27387903 and size 2 add up"},
      {WIDE "a,0,1,2,,4611686018427387904,g\nb,0,1,2,,3,g\n",
       "b.csv:3:10: the common multiple of the alignments"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(read_text(f, cases[i].text), CALM_BAD_INPUT);
    const char *message = calm_context_message(f->context);
    if (strncmp(message, cases[i].message, strlen(cases[i].message)))
      fail_msg("'%s' instead of '%s'", message, cases[i].message);
  }
}

static void a_nul_byte_is_an_error(void **state) {
  fixture *f = *state;
  static const char text[] = "id,lower,upper,size\na\0b,0,1,2\n";
  assert_int_equal(
      layout_csv_read(&f->csv, &f->arena, "b.csv", text, sizeof text - 1),
      CALM_BAD_INPUT);
}

/* Every prefix of a good file is read or refused, never more. */
static void prefixes_do_no_harm(void **state) {
  fixture *f = *state;
  static const char text[] =
      "id,lower,upper,size,offset,alignment,group\r\n"
      "\"a \"\"\",0,1,2,8,4,g\r\nb,-1,5,7,,,\r\n";
  for (size_t n = 0; n < sizeof text; n++) {
    char *copy = malloc(n + 1);
    memcpy(copy, text, n);
    calm_status status = layout_csv_read(&f->csv, &f->arena, "b.csv", copy, n);
    assert_true(status == CALM_OK || status == CALM_BAD_INPUT);
    free(copy);
  }
}

static void what_is_written_is_read_again(void **state) {
  fixture *f = *state;
  text t;
  char *out;
  text_init(&t, f->context);
  layout_csv_write_header(&t);
  layout_csv_write_row(&t, "plain", -4, 9, 100, 32);
  layout_csv_write_row(&t, " odd, \"name\"", 0, 1, 5, 0);
  assert_int_equal(text_finish(&t, &out), CALM_OK);
  assert_int_equal(read_text(f, out), CALM_OK);
  assert_string_equal(f->csv.ids[1], " odd, \"name\"");
  assert_int_equal(f->csv.lower[0], -4);
  assert_int_equal(f->csv.problem.bodies[0].offset, 32);
  calm_text_free(f->context, out);
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(plain_rows),
                                     TEST(the_same_in_other_dress),
                                     TEST(a_group_is_one_body),
                                     TEST(no_rows_are_a_problem_too),
                                     TEST(unknown_columns_are_mentioned),
                                     TEST(limits_of_numbers_are_accepted),
                                     TEST(errors_name_the_place),
                                     TEST(a_nul_byte_is_an_error),
                                     TEST(prefixes_do_no_harm),
                                     TEST(what_is_written_is_read_again)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
