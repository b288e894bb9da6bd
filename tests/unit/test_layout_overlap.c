#include "test_layout.h"

#include "layout/layout_overlap.h"

enum { PIECES = 37 };

static bool meets(const layout_piece *a, const layout_piece *b) {
  return a->lower < b->upper && b->lower < a->upper;
}

/* Every answer once, and exactly the pieces that a scan finds. */
static void compare_with_scan(const layout_overlap *index, const bool *placed,
                              const layout_piece *with) {
  bool found[PIECES] = {false};
  layout_overlap_walk walk = layout_overlap_begin(index, with, 0);
  for (uint32_t i; (i = layout_overlap_next(&walk)) != CALM_NONE;) {
    assert_false(found[i]);
    found[i] = true;
  }
  for (uint32_t i = 0; i < PIECES; i++)
    assert_int_equal(found[i],
                     placed[i] && meets(&index->problem->pieces[i], with));
}

static void the_same_as_a_scan(void **state) {
  (void)state;
  random_state random = random_from_seed(4);
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  layout_piece pieces[PIECES];
  layout_problem p = {.pieces = pieces, .piece_count = PIECES};
  for (uint32_t i = 0; i < PIECES; i++) {
    int64_t lower = draw_between(&random, -20, 20);
    pieces[i] = (layout_piece){.lower = lower,
                               .upper = lower + draw_between(&random, 1, 15)};
  }
  pieces[3].lower = INT64_MIN;
  pieces[5].upper = INT64_MAX;
  layout_overlap index;
  assert_int_equal(layout_overlap_make(&index, &p, &a), CALM_OK);
  for (int round = 0; round < 2; round++) {
    bool placed[PIECES] = {false};
    layout_overlap_clear(&index);
    for (uint32_t i = 0; i < PIECES; i++) {
      for (uint32_t j = 0; j < PIECES; j++)
        compare_with_scan(&index, placed, &pieces[j]);
      uint32_t piece = round ? PIECES - 1 - i : i;
      placed[piece] = true;
      layout_overlap_add(&index, piece, 1);
    }
  }
  arena_free(&a);
  calm_context_free(context);
}

static void nothing_at_all(void **state) {
  (void)state;
  calm_context *context = calm_context_new(NULL);
  arena a;
  arena_init(&a, context);
  layout_problem p = {0};
  layout_overlap index;
  assert_int_equal(layout_overlap_make(&index, &p, &a), CALM_OK);
  layout_piece any = {.lower = 0, .upper = 1};
  layout_overlap_walk walk = layout_overlap_begin(&index, &any, 0);
  assert_int_equal(layout_overlap_next(&walk), CALM_NONE);
  arena_free(&a);
  calm_context_free(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_as_a_scan),
                                     cmocka_unit_test(nothing_at_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
