#include "test_layout.h"

static void faults_are_told_apart(void **state) {
  (void)state;
  small_problem s;
  layout_fault fault;
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 2, 6, 10);
  small_add_box(&s, 4, 8, 10); /* begins as the first ends */
  s.bodies[1].align = 4;
  s.bodies[2].fixed = true;
  s.bodies[2].offset = 0;
  const uint64_t good[] = {0, 12, 0}, over[] = {0, 8, 0}, odd[] = {0, 14, 0},
                 moved[] = {0, 12, 2};
  assert_false(is_faulty(&fault, &s.p, good, 22));
  assert_true(is_faulty(&fault, &s.p, over, 22));
  assert_int_equal(fault.kind, LAYOUT_OVERLAP);
  assert_int_equal(fault.a, 0);
  assert_int_equal(fault.b, 1);
  assert_int_equal(fault.step, 2);
  assert_true(is_faulty(&fault, &s.p, odd, 30));
  assert_int_equal(fault.kind, LAYOUT_MISALIGNED);
  assert_int_equal(fault.a, 1);
  assert_int_equal(fault.b, CALM_NONE);
  assert_true(is_faulty(&fault, &s.p, moved, 30));
  assert_int_equal(fault.kind, LAYOUT_MOVED);
  assert_true(is_faulty(&fault, &s.p, good, 21));
  assert_int_equal(fault.kind, LAYOUT_OUTSIDE);
  assert_int_equal(fault.a, 1);
}

/* Offsets from a file may be anything. */
static void wild_offsets_do_not_wrap(void **state) {
  (void)state;
  small_problem s;
  layout_fault fault;
  small_init(&s);
  small_add_box(&s, 0, 1, 10);
  small_add_box(&s, 0, 1, 10);
  const uint64_t offsets[] = {0, UINT64_MAX - 3};
  assert_true(is_faulty(&fault, &s.p, offsets, 20));
  assert_int_equal(fault.kind, LAYOUT_OUTSIDE);
  assert_true(is_faulty(&fault, &s.p, offsets, UINT64_MAX));
  assert_int_equal(fault.kind, LAYOUT_OUTSIDE);
}

static void pieces_of_one_body_may_overlap(void **state) {
  (void)state;
  small_problem s;
  layout_fault fault;
  small_init(&s);
  small_add_body(&s);
  small_add_piece(&s, 0, 4, 0, 10);
  small_add_piece(&s, 2, 6, 4, 12);
  small_add_box(&s, 5, 7, 4); /* under the second piece */
  const uint64_t under[] = {0, 0}, into[] = {0, 1};
  assert_false(is_faulty(&fault, &s.p, under, 12));
  assert_true(is_faulty(&fault, &s.p, into, 12));
  assert_int_equal(fault.kind, LAYOUT_OVERLAP);
  assert_int_equal(fault.step, 5);
}

static void what_holds_no_byte_cannot_collide(void **state) {
  (void)state;
  small_problem s;
  layout_fault fault;
  small_init(&s);
  small_add_box(&s, 0, 4, 10);
  small_add_box(&s, 1, 2, 0);
  small_add_box(&s, 2, 2, 5);
  const uint64_t offsets[] = {0, 5, 1000};
  assert_false(is_faulty(&fault, &s.p, offsets, 10));
}

/* One fault planted into a good placement is always found. */
static void planted_faults_are_found(void **state) {
  (void)state;
  random_state random = random_from_seed(9);
  int planted = 0;
  for (int i = 0; i < 300; i++) {
    small_problem s;
    layout_fault fault;
    layout_result r;
    layout_options o = layout_options_default();
    calm_context *context = calm_context_new(NULL);
    arena a;
    limits l;
    small_random(&s, (small_kind)(i % SMALL_KINDS), &random);
    arena_init(&a, context);
    limits_init(&l, context);
    assert_int_equal(layout_solve(&r, &s.p, &o, &a, &l), CALM_OK);
    for (uint32_t b = 0; b < s.p.body_count; b++)
      for (uint32_t c = 0; c < s.p.body_count; c++) {
        uint64_t kept = r.offsets[b];
        r.offsets[b] = r.offsets[c];
        if (b != c && brute_collides(&s.p, r.offsets, b, c)) {
          planted++;
          assert_true(is_faulty(&fault, &s.p, r.offsets, UINT32_MAX));
        }
        r.offsets[b] = kept;
      }
    arena_free(&a);
    calm_context_free(context);
  }
  assert_true(planted > 500);
}

/* Any offsets: a fault is found exactly where the referee sees one. */
static void random_offsets_are_judged_as_pair_by_pair(void **state) {
  (void)state;
  random_state random = random_from_seed(10);
  int sound = 0;
  for (int i = 0; i < 20000; i++) {
    small_problem s;
    layout_fault fault;
    uint64_t offsets[MOST_BODIES];
    bool collide = false;
    small_random(&s, (small_kind)(i % SMALL_KINDS), &random);
    for (uint32_t b = 0; b < s.p.body_count; b++) {
      s.bodies[b].fixed = false;
      s.bodies[b].align = 1;
      offsets[b] = random_below(&random, 24);
    }
    for (uint32_t b = 0; b < s.p.body_count; b++)
      for (uint32_t c = 0; c < b; c++)
        if (brute_collides(&s.p, offsets, b, c)) collide = true;
    assert_int_equal(is_faulty(&fault, &s.p, offsets, 100), collide);
    if (collide) assert_true(brute_collides(&s.p, offsets, fault.a, fault.b));
    sound += !collide;
  }
  assert_true(sound > 1000 && sound < 19000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_are_told_apart),
      cmocka_unit_test(wild_offsets_do_not_wrap),
      cmocka_unit_test(pieces_of_one_body_may_overlap),
      cmocka_unit_test(what_holds_no_byte_cannot_collide),
      cmocka_unit_test(planted_faults_are_found),
      cmocka_unit_test(random_offsets_are_judged_as_pair_by_pair)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
