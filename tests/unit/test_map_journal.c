/* Journals: what is in one is not mapped again, whatever state it is in. */
#include "map_fixture.h"

enum { BYTES = 65536 };

static size_t read_journal(char *out, const map_fixture *f) {
  FILE *file = fopen(f->journal, "r");
  assert_non_null(file);
  const size_t length = fread(out, 1, BYTES - 1, file);
  out[length] = '\0';
  fclose(file);
  return length;
}

static void write_journal(map_fixture *f, const char *bytes, size_t length) {
  FILE *file = fopen(f->journal, "w");
  assert_non_null(file);
  fwrite(bytes, 1, length, file);
  fclose(file);
}

static uint32_t count_lines(const map_fixture *f) {
  char bytes[BYTES];
  uint32_t count = 0;
  read_journal(bytes, f);
  for (const char *c = bytes; *c; c++) count += *c == '\n';
  return count;
}

/* Both values in one number is enough to see a difference. */
static double map_with_journal(map_fixture *f) {
  calm_mapping *m;
  f->heard[0] = '\0';
  assert_int_equal(map_three(&m, f, f->journal), CALM_OK);
  const calm_layer_summary a = map_layer_at(m, 0), b = map_layer_at(m, 1);
  assert_int_equal(a.outcome, CALM_OPTIMAL);
  assert_int_equal(b.outcome, CALM_OPTIMAL);
  assert_int_equal(a.count, 2);
  calm_mapping_free(m);
  return a.value + 3 * b.value;
}

static bool was_heard(const map_fixture *f, const char *word) {
  return strstr(f->heard, word) != NULL;
}

static void layers_of_a_journal_are_not_mapped_again(void **state) {
  map_fixture *f = *state;
  const double value = map_with_journal(f);
  assert_false(was_heard(f, "there already"));
  assert_true(was_heard(f, ": optimal, "));
  assert_int_equal(count_lines(f), 2);
  assert_true(map_with_journal(f) == value);
  assert_true(was_heard(f, "2 of 2 layers are there already"));
  assert_false(was_heard(f, "is not so"));
  assert_false(was_heard(f, ": optimal, ")); /* nothing was done */
  assert_int_equal(count_lines(f), 2);
}

/* Wherever a run was killed: what was whole is used, the rest done again. */
static void a_journal_may_end_anywhere(void **state) {
  map_fixture *f = *state;
  char bytes[BYTES];
  const double value = map_with_journal(f);
  const size_t length = read_journal(bytes, f);
  const size_t first = (size_t)(strchr(bytes, '\n') - bytes);
  for (size_t end = 0; end < length; end += end + 40 < length ? 37 : 1) {
    write_journal(f, bytes, end);
    assert_true(map_with_journal(f) == value);
    /* Only the newline may be missing. */
    assert_true(was_heard(f, "1 of 2 layers") ==
                (end >= first && end < length - 1));
    assert_true(map_with_journal(f) == value);
    assert_true(was_heard(f, "2 of 2 layers"));
  }
}

static void lines_of_other_runs_stay_alone(void **state) {
  map_fixture *f = *state;
  map_with_journal(f);
  map_set(f, "objective", "energy");
  map_with_journal(f);
  assert_false(was_heard(f, "there already"));
  assert_false(was_heard(f, "is not so"));
  assert_int_equal(count_lines(f), 4);
  map_write_file(f->other, f, "other.yaml",
                 "mapspace_constraints:\n"
                 "- {target: Buffer, type: bypass, bypass: [B]}\n");
  map_set(f, "constraints", f->other);
  map_with_journal(f);
  assert_int_equal(count_lines(f), 6);
  map_set(f, "objective", "edp");
  map_with_journal(f);
  assert_int_equal(count_lines(f), 8);
}

/* More time does not make a proof a better one. */
static void proofs_stand_whatever_the_limits(void **state) {
  map_fixture *f = *state;
  map_with_journal(f);
  map_set(f, "time-limit", "7");
  map_set(f, "jobs", "2");
  map_with_journal(f);
  assert_true(was_heard(f, "2 of 2 layers"));
}

static void what_a_limit_ended_holds_under_it_only(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  map_set(f, "tick-limit", "1");
  assert_int_equal(map_three(&m, f, f->journal), CALM_OK);
  assert_int_not_equal(map_layer_at(m, 1).outcome, CALM_OPTIMAL);
  calm_mapping_free(m);
  f->heard[0] = '\0';
  assert_int_equal(map_three(&m, f, f->journal), CALM_OK);
  assert_true(was_heard(f, "2 of 2 layers"));
  calm_mapping_free(m);
  map_set(f, "tick-limit", "100000000");
  map_with_journal(f);
  assert_false(was_heard(f, "there already"));
}

/* The value of a nest is what it costs, whatever a line says; only a bound has
   to be believed. */
static void lies_are_found_out(void **state) {
  static const char *const words[] = {
      "\"value\":",   "\"cycles\":",  "\"kept\":[",
      "\"loops\":[[", "\"outcome\":", "\"bound\":"};
  map_fixture *f = *state;
  char bytes[BYTES];
  const double value = map_with_journal(f);
  const size_t length = read_journal(bytes, f);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    char lie[BYTES];
    memcpy(lie, bytes, length + 1);
    char *digit = strstr(lie, words[i]) + strlen(words[i]);
    *digit = *digit == '9' ? '8' : '9';
    write_journal(f, lie, length);
    assert_true(map_with_journal(f) == value || i == 5);
    assert_true(was_heard(f, "is not so") || i == 5);
  }
}

static void other_files_are_no_journals(void **state) {
  map_fixture *f = *state;
  calm_mapping *m = NULL;
  char bytes[BYTES];
  write_journal(f, "problem: {}\n", 12);
  assert_int_equal(map_three(&m, f, f->journal), CALM_BAD_INPUT);
  assert_non_null(strstr(calm_context_message(f->context), "no journal"));
  assert_null(m);
  assert_int_equal(read_journal(bytes, f), 12);
  assert_int_equal(map_three(&m, f, f->folder), CALM_IO);
  assert_null(m);
}

static void what_an_interrupt_left_is_not_kept(void **state) {
  map_fixture *f = *state;
  calm_mapping *m;
  calm_context_interrupt(f->context);
  assert_int_equal(map_three(&m, f, f->journal), CALM_OK);
  calm_context_resume(f->context);
  calm_mapping_free(m);
  assert_int_equal(count_lines(f), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAP_TEST(layers_of_a_journal_are_not_mapped_again),
      MAP_TEST(a_journal_may_end_anywhere),
      MAP_TEST(lines_of_other_runs_stay_alone),
      MAP_TEST(proofs_stand_whatever_the_limits),
      MAP_TEST(what_a_limit_ended_holds_under_it_only),
      MAP_TEST(lies_are_found_out),
      MAP_TEST(other_files_are_no_journals),
      MAP_TEST(what_an_interrupt_left_is_not_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
