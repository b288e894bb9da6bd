/* A program as MPS, word for word, and as HiGHS solves it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cost_fixture.h"
#include "highs.h"

/* Minimise 5 - 2x - 3y + z with x + y <= 4, 1 <= x - y <= 2, y + z = 3, x an
   integer from 0 to 3, y one from 0 to 9, z from -inf to inf. */
static void make_program(mapper_mip *m, arena *a) {
  mapper_mip_sum s;
  mapper_mip_init(m, a->context);
  mapper_mip_add_column(m, (mapper_mip_column){"x", 0, 3, true});
  mapper_mip_add_column(m, (mapper_mip_column){"y", 0, 9, true});
  mapper_mip_add_column(m,
                        (mapper_mip_column){"z", -HUGE_VAL, HUGE_VAL, false});
  assert_int_equal(mapper_mip_sum_init(&s, m, a), CALM_OK);
  assert_int_equal(mapper_mip_sum_init(&m->objective, m, a), CALM_OK);
  s.of[0] = s.of[1] = 1;
  s.constant = 2;
  mapper_mip_add_row(m, "most", -HUGE_VAL, &s, 6);
  mapper_mip_sum_clear(&s, m);
  s.of[0] = 1, s.of[1] = -1;
  mapper_mip_add_row(m, "range", 1, &s, 2);
  mapper_mip_sum_clear(&s, m);
  s.of[1] = s.of[2] = 1;
  mapper_mip_add_row(m, "equal", 3, &s, 3);
  m->objective.of[0] = -2, m->objective.of[1] = -3, m->objective.of[2] = 1;
  m->objective.constant = 5;
}

static const char expected[] =
    "NAME calm\nROWS\n N OBJECTIVE\n L most\n G range\n E equal\n"
    "COLUMNS\n MARKER0 'MARKER' 'INTORG'\n"
    " x OBJECTIVE -2\n x most 1\n x range 1\n"
    " y OBJECTIVE -3\n y most 1\n y range -1\n y equal 1\n"
    " MARKER1 'MARKER' 'INTEND'\n z OBJECTIVE 1\n z equal 1\n"
    "RHS\n RHS OBJECTIVE -5\n RHS most 4\n RHS range 1\n RHS equal 3\n"
    "RANGES\n RANGE range 1\n"
    "BOUNDS\n LO BOUND x 0\n UP BOUND x 3\n LO BOUND y 0\n UP BOUND y 9\n"
    " MI BOUND z\nENDATA\n";

static void test_mps(void **state) {
  fixture *f = *state;
  char path[] = "/tmp/calm-mps-XXXXXX", text[2048];
  mapper_mip m;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  make_program(&m, &f->arena);
  assert_int_equal(mapper_mip_write(&m, path), CALM_OK);
  FILE *in = fopen(path, "r");
  const size_t length = fread(text, 1, sizeof text - 1, in);
  fclose(in);
  unlink(path);
  text[length] = 0;
  assert_string_equal(text, expected);
  assert_int_equal(mapper_mip_write(&m, "/nowhere/at/all"), CALM_IO);
  mapper_mip_free(&m);
}

/* x = 2 and y = 1, or x = 3 and y = 1, which is better: z = 2. */
static void test_solved(void **state) {
  fixture *f = *state;
  mapper_highs_answer answer;
  mapper_mip m;
  limits l;
  HIGHS_OR_SKIP(f->context, &f->arena);
  limits_init(&l, f->context);
  make_program(&m, &f->arena);
  assert_int_equal(mapper_highs_solve(&answer, &m, &l, &f->arena), CALM_OK);
  assert_int_equal(answer.outcome, CALM_OPTIMAL);
  assert_true(fabs(answer.objective - -2) < 1e-7);
  assert_true(fabs(answer.bound - -2) < 1e-7);
  assert_true(answer.values[0] == 3 && answer.values[1] == 1);
  m.columns.data[1].lower = 4;
  assert_int_equal(mapper_highs_solve(&answer, &m, &l, &f->arena), CALM_OK);
  assert_int_equal(answer.outcome, CALM_INFEASIBLE);
  mapper_mip_free(&m);
}

/* A limit that is reached before the search has begun. */
static void test_stopped(void **state) {
  fixture *f = *state;
  mapper_highs_answer answer;
  mapper_mip m;
  limits l;
  HIGHS_OR_SKIP(f->context, &f->arena);
  limits_init(&l, f->context);
  l.deadline = limits_clock() - 1;
  make_program(&m, &f->arena);
  assert_int_equal(mapper_highs_solve(&answer, &m, &l, &f->arena), CALM_OK);
  assert_true(answer.outcome != CALM_INFEASIBLE);
  if (answer.outcome == CALM_LIMIT) assert_int_equal(l.reason, LIMITS_TIME);
  mapper_mip_free(&m);
}

/* Without the library: one message with the remedy. */
static void test_missing(void **state) {
  fixture *f = *state;
  const char *old = getenv("CALM_HIGHS");
  char *kept = old ? arena_string(&f->arena, old, strlen(old)) : NULL;
  setenv("CALM_HIGHS", "/nowhere/libhighs.so", 1);
  assert_false(highs_solves(f->context, &f->arena));
  assert_non_null(strstr(calm_context_message(f->context),
                         "cannot be loaded from CALM_HIGHS: "
                         "/nowhere/libhighs.so"));
  if (kept)
    setenv("CALM_HIGHS", kept, 1);
  else
    unsetenv("CALM_HIGHS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      COST_TEST(test_mps), COST_TEST(test_solved), COST_TEST(test_stopped),
      COST_TEST(test_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
