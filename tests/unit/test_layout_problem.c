/* Tidying, bounds, and input that cannot be laid out. */
#include "test_layout.h"

#include <string.h>

#include "layout/layout_logarithm.h"
#include "layout/layout_problem.h"

static const uint64_t HUGE_SIZE = UINT64_C(1) << 62;

static calm_context *context;
static arena scratch;

static int open_context(void **state) {
  (void)state;
  context = calm_context_new(NULL);
  arena_init(&scratch, context);
  return 0;
}

static int close_context(void **state) {
  (void)state;
  arena_free(&scratch);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
  return 0;
}

static uint64_t live(const small_problem *s) {
  return brute_live(&s->p, context);
}

static uint64_t aligned(const small_problem *s) {
  layout_problem tidy;
  uint64_t out = 0;
  assert_int_equal(layout_problem_tidy(&tidy, &s->p, &scratch), CALM_OK);
  assert_int_equal(layout_bound_aligned(&out, &tidy, context), CALM_OK);
  return out;
}

static void refused(const small_problem *s, const char *message) {
  layout_result r;
  layout_options o = layout_options_default();
  limits l;
  limits_init(&l, context);
  assert_int_equal(layout_solve(&r, &s->p, &o, &scratch, &l), CALM_BAD_INPUT);
  if (strncmp(calm_context_message(context), message, strlen(message)))
    fail_msg("'%s'", calm_context_message(context));
}

static void overlapping_pieces_count_once(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_body(&s);
  small_add_piece(&s, 0, 4, 0, 10);
  small_add_piece(&s, 2, 6, 5, 12);
  small_add_piece(&s, 3, 3, 0, 99);
  assert_int_equal(live(&s), 12);
  layout_problem tidy;
  assert_int_equal(layout_problem_tidy(&tidy, &s.p, &scratch), CALM_OK);
  assert_int_equal(tidy.piece_count, 3);
  assert_int_equal(tidy.pieces[1].high - tidy.pieces[1].low, 12);
}

static void equal_neighbours_are_joined(void **state) {
  (void)state;
  small_problem s;
  layout_problem tidy;
  small_init(&s);
  small_add_body(&s);
  small_add_piece(&s, 0, 4, 0, 10);
  small_add_piece(&s, 4, 6, 0, 10);
  small_add_piece(&s, 8, 9, 0, 10);
  assert_int_equal(layout_problem_tidy(&tidy, &s.p, &scratch), CALM_OK);
  assert_int_equal(tidy.piece_count, 2);
  assert_int_equal(tidy.pieces[0].upper, 6);
}

static void alignment_raises_the_bound(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_box(&s, 0, 2, 1);
  small_add_box(&s, 0, 2, 1);
  s.bodies[0].align = s.bodies[1].align = 2;
  assert_int_equal(live(&s), 2);
  assert_int_equal(aligned(&s), 3);
}

static void what_is_low_or_fixed_raises_the_bound(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_body(&s);
  small_add_piece(&s, 0, 1, 30, 40);
  assert_int_equal(live(&s), 10);
  assert_int_equal(aligned(&s), 40);
  small_add_box(&s, 5, 6, 4);
  s.bodies[1].fixed = true;
  s.bodies[1].offset = 60;
  assert_int_equal(aligned(&s), 64);
}

static void numbers_near_the_limit(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_box(&s, INT64_MIN, 0, HUGE_SIZE);
  small_add_box(&s, 0, INT64_MAX, HUGE_SIZE - 1);
  assert_true(live(&s) == HUGE_SIZE);
  layout_result r;
  layout_options o = layout_options_default();
  limits l;
  limits_init(&l, context);
  assert_int_equal(layout_solve(&r, &s.p, &o, &scratch, &l), CALM_OK);
  assert_true(r.arena_bytes == HUGE_SIZE && r.outcome == CALM_OPTIMAL);
  small_add_box(&s, -1, 1, 1);
  refused(&s, "the bytes in use at step -1 add up to more than 2^62");
}

static void sums_and_numbers_beyond_the_limit(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_box(&s, 0, 1, HUGE_SIZE + 1);
  refused(&s, "body 0: offset 0 and size 4611686018427387905 add up");
  s.pieces[0].high = 5;
  s.bodies[0].fixed = true;
  s.bodies[0].offset = HUGE_SIZE;
  refused(&s, "body 0: offset 4611686018427387904 and size 5 add up");
  s.bodies[0].offset = UINT64_MAX;
  refused(&s, "body 0: offset 18446744073709551615 is beyond 2^62");
  s.bodies[0].offset = 6;
  s.bodies[0].align = 4;
  refused(&s, "body 0: fixed offset 6 is not a multiple of its alignment 4");
  s.bodies[0].align = UINT64_MAX;
  refused(&s, "body 0: alignment 18446744073709551615 is beyond 2^62");
}

/* Room for both sizes, but not for the alignment between them. */
static void an_alignment_beyond_all_room(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_box(&s, 0, 1, 10);
  small_add_box(&s, 0, 1, 10);
  s.bodies[0].align = s.bodies[1].align = HUGE_SIZE;
  refused(&s, "no arena of at most 2^62 bytes was found");
}

static void fixed_bodies_that_collide(void **state) {
  (void)state;
  small_problem s;
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 3, 8, 10);
  s.bodies[0].fixed = s.bodies[1].fixed = true;
  s.bodies[1].offset = 9;
  refused(&s,
          "body 0 and body 1 overlap at their fixed offsets 0 and 9 at step 3");
  s.bodies[1].offset = 10;
  layout_result r;
  layout_options o = layout_options_default();
  limits l;
  limits_init(&l, context);
  assert_int_equal(layout_solve(&r, &s.p, &o, &scratch, &l), CALM_OK);
  assert_int_equal(r.arena_bytes, 20);
  assert_int_equal(r.outcome, CALM_OPTIMAL);
}

static void logarithms(void **state) {
  (void)state;
  assert_int_equal(layout_logarithm(0), 0);
  assert_int_equal(layout_logarithm(1), 0);
  assert_int_equal(layout_logarithm(1024), 10 * 65536);
  assert_int_equal(layout_logarithm(UINT64_C(1) << 63), 63 * 65536);
  assert_int_equal(layout_logarithm(3), 103872); /* 1.58496 x 65536 */
  assert_true(layout_logarithm(UINT64_MAX) < 64 * 65536);
}

#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(overlapping_pieces_count_once),
      TEST(equal_neighbours_are_joined),
      TEST(alignment_raises_the_bound),
      TEST(what_is_low_or_fixed_raises_the_bound),
      TEST(numbers_near_the_limit),
      TEST(sums_and_numbers_beyond_the_limit),
      TEST(an_alignment_beyond_all_room),
      TEST(fixed_bodies_that_collide),
      TEST(logarithms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
